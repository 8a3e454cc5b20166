import { print } from '../../scripts/processes.ts';
import { type Measured, type Rounds, serverCpu, turnsOf } from '../rounds.ts';
import { cpuSeconds, type Servers } from '../usage.ts';
import type { Asked } from './asked.ts';
import type { Contender } from './contenders.ts';
import { generated, type Load } from './load.ts';

/** The number of licenses for the warm-up, taken from the end. Rounds reach them only if too few were drawn. */
const WARM_UP_ASKED = 5000;

/** Lets one contender look up these licenses, and measures it. */
export async function measure(
  contender: Contender,
  asked: readonly Asked[],
  more: Partial<Load> = {},
): Promise<Measured> {
  const { load, servers, itemsPerRequest } = contender;
  const asks = requestsFor(contender, asked);
  const before = await cpuOf(await servers());
  const { answers, cpuSeconds: generatorSeconds, ...result } = await generated({ ...load, asks, ...more });
  const after = await cpuOf(await servers());
  const items = answers * itemsPerRequest;
  const each = (seconds: number) => (seconds * 1e6) / items;
  const cpu = Object.entries(after).map(([name, spent]) => [name, each(spent - (before[name] ?? 0))]);
  return {
    ...{ ...result, items, rate: items / result.seconds },
    ...{ cpu: Object.fromEntries(cpu), generatorCpu: each(generatorSeconds) },
  };
}

async function cpuOf(servers: Servers): Promise<Record<string, number>> {
  const spent = Object.entries(servers).map(async ([name, pids]) => [name, await cpuSeconds(pids)] as const);
  return Object.fromEntries(await Promise.all(spent));
}

/** Makes full requests. Leaves out licenses that do not fill one. */
function requestsFor({ ask, itemsPerRequest }: Contender, asked: readonly Asked[]): string[] {
  const requests: string[] = [];
  for (let end = itemsPerRequest; end <= asked.length; end += itemsPerRequest) {
    const request = ask(asked.slice(end - itemsPerRequest, end));
    requests.push(typeof request === 'string' ? request : JSON.stringify(request));
  }
  return requests;
}

/** Describes a measurement in one line. */
export function described(measurement: Measured): string {
  const { rate, p50, p99, cpu, generatorCpu = 0, bytes, items, wrong } = measurement;
  const parts = Object.entries(cpu).map(([name, micro]) => `${name} ${micro.toFixed(1)}`);
  return (
    `${rate.toFixed(0)}/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ` +
    `CPU µs: ${serverCpu(measurement).toFixed(1)} (${parts.join(', ')}), generator ${generatorCpu.toFixed(1)}; ` +
    `${(bytes / items).toFixed(0)} bytes${wrong > 0 ? `; ${wrong} WRONG` : ''}`
  );
}

/** How contenders take their turns. */
export interface Turns<Each extends Contender> {
  readonly rounds: number;
  /** The warm-up of each contender before the first round. */
  readonly warmUpSeconds: number;
  /** Changes to the load in the rounds, such as its rate. */
  readonly more?: Partial<Load>;
  /** The licenses for one contender in all rounds together. */
  readonly drawnFor: (contender: Each) => readonly Asked[];
}

/**
 * Measures the contenders one after another, in changing order. Each round uses other licenses, as long as there are
 * enough.
 *
 * @throws {Error} when a contender gives wrong answers before the first round
 */
export async function inRounds<Each extends Contender>(
  contenders: readonly Each[],
  { rounds, warmUpSeconds, more = {}, drawnFor }: Turns<Each>,
): Promise<Rounds> {
  const results: Record<string, Measured[]> = Object.fromEntries(contenders.map(({ name }) => [name, []]));
  for (const contender of contenders) {
    const asked = drawnFor(contender).slice(-WARM_UP_ASKED);
    const { wrong } = await measure(contender, asked, { seconds: warmUpSeconds });
    if (wrong > 0) {
      throw new Error(`${contender.name}: ${wrong} wrong answers. Delete .local, and measure again.`);
    }
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const contender of turnsOf(contenders, round)) {
      const asked = shareOf(drawnFor(contender), contender.itemsPerRound, round);
      const measurement = await measure(contender, asked, more);
      print(`round ${round + 1}: ${contender.name}: ${described(measurement)}`);
      results[contender.name]?.push(measurement);
    }
  }
  return results;
}

/** The drawn licenses for one round, without duplicates, starting where the previous round ended. */
function shareOf(drawn: readonly Asked[], count: number, round: number): Asked[] {
  const wanted = Math.min(count, drawn.length);
  const start = (round * wanted) % drawn.length;
  return [...drawn.slice(start), ...drawn.slice(0, start)].slice(0, wanted);
}

/** The contender with this name. @throws {Error} if there is none */
export function named(contenders: readonly Contender[], name: string): Contender {
  const contender = contenders.find((each) => each.name === name);
  if (contender === undefined) throw new Error(`There is no contender ${name}.`);
  return contender;
}
