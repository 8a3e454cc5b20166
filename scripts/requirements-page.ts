import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { TOPICS } from '../test/requirements.ts';

const ROOT = resolve(import.meta.dirname, '..');

/** A call of `verifies`: its quoted ids, and the name of the test. */
const CALL = /\bverifies\(\s*(\[[^\]]*\]|'[^']*'),\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`([^`]*)`)/g;

/** An exchange in an HTTP transcript whose name ends with requirement ids. */
const EXCHANGE = /^### (.*) \[([A-Z\d -]+)\]$/gm;

/** A test and the requirements it verifies. */
interface VerifyingTest {
  /** The path of the file, relative to the root of the checkout. */
  readonly file: string;
  readonly name: string;
  readonly ids: readonly string[];
}

/** The tests with requirements, found in the source. Whether they pass is known only from a test run. */
export function verifyingTests(): VerifyingTest[] {
  return globSync(['test/**/*.test.ts', 'test/http-transcripts/*.http'], { cwd: ROOT })
    .toSorted()
    .flatMap((file) => {
      const text = readFileSync(resolve(ROOT, file), 'utf8');
      const exchanges = [...text.matchAll(EXCHANGE)].map(([, name = '', ids = '']) => ({
        ...{ file, name, ids: ids.split(' ') },
      }));
      const calls = [...text.matchAll(CALL)].map(([, ids = '', single, double, template]) => ({
        file,
        name: (single ?? double ?? template ?? '').replaceAll(/\\(.)/g, '$1'),
        ids: [...ids.matchAll(/'([^']*)'/g)].map(([, id = '']) => id),
      }));
      return [...exchanges, ...calls];
    });
}

/** The page as Markdown. */
export function requirementsPage(): string {
  const tests = verifyingTests();
  const topics = TOPICS.map(([title, { about, requirements }]) => {
    const items = Object.entries(requirements).map(([id, sentence]) => {
      const verifying = tests.filter(({ ids }) => ids.includes(id)).map(testLine);
      return `- **${id}** ${escaped(sentence)}\n${verifying.join('\n')}`;
    });
    return `## ${title}\n\n${about}\n\n${items.join('\n')}`;
  });
  return `# Requirements

What the service must do, one sentence each, with the tests that verify it. \`npm run generated-pages\` writes this page from \`test/requirements.json\` and the tests. A run of every test, as in CI, fails if a requirement has no test that ran and passed.

${topics.join('\n\n')}
`;
}

function testLine({ file, name }: VerifyingTest): string {
  return `  - ${escaped(name)} ([${file.slice(file.lastIndexOf('/') + 1)}](../../${file}))`;
}

/** Escapes all Markdown in a text. */
function escaped(text: string): string {
  return text.replaceAll(/[\\`*_[\]<>]/g, '\\$&');
}
