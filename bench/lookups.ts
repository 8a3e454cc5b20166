import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Services, startServices } from '../scripts/services.ts';
import { print } from '../scripts/terminal.ts';
import { type Asked, drawLicenses } from './lookups/asked.ts';
import { type Contender, contenders, NAME_REST, NUMBER_BARE, NUMBER_REST } from './lookups/contenders.ts';
import { firstIndex } from './lookups/first-index.ts';
import { described, inRounds, measure, type Service, withService } from './lookups/measure.ts';
import { type Measured, medianOf, type Report, type Results, writeReport } from './lookups/report.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    rows: { type: 'string', default: '2600000' },
    rounds: { type: 'string', default: '3' },
    /** Measures only the contenders with this in their name, and writes no report. */
    only: { type: 'string' },
    minutes: { type: 'string', default: '5' },
  },
});
const rounds = Number(values.rounds);
const minutes = Number(values.minutes);

const DRAWN = 130_000;
const WARM_UP_SECONDS = 30;
const HALF_RATE_SECONDS = 20;
const GROWTH = 10;
const MEMORY_EVERY_MS = 10_000;

/** A service over so many rows, and what it is asked. */
interface Bench extends Service {
  readonly all: readonly Contender[];
  readonly persons: readonly Asked[];
}

function inTurn(bench: Bench, all = bench.all): Promise<Results> {
  const drawnFor = () => bench.persons;
  return inRounds(bench, all, { rounds, warmUpSeconds: WARM_UP_SECONDS, drawnFor });
}

/** What number lookups take at half of the rate at which as many as can be are answered by REST. */
async function atHalfRate(bench: Bench, results: Results): Promise<Report['halfRate']> {
  const rate = medianOf(results, NUMBER_REST, ({ rate: each }) => each) / 2;
  async function measured(name: string): Promise<Measured> {
    const more = { rate, seconds: HALF_RATE_SECONDS };
    const measurement = await measure(bench, named(bench, name), bench.persons, more);
    print(`at half rate: ${name}: ${described(measurement)}`);
    return measurement;
  }
  return { rest: await measured(NUMBER_REST), bare: await measured(NUMBER_BARE) };
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

/** The same lookups over a tenth of the rows. */
function overFewerRows(services: Services, rows: number): Promise<Results> {
  return withBench(services, rows, (bench) =>
    inTurn(bench, [named(bench, NUMBER_REST), named(bench, NAME_REST)]),
  );
}

async function main(): Promise<void> {
  const rows = Number(values.rows);
  const services = await startServices({}, (text) => process.stderr.write(`${text}\n`));
  try {
    const { only } = values;
    if (only !== undefined) {
      await withBench(services, rows, (bench) =>
        inTurn(
          bench,
          bench.all.filter(({ name }) => name.includes(only)),
        ),
      );
      return;
    }
    const measured = await withBench(services, rows, async (bench) => {
      const results = await inTurn(bench);
      return {
        results,
        halfRate: await atHalfRate(bench, results),
        memory: await memoryAtFullRate(bench),
      };
    });
    const fewer = await overFewerRows(services, Math.round(rows / GROWTH));
    const report: Report = { rows, rounds, ...measured, fewer };
    print(await writeReport(report));
  } finally {
    await services.stop();
  }
}

await main();
