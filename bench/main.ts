import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { generatedFiles } from './reports/documents.ts';

const MEASUREMENTS = ['changes', 'evaluation', 'guard', 'lookups', 'matching', 'mcp', 'publish', 'rosters'];

const PUBLISH = '--publish';

const [name = '', ...options] = process.argv.slice(2);
if (name === 'report') {
  for (const [path, text] of await generatedFiles()) {
    await writeFile(resolve(import.meta.dirname, '..', path), text);
  }
} else if (MEASUREMENTS.includes(name)) {
  const ownOptions = options.filter((option) => option !== PUBLISH);
  if (ownOptions.length < options.length) {
    const shown = ownOptions.length === 0 ? [] : ['--', ...ownOptions];
    process.env.BENCH_PUBLISH = ['npm run bench', name, ...shown].join(' ');
  }
  process.argv.splice(3, Number.POSITIVE_INFINITY, ...ownOptions);
  await import(`./${name}.ts`);
} else {
  process.stderr.write(
    `npm run bench NAME [-- --publish], where NAME is one of: ${[...MEASUREMENTS, 'report'].join(', ')}.\n` +
      `${PUBLISH} writes the result into docs/performance, and \`npm run bench report\` makes the tables of docs/generated and README.md from it.\n`,
  );
  process.exitCode = 1;
}
