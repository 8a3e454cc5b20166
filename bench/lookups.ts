import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Services, startServices } from '../scripts/services.ts';
import { print } from '../scripts/terminal.ts';
import { type Asked, drawLicenses } from './lookups/asked.ts';
import { type Contender, contenders } from './lookups/contenders.ts';
import { firstIndex } from './lookups/first-index.ts';
import { described, inRounds, measure, type Service, withService } from './lookups/measure.ts';
import { NAME_REST, NUMBER_BARE, NUMBER_GET, NUMBER_MGET, NUMBER_REST } from './lookups/names.ts';
import { type LookupsReport, lookupsText, type Measured } from './reports/lookups.ts';
import { writeResult } from './results/result.ts';
import { medianOf, type Rounds } from './results/rounds.ts';
import { turnsOf } from './results/turns.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    rows: { type: 'string', default: '2600000' },
    rounds: { type: 'string', default: '5' },
    /** Measures only the contenders with this in their name, and writes no report. */
    only: { type: 'string' },
    /** How long the API's memory is watched at full rate. */
    minutes: { type: 'string', default: '2' },
    /** Seconds for each contender before the first round. */
    'warm-up': { type: 'string', default: '20' },
  },
});
const rounds = Number(values.rounds);
const minutes = Number(values.minutes);

const DRAWN = 140_000;
const HALF_RATE_SECONDS = 10;
const AT_HALF_RATE = [NUMBER_REST, NUMBER_BARE, NUMBER_GET, NUMBER_MGET];
const GROWTH = 10;
const MEMORY_EVERY_MS = 10_000;

/** A service over so many rows, and what it is asked. */
interface Bench extends Service {
  readonly all: readonly Contender[];
  readonly persons: readonly Asked[];
}

function inTurn(bench: Bench, all = bench.all): Promise<Rounds<Measured>> {
  const drawnFor = () => bench.persons;
  return inRounds(bench, all, { rounds, warmUpSeconds: Number(values['warm-up']), drawnFor });
}

/** Number lookups at half of the most that REST answers, in rounds with changing order. */
async function atHalfRate(bench: Bench, full: Rounds<Measured>): Promise<LookupsReport['halfRate']> {
  const rate = medianOf(full, NUMBER_REST, (each) => each.rate) / 2;
  const results: Record<string, Measured[]> = Object.fromEntries(AT_HALF_RATE.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const name of turnsOf(AT_HALF_RATE, round)) {
      const more = { rate, seconds: HALF_RATE_SECONDS };
      const measurement = await measure(bench, named(bench, name), bench.persons, more);
      print(`at half rate, round ${round + 1}: ${name}: ${described(measurement)}`);
      results[name]?.push(measurement);
    }
  }
  return { rate, results };
}

/** Resident memory of the API, in MiB, while it answers as fast as it can. */
async function memoryAtFullRate(bench: Bench): Promise<number[]> {
  const resident: number[] = [];
  let isDone = false;
  const load = measure(bench, named(bench, NUMBER_REST), bench.persons, { seconds: minutes * 60 }).finally(
    () => {
      isDone = true;
    },
  );
  while (!isDone) {
    await Promise.race([sleep(MEMORY_EVERY_MS), load]);
    const status = await readFile(`/proc/${bench.apiPid}/status`, 'utf8');
    resident.push(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
  }
  print(`memory at full rate: ${described(await load)}; MiB: ${resident.map(Math.round).join(' ')}`);
  return resident;
}

function named({ all }: Bench, name: string): Contender {
  const contender = all.find((each) => each.name === name);
  if (contender === undefined) throw new Error(`There is no contender ${name}.`);
  return contender;
}

/** Starts the API over so many rows and measures it. */
function withBench<Result>(
  services: Services,
  rows: number,
  work: (bench: Bench) => Promise<Result>,
): Promise<Result> {
  return withService(services, rows, async (service) => {
    const { client, indexPrefix, index, api, key } = service;
    const first = await firstIndex(client, { from: index, to: `${indexPrefix}first` });
    const persons = await drawLicenses(client, index, { kind: 'person', count: DRAWN });
    const all = contenders({ openSearch: services.opensearch, index, firstIndex: first, api, key });
    return work({ ...service, all, persons });
  });
}

async function measureAll(services: Services, rows: number): Promise<void> {
  const fewer = await withBench(services, Math.round(rows / GROWTH), (bench) =>
    inTurn(bench, [named(bench, NUMBER_REST), named(bench, NAME_REST)]),
  );
  await withBench(services, rows, async (bench) => {
    const results = await inTurn(bench);
    const halfRate = await atHalfRate(bench, results);
    const memory = await memoryAtFullRate(bench);
    const report: LookupsReport = { rows, results, halfRate, memory, fewer };
    await writeResult('lookups', report, bench.client);
    print(lookupsText(report));
  });
}

async function measureOnly(services: Services, rows: number, part: string): Promise<void> {
  await withBench(services, rows, (bench) =>
    inTurn(
      bench,
      bench.all.filter(({ name }) => name.includes(part)),
    ),
  );
}

const services = await startServices({}, (text) => process.stderr.write(`${text}\n`));
try {
  const rows = Number(values.rows);
  if (values.only === undefined) await measureAll(services, rows);
  else await measureOnly(services, rows, values.only);
} finally {
  await services.stop();
}
