import { chmod } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { writeSampleData } from '../sample-data/write-sample-data.ts';
import { print } from '../scripts/terminal.ts';
import { drawLicenses } from './lookups/asked.ts';
import { type RivalsReport, rivalsText } from './reports/rivals.ts';
import { writeResult } from './results/result.ts';
import { compare } from './rivals/compare.ts';
import {
  overDefaultMapping,
  overPostgres,
  overSqlite,
  type Stops,
  thisService,
} from './rivals/contenders.ts';
import { writeRows } from './rivals/rows.ts';
import { withEnvironment } from './service.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: { rows: { type: 'string', default: '2600000' }, rounds: { type: 'string', default: '5' } },
});

const DATE = '2026-11-20';
const SEED = 7;
const PERSONS = 130_000;

await withEnvironment(async (environment) => {
  const { client, folder } = environment;
  // PostgreSQL runs as another user.
  await chmod(folder, 0o755);
  const files = await writeSampleData({
    directory: folder,
    rows: Number(values.rows),
    seed: SEED,
    date: DATE,
  });
  const tables = await writeRows(files, DATE, folder);
  const stops: Stops = [];
  try {
    const service = await thisService(environment, files, stops);
    const rivals = [
      service.rival,
      ...(await overPostgres(environment, tables, stops)),
      await overSqlite(environment, tables, stops),
      await overDefaultMapping(environment, tables, stops),
    ];
    const persons = await drawLicenses(client, service.index, { kind: 'person', count: PERSONS });
    const report: RivalsReport = {
      rows: Number(values.rows),
      rivals: await compare(rivals, persons, Number(values.rounds)),
    };
    await writeResult('rivals', report, client);
    print(rivalsText(report));
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
});
