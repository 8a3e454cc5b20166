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
import { liveIndex } from '../../src/publications/alias.ts';
import { openStore, type Store } from '../../src/storage/store.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { cpuSeconds, openSearchCpuSeconds } from '../cpu.ts';
import { published } from '../published.ts';
import { benchKey, serviceVariables } from '../service.ts';
import type { Asked } from './asked.ts';
import type { Contender } from './contenders.ts';
import { generated } from './generated.ts';
import type { Load } from './load.ts';
import type { Measured, Results } from './report.ts';

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

async function cpuOf({ client, redis, apiPid }: Service): Promise<Cpu> {
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

/** Asks one contender for these licenses, and tells what it took. */
export async function measure(
  service: Service,
  { load, ask }: Contender,
  asked: readonly Asked[],
  more: Partial<Load> = {},
): Promise<Measured> {
  const before = await cpuOf(service);
  const asks = asked.map((each) => JSON.stringify(ask(each)));
  const result = await generated({ ...load, asks, ...more });
  const after = await cpuOf(service);
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

/** What was measured, in one line. */
export function described({ rate, p50, p99, cpu, bytes, answers, wrong }: Measured): string {
  const parts = Object.entries(cpu).map(([name, micro]) => `${name} ${micro.toFixed(0)}`);
  return (
    `${rate.toFixed(0)}/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, CPU µs: ${parts.join(', ')}; ` +
    `${(bytes / answers).toFixed(0)} bytes${wrong > 0 ? `; ${wrong} WRONG` : ''}`
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

/** Every contender in turn, in each round with licenses that it has not been asked for. */
export async function inRounds<Each extends Contender>(
  service: Service,
  contenders: readonly Each[],
  { rounds, warmUpSeconds, drawnFor }: Turns<Each>,
): Promise<Results> {
  const results = new Map<string, Measured[]>();
  for (const contender of contenders) {
    await measure(service, contender, drawnFor(contender).slice(-WARM_UP_ASKED), { seconds: warmUpSeconds });
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const contender of contenders) {
      const asked = drawnFor(contender).slice(round * contender.count, (round + 1) * contender.count);
      const measured = await measure(service, contender, asked);
      print(`round ${round + 1}: ${contender.name}: ${described(measured)}`);
      results.set(contender.name, [...(results.get(contender.name) ?? []), measured]);
    }
  }
  return results;
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
