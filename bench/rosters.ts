import { parseArgs } from 'node:util';
import { type Services, startServices } from '../scripts/services.ts';
import { print } from '../scripts/terminal.ts';
import { type Asked, drawLicenses } from './lookups/asked.ts';
import { type Service, withService } from './lookups/measure.ts';
import { type Measured, type RostersReport, rostersText } from './reports/rosters.ts';
import { writeResult } from './results/result.ts';
import type { Rounds } from './results/rounds.ts';
import { turnsOf } from './results/turns.ts';
import { besideRosters } from './rosters/beside-lookups.ts';
import { verifyByCommand } from './rosters/command.ts';
import { type Addresses, bareContenders, serviceContenders } from './rosters/contenders.ts';
import { type Contender, described, measure } from './rosters/measure.ts';
import { memoryOfManyMatches } from './rosters/memory.ts';
import { NAME_ROSTER, NUMBER_ROSTER, NUMBER_SINGLE } from './rosters/names.ts';
import { withPostgres } from './rosters/postgres.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    rows: { type: 'string', default: '2600000' },
    rounds: { type: 'string', default: '5' },
    /** Measures only the contenders with this in their name, without PostgreSQL, and writes no report. */
    only: { type: 'string' },
  },
});
const rows = Number(values.rows);
const rounds = Number(values.rounds);

const DRAWN = 300_000;
const COMMAND_ROWS = 100_000;
const WARM_UP_SECONDS = 15;

/** Every contender in turn, in changing order, in each round with licenses that it has not been asked for. */
async function inRounds(
  contenders: readonly Contender[],
  persons: readonly Asked[],
): Promise<Rounds<Measured>> {
  const results: Record<string, Measured[]> = Object.fromEntries(contenders.map(({ name }) => [name, []]));
  for (const contender of contenders) {
    const { wrong } = await measure(contender, persons, { seconds: WARM_UP_SECONDS });
    if (wrong > 0)
      throw new Error(`${contender.name}: ${wrong} wrong answers. Delete .local, and measure again.`);
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const contender of turnsOf(contenders, round)) {
      const items = contender.requestsPerRound * contender.itemsPerRequest;
      const measured = await measure(contender, persons.slice(round * items, (round + 1) * items));
      print(`round ${round + 1}: ${contender.name}: ${described(measured)}`);
      results[contender.name]?.push(measured);
    }
  }
  return results;
}

async function ownContenders(services: Services, service: Service): Promise<Contender[]> {
  const { redis, index, api, key, apiPid, openSearchPids: openSearch } = service;
  const redisPid = Number(/process_id:(\d+)/.exec(await redis.info('server'))?.[1]);
  const addresses: Addresses = { openSearch: services.opensearch, index, api, key };
  return [
    ...bareContenders(addresses, async () => ({ OpenSearch: openSearch })),
    ...serviceContenders(addresses, async () => ({
      OpenSearch: openSearch,
      API: [apiPid],
      Redis: [redisPid],
    })),
  ];
}

function named(contenders: readonly Contender[], name: string): Contender {
  const contender = contenders.find((each) => each.name === name);
  if (contender === undefined) throw new Error(`There is no contender ${name}.`);
  return contender;
}

async function measureAll(services: Services, service: Service): Promise<void> {
  const persons = await drawLicenses(service.client, service.index, { kind: 'person', count: DRAWN });
  const own = await ownContenders(services, service);
  const { only } = values;
  if (only !== undefined) {
    await inRounds(
      own.filter(({ name }) => name.includes(only)),
      persons,
    );
    return;
  }
  const results = await withPostgres(rows, services.redis, (postgres) =>
    inRounds([...own, ...postgres], persons),
  );
  const [single, roster] = [named(own, NUMBER_SINGLE), named(own, NUMBER_ROSTER)];
  const beside = await besideRosters(single, roster, persons, `${service.admin}/metrics`);
  const verifyCommand = await verifyByCommand(persons.slice(0, COMMAND_ROWS), service);
  const memory = await memoryOfManyMatches(named(own, NAME_ROSTER), persons, service.apiPid);
  const report: RostersReport = { rows, results, beside, verifyCommand, memory };
  await writeResult('rosters', report, service.client);
  print(rostersText(report));
}

const services = await startServices({}, (text) => process.stderr.write(`${text}\n`));
try {
  await withService(services, rows, (service) => measureAll(services, service));
} finally {
  await services.stop();
}
