import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { processesWith, processTree } from '../../scripts/children.ts';
import { freePort } from '../../scripts/ports.ts';
import { DATE, SEED } from '../lookups/measure.ts';
import { loadPostgres, startPostgres } from '../rivals/postgres.ts';
import { MARK } from '../rivals/rival.ts';
import { writeRows } from '../rivals/rows.ts';
import { startThinApi } from '../rivals/thin-api-process.ts';
import { postgresContenders } from './contenders.ts';
import type { Contender } from './measure.ts';

const NAME = 'rosters-postgres';

/** Runs the work with a thin API over a PostgreSQL that has the same licenses. */
export async function withPostgres<Result>(
  rows: number,
  redis: string,
  work: (contenders: readonly Contender[]) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-rosters-'));
  // PostgreSQL runs as another user.
  await chmod(folder, 0o755);
  try {
    const files = await writeSampleData({ directory: folder, rows, seed: SEED, date: DATE });
    const tables = await writeRows(files, DATE, folder);
    const postgres = await startPostgres(folder, { port: await freePort(), env: process.env });
    try {
      await loadPostgres(postgres.url, tables);
      const api = await startThinApi({ name: NAME, engine: 'postgres', engineUrl: postgres.url, redis });
      try {
        const servers = async () => ({
          // PostgreSQL overwrites its environment, so its processes are found as children.
          PostgreSQL: await processTree(postgres.process.child.pid ?? 0),
          API: await processesWith(MARK, NAME),
        });
        return await work(postgresContenders({ ...api.load, path: '/' }, servers));
      } finally {
        await api.process.stop();
      }
    } finally {
      await postgres.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
