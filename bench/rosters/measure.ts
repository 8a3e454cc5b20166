import { cpuSeconds } from '../cpu.ts';
import type { Asked } from '../lookups/asked.ts';
import { generated } from '../lookups/generated.ts';
import type { Load } from '../lookups/load.ts';
import { type Measured, serverCpu } from '../reports/rosters.ts';

/** Process ids of the servers that answer a contender, by name. */
export type Servers = Readonly<Record<string, readonly number[]>>;

/** One way of asking for many licenses, measured beside the others. */
export interface Contender {
  readonly name: string;
  /** How many licenses one request asks for. */
  readonly itemsPerRequest: number;
  readonly requestsPerRound: number;
  readonly load: Omit<Load, 'asks'>;
  /** The body of a request, or with GET what follows the path. */
  readonly ask: (asked: readonly Asked[]) => object | string;
  readonly servers: () => Promise<Servers>;
}

/** Asks one contender for these licenses. */
export async function measure(
  { itemsPerRequest, load, ask, servers }: Contender,
  asked: readonly Asked[],
  more: Partial<Load> = {},
): Promise<Measured> {
  const asks: string[] = [];
  for (let at = 0; at < asked.length; at += itemsPerRequest) {
    const request = ask(asked.slice(at, at + itemsPerRequest));
    asks.push(typeof request === 'string' ? request : JSON.stringify(request));
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
