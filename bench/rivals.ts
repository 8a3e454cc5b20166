import { z } from 'zod';
import { startWorker } from '../scripts/licenses-processes.ts';
import { print } from '../scripts/processes.ts';
import { type Asked, drawLicenses } from './load/asked.ts';
import { type Contender, nameAsked, numberAsked, rest, single } from './load/contenders.ts';
import { inRounds } from './load/measure.ts';
import { ALL_ROWS, number, optionsOf } from './options.ts';
import { published } from './published.ts';
import { RIVALS, type RivalsReport, rivalsText } from './reports/rivals.ts';
import { writeResult } from './result.ts';
import { type Postgres, startPostgres } from './rivals/postgres.ts';
import { withRows } from './rivals/rows.ts';
import { type Service, withApi, withEnvironment } from './service.ts';
import { unbackedMebibytes } from './usage.ts';

const { rows, rounds } = optionsOf({ rows: number(ALL_ROWS), rounds: number(5) });

const PERSONS = 130_000;
/** Until Java has compiled what runs hot. */
const WARM_UP_SECONDS = 10;
const NUMBERS_A_ROUND = 20_000;
const NAMES_A_ROUND = 5000;

const storeSize = z.object({
  _all: z.object({ primaries: z.object({ store: z.object({ size_in_bytes: z.int() }) }) }),
});

/** The service, and the thin API with a statement for each lookup and with one for those of a moment. */
function contenders(
  service: Service,
  { load, servers }: Postgres,
  itemsPerRound: number,
  ask: (asked: Asked) => object,
): Contender[] {
  const common = { itemsPerRound, servers, ...single(ask) };
  return [
    rest(service, RIVALS.service, itemsPerRound, ask),
    { ...common, name: RIVALS.postgres, load: load('/') },
    { ...common, name: RIVALS.batched, load: load('/batched') },
  ];
}

/** Asks every rival in changing order, in each round for persons that it has not been asked for. */
async function measureAll(service: Service, postgres: Postgres, loadSeconds: number): Promise<void> {
  const { client, index } = service;
  const persons = await drawLicenses(client, index, { kind: 'person', count: PERSONS });
  const turns = { rounds, warmUpSeconds: WARM_UP_SECONDS, drawnFor: () => persons };
  const numbers = await inRounds(contenders(service, postgres, NUMBERS_A_ROUND, numberAsked), turns);
  const names = await inRounds(contenders(service, postgres, NAMES_A_ROUND, nameAsked), turns);
  const { _all: stored } = storeSize.parse((await client.indices.stats({ index, metric: ['store'] })).body);
  const size = async (name: string, seconds: number, bytes: number, servers: Contender['servers']) => {
    const mebibytes = await unbackedMebibytes(Object.values(await servers()).flat());
    return { name, loadSeconds: seconds, bytes, mebibytes };
  };
  const sizes = [
    await size(RIVALS.service, loadSeconds, stored.primaries.store.size_in_bytes, service.servers),
    await size(RIVALS.postgres, postgres.loadSeconds, postgres.bytes, postgres.servers),
  ];
  const report: RivalsReport = { rows, sizes, numbers, names };
  await writeResult('rivals', report, client);
  print(rivalsText(report));
}

await withEnvironment((environment) =>
  withRows(rows, async (made) => {
    const worker = await startWorker(environment.variables);
    const { index, seconds } = await published(environment.config, made.files).finally(() => worker.stop());
    await withApi(environment, index, async (service) => {
      const postgres = await startPostgres(made, environment.config.REDIS_URL);
      await measureAll(service, postgres, seconds).finally(postgres.stop);
    });
  }),
);
