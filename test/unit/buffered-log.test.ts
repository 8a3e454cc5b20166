import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { runProgram } from '../../scripts/processes.ts';

const TELEMETRY = resolve(import.meta.dirname, '../../src/telemetry/process.ts');

/** What a process prints that logs this many lines and ends at once. */
async function logged(lines: number): Promise<string> {
  const program = `
    import { bufferedLog } from ${JSON.stringify(TELEMETRY)};
    const { log, end } = bufferedLog('test', 'info');
    for (let line = 1; line <= ${lines}; line += 1) log.info({ line, text: 'x'.repeat(100) }, 'request');
    await end();
    process.exit(0);`;
  const { code, stdout } = await runProgram([process.execPath, '--input-type=module', '--eval', program]);
  expect(code).toBe(0);
  return stdout;
}

test.each([
  ['nothing', 0],
  ['what has not been written yet', 10],
  ['what came while the first write was under way', 60],
  ['what takes several writes', 1000],
])('a log that ends writes %s', async (_what, lines) => {
  const numbers = [...(await logged(lines)).matchAll(/"line":(\d+)/g)].map(([, line]) => Number(line));
  expect(numbers).toEqual(Array.from({ length: lines }, (_, at) => at + 1));
});
