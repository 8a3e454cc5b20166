import { cpuSeconds } from '../cpu.ts';
import type { Asked } from '../lookups/asked.ts';
import { generated } from '../lookups/generated.ts';
import type { Load, LoadResult } from '../lookups/load.ts';

/** Process ids of the servers that answer a contender, by name. */
export type Servers = Readonly<Record<string, readonly number[]>>;

/** One way of asking for many licenses, measured beside the others. */
export interface Contender {
  readonly name: string;
  /** How many licenses one request asks for. */
  readonly itemsPerRequest: number;
  readonly requestsPerRound: number;
  readonly load: Omit<Load, 'asks'>;
  readonly ask: (asked: readonly Asked[]) => object;
  readonly servers: () => Promise<Servers>;
}

/** What a contender did in one round. */
export interface Measured extends Pick<LoadResult, 'seconds' | 'wrong' | 'p50' | 'p99' | 'bytes'> {
  readonly items: number;
  /** Items a second. */
  readonly rate: number;
  /** Microseconds of CPU of each server for an item. */
  readonly cpu: Readonly<Record<string, number>>;
}

/** Of each contender, its rounds. */
export type Results = Map<string, Measured[]>;

/** Asks one contender for these licenses. */
export async function measure(
  { itemsPerRequest, load, ask, servers }: Contender,
  asked: readonly Asked[],
  more: Partial<Load> = {},
): Promise<Measured> {
  const asks: string[] = [];
  for (let at = 0; at < asked.length; at += itemsPerRequest) {
    asks.push(JSON.stringify(ask(asked.slice(at, at + itemsPerRequest))));
  }
  const before = await cpuOf(await servers());
  const { seconds, answers, wrong, p50, p99, bytes } = await generated({ ...load, asks, ...more });
  const after = await cpuOf(await servers());
  const items = answers * itemsPerRequest;
  const cpu = Object.fromEntries(
    Object.entries(after).map(([name, spent]) => [name, ((spent - (before[name] ?? 0)) * 1e6) / items]),
  );
  return { seconds, wrong, p50, p99, bytes, items, rate: items / seconds, cpu };
}

async function cpuOf(servers: Servers): Promise<Record<string, number>> {
  const spent: Record<string, number> = {};
  for (const [name, pids] of Object.entries(servers)) {
    const each = await Promise.all(pids.map(cpuSeconds));
    spent[name] = each.reduce((sum, seconds) => sum + seconds, 0);
  }
  return spent;
}

/** Microseconds of CPU of all servers together for an item. */
export function serverCpu({ cpu }: Measured): number {
  return Object.values(cpu).reduce((sum, each) => sum + each, 0);
}

/** What was measured, in one line. */
export function described(measured: Measured): string {
  const { rate, p50, p99, bytes, items, wrong, cpu } = measured;
  const parts = Object.entries(cpu).map(([name, micro]) => `${name} ${micro.toFixed(1)}`);
  return (
    `${rate.toFixed(0)} items/s, a request p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms; CPU µs an item: ` +
    `${serverCpu(measured).toFixed(1)} (${parts.join(', ')}); ${(bytes / items).toFixed(0)} bytes an item` +
    (wrong > 0 ? `; ${wrong} WRONG` : '')
  );
}
