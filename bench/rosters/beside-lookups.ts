import { setTimeout as sleep } from 'node:timers/promises';
import type { Asked } from '../lookups/asked.ts';
import type { BesideRosters, Latency } from '../reports/rosters.ts';
import { type Contender, measure } from './measure.ts';

const LOOKUPS_PER_SECOND = 100;
const SECONDS = 30;
const ROSTER_HEAD_START_MS = 2000;

/** The metric of the event loop's delay contains the time between two samples of Node. */
const SAMPLE_MS = 10;

/**
 * Sends single number lookups at 100 a second, alone and beside rosters.
 *
 * @param metrics the address of the API's metrics; reading them starts a new measurement of the event loop's delay
 */
export async function besideRosters(
  single: Contender,
  roster: Contender,
  asked: readonly Asked[],
  metrics: string,
): Promise<BesideRosters> {
  async function latency(): Promise<Latency> {
    await eventLoopP99(metrics);
    const { p50, p99 } = await measure(single, asked, { rate: LOOKUPS_PER_SECOND, seconds: SECONDS });
    return { p50, p99, eventLoopP99: await eventLoopP99(metrics) };
  }
  const idle = await latency();
  const rosters = measure(roster, asked, { seconds: SECONDS + (3 * ROSTER_HEAD_START_MS) / 1000 });
  await sleep(ROSTER_HEAD_START_MS);
  const beside = await latency();
  await rosters;
  return { idle, beside };
}

async function eventLoopP99(metrics: string): Promise<number> {
  const text = await (await fetch(metrics)).text();
  const seconds = /^nodejs_eventloop_lag_p99_seconds(?:\{[^}]*\})? (\S+)$/m.exec(text)?.[1];
  if (seconds === undefined) throw new Error('The metrics do not have the delay of the event loop.');
  return Number(seconds) * 1000 - SAMPLE_MS;
}
