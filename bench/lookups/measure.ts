import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@opensearch-project/opensearch';
import { Redis } from 'ioredis';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { startApi, startWorker } from '../../scripts/licenses-processes.ts';
import type { Services } from '../../scripts/services.ts';
import { print } from '../../scripts/terminal.ts';
import { type Config, readConfig } from '../../src/config.ts';
import { liveIndex } from '../../src/publications/metadata.ts';
import { openStore, type Store } from '../../src/storage/store.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { cpuSeconds, openSearchPids } from '../cpu.ts';
import { published } from '../published.ts';
import type { Measured } from '../reports/lookups.ts';
import type { Rounds } from '../results/rounds.ts';
import { turnsOf } from '../results/turns.ts';
import { benchKey, serviceVariables } from '../service.ts';
import type { Asked } from './asked.ts';
import type { Contender } from './contenders.ts';
import { generated } from './generated.ts';
import type { Load } from './load.ts';

export const DATE = '2026-11-20';
export const SEED = 7;
/** The last of those drawn, which the rounds do not come to. */
const WARM_UP_ASKED = 5000;

/** The service over so many rows, for one measurement alone. */
export interface Service {
  readonly client: Client;
  readonly redis: Redis;
  readonly indexPrefix: string;
  /** The live physical index. */
  readonly index: string;
  readonly apiPid: number;
  readonly openSearchPids: readonly number[];
  /** `http://host:port`. */
  readonly api: string;
  /** The same of its admin port. */
  readonly admin: string;
  readonly key: string;
}

interface Cpu {
  readonly openSearch: number;
  readonly api: number;
  readonly redis: number;
}

async function cpuOf({ openSearchPids, redis, apiPid }: Service): Promise<Cpu> {
  return {
    openSearch: (await Promise.all(openSearchPids.map(cpuSeconds))).reduce((sum, each) => sum + each, 0),
    api: await cpuSeconds(apiPid),
    redis: redisCpuSeconds(await redis.info('cpu')),
  };
}

function redisCpuSeconds(info: string): number {
  const read = (name: string) => Number(new RegExp(`${name}:([\\d.]+)`).exec(info)?.[1] ?? 0);
  return read('used_cpu_sys') + read('used_cpu_user');
}

/** Asks one contender for these licenses, and tells what it took. */
export async function measure(
  service: Service,
  contender: Contender,
  asked: readonly Asked[],
  more: Partial<Load> = {},
): Promise<Measured> {
  const { load, lookupsPerRequest = 1 } = contender;
  const asks = requestsFor(contender, asked);
  const before = await cpuOf(service);
  const result = await generated({ ...load, asks, ...more });
  const after = await cpuOf(service);
  const lookups = result.answers * lookupsPerRequest;
  const each = (seconds: number) => (seconds * 1e6) / lookups;
  return {
    ...result,
    lookups,
    rate: lookups / result.seconds,
    cpu: {
      openSearch: each(after.openSearch - before.openSearch),
      api: each(after.api - before.api),
      redis: each(after.redis - before.redis),
      generator: each(result.cpuSeconds),
    },
  };
}

function requestsFor({ ask, lookupsPerRequest = 1 }: Contender, asked: readonly Asked[]): string[] {
  const requests: string[] = [];
  for (let at = 0; at < asked.length; at += lookupsPerRequest) {
    const [first, ...others] = asked.slice(at, at + lookupsPerRequest);
    if (first === undefined || others.length + 1 < lookupsPerRequest) break;
    const request = ask(first, ...others);
    requests.push(typeof request === 'string' ? request : JSON.stringify(request));
  }
  return requests;
}

/** What was measured, in one line. */
export function described({ rate, p50, p99, cpu, bytes, lookups, wrong }: Measured): string {
  const parts = Object.entries(cpu).map(([name, micro]) => `${name} ${micro.toFixed(0)}`);
  return (
    `${rate.toFixed(0)}/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, CPU µs: ${parts.join(', ')}; ` +
    `${(bytes / lookups).toFixed(0)} bytes${wrong > 0 ? `; ${wrong} WRONG` : ''}`
  );
}

/** How contenders take their turns. */
export interface Turns<Each extends Contender> {
  readonly rounds: number;
  /** For each of them, before the first round. */
  readonly warmUpSeconds: number;
  /** The licenses that one is asked for, in all rounds together. */
  readonly drawnFor: (contender: Each) => readonly Asked[];
}

/** Every contender in turn, in changing order, in each round with other licenses as far as there are enough. */
export async function inRounds<Each extends Contender>(
  service: Service,
  contenders: readonly Each[],
  { rounds, warmUpSeconds, drawnFor }: Turns<Each>,
): Promise<Rounds<Measured>> {
  const results: Record<string, Measured[]> = Object.fromEntries(contenders.map(({ name }) => [name, []]));
  for (const contender of contenders) {
    await measure(service, contender, drawnFor(contender).slice(-WARM_UP_ASKED), { seconds: warmUpSeconds });
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const contender of turnsOf(contenders, round)) {
      const asked = shareOf(drawnFor(contender), contender.count, round);
      const measured = await measure(service, contender, asked);
      print(`round ${round + 1}: ${contender.name}: ${described(measured)}`);
      results[contender.name]?.push(measured);
    }
  }
  return results;
}

/** As many of the drawn licenses as a round has, each once, from where the round before ended. */
function shareOf(drawn: readonly Asked[], count: number, round: number): Asked[] {
  const wanted = Math.min(count, drawn.length);
  const start = (round * wanted) % drawn.length;
  return [...drawn.slice(start), ...drawn.slice(0, start)].slice(0, wanted);
}

/** The live index of so many rows; what an earlier measurement published is used again. */
async function publishedIndex(
  store: Store,
  config: Config,
  rows: number,
  variables: Record<string, string>,
): Promise<string> {
  await prepareIndices(store);
  const live = await liveIndex(store);
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

/** Starts the API over so many rows for as long as the work takes. */
export async function withService<Result>(
  services: Services,
  rows: number,
  work: (service: Service) => Promise<Result>,
): Promise<Result> {
  const variables = await serviceVariables(services, `bench-lookups-${rows}-`);
  const config = readConfig(variables);
  const store = openStore(config, 600_000);
  const { client } = store;
  const redis = new Redis(services.redis);
  try {
    const index = await publishedIndex(store, config, rows, variables);
    const key = await benchKey(store, config);
    const api = await startApi(variables);
    try {
      return await work({
        client,
        redis,
        indexPrefix: config.INDEX_PREFIX,
        index,
        apiPid: api.child.pid ?? 0,
        openSearchPids: await openSearchPids(client),
        api: `http://127.0.0.1:${config.PORT}`,
        admin: `http://127.0.0.1:${config.ADMIN_PORT}`,
        key,
      });
    } finally {
      await api.stop();
    }
  } finally {
    redis.disconnect();
    await client.close();
  }
}
