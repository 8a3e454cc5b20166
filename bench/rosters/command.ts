import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startScript } from '../../scripts/licenses-processes.ts';
import type { Asked } from '../lookups/asked.ts';
import { GIVEN_LETTERS } from '../lookups/bare-queries.ts';
import type { CommandRun } from '../reports/rosters.ts';
import { residentMebibytes } from './memory.ts';

const SAMPLED_EVERY_MS = 200;

/** Verifies a CSV file with a row for each license, numbers and names by turns, through the command line. */
export async function verifyByCommand(
  asked: readonly Asked[],
  { api, key, apiPid }: { readonly api: string; readonly key: string; readonly apiPid: number },
): Promise<CommandRun> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-verify-'));
  try {
    const [roster, result] = [join(folder, 'roster.csv'), join(folder, 'result.csv')];
    await writeFile(roster, csvOf(asked));
    const startedAt = performance.now();
    const command = startScript(
      'src/cli/main.ts',
      { LICENSES_URL: api, LICENSES_KEY: key },
      ...['verify', roster, '--out', result],
    );
    let [commandMebibytes, apiMebibytes] = [0, 0];
    const timer = setInterval(async () => {
      commandMebibytes = Math.max(commandMebibytes, await residentMebibytes(command.child.pid ?? 0));
      apiMebibytes = Math.max(apiMebibytes, await residentMebibytes(apiPid));
    }, SAMPLED_EVERY_MS);
    await command.printed('rows verified');
    clearInterval(timer);
    const seconds = (performance.now() - startedAt) / 1000;
    return { rows: asked.length, seconds, commandMebibytes, apiMebibytes };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function csvOf(asked: readonly Asked[]): string {
  const rows = asked.map(({ board, number, lastName, firstName }, at) =>
    at % 2 === 0
      ? `${at},"${board}",${number},,`
      : `${at},"${board}",,"${lastName}","${firstName.slice(0, GIVEN_LETTERS)}"`,
  );
  return `reference,board,license_number,last_name,first_name\n${rows.join('\n')}\n`;
}
