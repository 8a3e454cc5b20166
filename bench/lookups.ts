import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Client } from '@opensearch-project/opensearch';
import { Redis } from 'ioredis';
import { type Services, startServices } from '../scripts/services.ts';
import { type Config, readConfig } from '../src/config.ts';
import { writeSampleData } from '../src/dataset/sample-data.ts';
import { liveIndex } from '../src/publications/alias.ts';
import { prepareIndices } from '../src/publications/indices.ts';
import { openSearchClient } from '../src/search/client.ts';
import { startApi, startWorker } from '../test/support/processes.ts';
import { cpuSeconds, openSearchCpuSeconds } from './cpu.ts';
import { type Asked, drawLicenses } from './lookups/asked.ts';
import { type Contender, contenders, NAME_REST, NUMBER_BARE, NUMBER_REST } from './lookups/contenders.ts';
import { firstIndex } from './lookups/first-index.ts';
import { generated } from './lookups/generated.ts';
import type { Load } from './lookups/load.ts';
import { type Measured, medianOf, type Report, type Results, writeReport } from './lookups/report.ts';
import { published } from './published.ts';
import { benchKey, serviceVariables } from './service.ts';

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

const DATE = '2026-11-20';
const SEED = 7;
const DRAWN = 130_000;
const WARM_UP_SECONDS = 30;
const HALF_RATE_SECONDS = 20;
const GROWTH = 10;
const MEMORY_EVERY_MS = 10_000;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** A service over so many rows, and what it is asked. */
interface Bench {
  readonly client: Client;
  readonly redis: Redis;
  readonly apiPid: number;
  readonly all: readonly Contender[];
  readonly persons: readonly Asked[];
}

interface Cpu {
  readonly openSearch: number;
  readonly api: number;
  readonly redis: number;
}

async function cpuOf({ client, redis, apiPid }: Bench): Promise<Cpu> {
  return {
    openSearch: await openSearchCpuSeconds(client),
    api: await cpuSeconds(apiPid),
    redis: redisCpuSeconds(await redis.info('cpu')),
  };
}

function redisCpuSeconds(info: string): number {
  const read = (name: string) => Number(new RegExp(`${name}:([\\d.]+)`).exec(info)?.[1] ?? 0);
  return read('used_cpu_sys') + read('used_cpu_user');
}

async function measure(
  bench: Bench,
  { load, ask }: Contender,
  asked: readonly Asked[],
  more: Partial<Load> = {},
): Promise<Measured> {
  const before = await cpuOf(bench);
  const asks = asked.map((each) => JSON.stringify(ask(each)));
  const result = await generated({ ...load, asks, ...more });
  const after = await cpuOf(bench);
  const each = (seconds: number) => (seconds * 1e6) / result.answers;
  return {
    ...result,
    rate: result.answers / result.seconds,
    cpu: {
      openSearch: each(after.openSearch - before.openSearch),
      api: each(after.api - before.api),
      redis: each(after.redis - before.redis),
      generator: each(result.cpuSeconds),
    },
  };
}

function described({ rate, p50, p99, cpu, bytes, answers, wrong }: Measured): string {
  const parts = Object.entries(cpu).map(([name, micro]) => `${name} ${micro.toFixed(0)}`);
  return (
    `${rate.toFixed(0)}/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, CPU µs: ${parts.join(', ')}; ` +
    `${(bytes / answers).toFixed(0)} bytes${wrong > 0 ? `; ${wrong} WRONG` : ''}`
  );
}

/** Every contender in turn, in each round with licences that it has not been asked for. */
async function inRounds(bench: Bench): Promise<Results> {
  const results = new Map<string, Measured[]>();
  for (const contender of bench.all) {
    await measure(bench, contender, bench.persons.slice(-5000), { seconds: WARM_UP_SECONDS });
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const contender of bench.all) {
      const asked = bench.persons.slice(round * contender.count, (round + 1) * contender.count);
      const measured = await measure(bench, contender, asked);
      print(`round ${round + 1}: ${contender.name}: ${described(measured)}`);
      results.set(contender.name, [...(results.get(contender.name) ?? []), measured]);
    }
  }
  return results;
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

/** The live index of so many rows; what an earlier measurement published is used again. */
async function publishedIndex(
  client: Client,
  config: Config,
  rows: number,
  variables: Record<string, string>,
): Promise<string> {
  await prepareIndices(client, config.INDEX_PREFIX);
  const live = await liveIndex(client, config.INDEX_PREFIX);
  if (live !== undefined) return live;
  const directory = await mkdtemp(join(tmpdir(), config.INDEX_PREFIX));
  const worker = await startWorker(variables);
  try {
    const files = await writeSampleData({ directory, rows, seed: SEED, date: DATE });
    return (await published(config, files)).index;
  } finally {
    await worker.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Starts the API over so many rows and measures it. */
async function withService<Result>(
  services: Services,
  rows: number,
  work: (bench: Bench) => Promise<Result>,
): Promise<Result> {
  const variables = await serviceVariables(services, `bench-lookups-${rows}-`);
  const config = readConfig(variables);
  const client = openSearchClient(config, 600_000);
  const redis = new Redis(services.redis);
  try {
    const index = await publishedIndex(client, config, rows, variables);
    const first = await firstIndex(client, { from: index, to: `${config.INDEX_PREFIX}first` });
    const key = await benchKey(client, config);
    const persons = await drawLicenses(client, index, { kind: 'person', count: DRAWN });
    const api = await startApi(variables);
    try {
      const origin = `http://127.0.0.1:${config.PORT}`;
      const all = contenders({ openSearch: services.opensearch, index, firstIndex: first, api: origin, key });
      return await work({ client, redis, apiPid: api.child.pid ?? 0, all, persons });
    } finally {
      await api.stop();
    }
  } finally {
    redis.disconnect();
    await client.close();
  }
}

/** The same lookups over a tenth of the rows. */
function overFewerRows(services: Services, rows: number): Promise<Results> {
  return withService(services, rows, (bench) =>
    inRounds({ ...bench, all: [named(bench, NUMBER_REST), named(bench, NAME_REST)] }),
  );
}

async function main(): Promise<void> {
  const rows = Number(values.rows);
  const services = await startServices({}, (text) => process.stderr.write(`${text}\n`));
  try {
    const { only } = values;
    if (only !== undefined) {
      await withService(services, rows, (bench) =>
        inRounds({ ...bench, all: bench.all.filter(({ name }) => name.includes(only)) }),
      );
      return;
    }
    const measured = await withService(services, rows, async (bench) => {
      const results = await inRounds(bench);
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
