import { createRandom } from '../../sample-data/generator/random.ts';
import { eventually } from './eventually.ts';
import { SEED } from './fault-form.ts';
import { type LoadProgress, loadProgress } from './publication-run.ts';
import type { PublicationUnderWay, Publisher } from './publisher.ts';

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
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  let progress: LoadProgress = { index: undefined, indexed: 0 };
  await eventually(
    `${Math.round(100 * share)} % is loaded`,
    async () => {
      progress = await loadProgress(environment, publication);
      if (hasEnded || progress.indexed >= documents) {
        throw new Error('The load ended before the test saw this part of it: nothing was interrupted.');
      }
      return progress.indexed >= share * documents;
    },
    10,
  );
  return progress;
}
