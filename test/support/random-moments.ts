import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import { createRandom } from '../../src/dataset/sample/random.ts';
import { publishProgress, publishQueue } from '../../src/publications/job.ts';
import type { PublicationUnderWay, Publisher } from './publisher.ts';

/** From what the moments are drawn; `FAULTS_SEED` gives the same ones again. */
const SEED = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 1_000_000));

const LOADED_WITHIN_MS = 60_000;

/** A moment of a publication, as a share of the time it takes undisturbed or of the rows it loads. */
export interface RandomMoment {
  readonly share: number;
  readonly name: string;
}

/** Moments drawn from the whole, or from a part of it. */
export function randomMoments(
  count: number,
  purpose: string,
  [from, to]: readonly [number, number] = [0, 1],
): RandomMoment[] {
  const random = createRandom(SEED, purpose);
  return Array.from({ length: count }, () => {
    const share = from + (to - from) * random();
    return { share, name: `at ${(100 * share).toFixed(1)} % (seed ${SEED})` };
  });
}

/** Waits until so much of the time has passed that the publication takes undisturbed. */
export async function untilMoment(
  { share }: RandomMoment,
  { takenAt }: PublicationUnderWay,
  { undisturbedMs }: Publisher,
): Promise<void> {
  await sleep(takenAt + share * undisturbedMs - Date.now());
}

/** Waits until so many of the rows have been loaded, as far as the queue has been told, or all has ended. */
export async function untilLoaded(
  { share }: RandomMoment,
  { ended }: PublicationUnderWay,
  { environment, rows }: Publisher,
): Promise<void> {
  const queue = publishQueue(environment.config);
  const deadline = Date.now() + LOADED_WITHIN_MS;
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  try {
    while (!hasEnded && (await rowsLoaded(queue)) < share * rows) {
      if (Date.now() > deadline) throw new Error(`Less than ${share} of the rows loaded in a minute.`);
      await sleep(20);
    }
  } finally {
    await queue.close();
  }
}

async function rowsLoaded(queue: Queue): Promise<number> {
  const [job] = await queue.getActive();
  if (job === undefined) return 0;
  const progress = publishProgress.safeParse(job.progress);
  return progress.success ? progress.data.rows : 0;
}
