import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../sample-data/generator/random.ts';
import { SEED } from './fault-form.ts';
import { documentsIndexed, eventsOf, type LoadProgress, percent } from './publication-run.ts';
import type { PublicationUnderWay, Publisher } from './publisher.ts';

const LOADED_WITHIN_MS = 120_000;

/** A moment of a load, as a share of the documents that it indexes. */
export interface RandomMoment {
  readonly name: string;
  readonly share: number;
}

/** Moments drawn from a part of the load. */
export function randomMoments(
  count: number,
  purpose: string,
  [from, to]: readonly [number, number],
): RandomMoment[] {
  const random = createRandom(SEED, purpose);
  return Array.from({ length: count }, (_, at) => ({
    name: `random moment ${at + 1}`,
    share: from + (to - from) * random(),
  }));
}

/** One of the requests that a publication makes to OpenSearch. */
export interface RandomRequest {
  readonly name: string;
  /** Whether it is one of the bulk requests, which take most of the time, or one of all others. */
  readonly isBulk: boolean;
  /** Its place among the requests of its kind, from 0 up to but not including 1. */
  readonly share: number;
  /** Whether OpenSearch still does what it asks for. */
  readonly isDone: boolean;
}

/** Requests drawn alternately from the bulk requests and from all others. */
export function randomRequests(count: number, purpose: string): RandomRequest[] {
  const random = createRandom(SEED, purpose);
  return Array.from({ length: count }, (_, at) => ({
    name: `random request ${at + 1}`,
    isBulk: at % 2 === 0,
    share: random(),
    isDone: random() < 0.5,
  }));
}

/**
 * Waits until OpenSearch has indexed so many of the documents.
 *
 * @throws {Error} when the load ends first: a fault would then interrupt nothing
 */
export async function untilLoaded(
  { share }: Pick<RandomMoment, 'share'>,
  { publication, ended }: Pick<PublicationUnderWay, 'publication' | 'ended'>,
  { environment, documents }: Pick<Publisher, 'environment' | 'documents'>,
): Promise<LoadProgress> {
  const deadline = Date.now() + LOADED_WITHIN_MS;
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  let index: string | undefined;
  for (;;) {
    index ??= (await eventsOf(environment, publication)).find(({ event }) => event === 'loading')?.index;
    const indexed = index === undefined ? 0 : await documentsIndexed(environment, index);
    const progress = { step: 'loading', isLive: false, index, indexed, share: indexed / documents } as const;
    if (hasEnded || progress.share >= 1) {
      throw new Error(`The load ended before the test saw ${percent(share)} of it: nothing was interrupted.`);
    }
    if (progress.share >= share) return progress;
    if (Date.now() > deadline) throw new Error(`Less than ${percent(share)} was loaded in two minutes.`);
    await sleep(10);
  }
}
