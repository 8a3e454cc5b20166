import type { TestEnvironment } from '../../scripts/environment.ts';
import { publishQueue } from '../../src/publications/job.ts';
import { type LedgerEvent, readEvents } from '../../src/publications/ledger.ts';
import { isIndexNotFound } from '../../src/storage/errors.ts';

/** How far a publication has loaded: the index that it builds, once there is one, and the documents indexed in it. */
export interface LoadProgress {
  readonly index: string | undefined;
  /** Whether a search would find them or not. */
  readonly indexed: number;
}

export async function loadProgress(environment: TestEnvironment, publication: string): Promise<LoadProgress> {
  const events = await eventsOf(environment, publication);
  const index = events.find(({ event }) => event === 'loading')?.index;
  if (index === undefined) return { index, indexed: 0 };
  try {
    const { body } = await environment.client.indices.stats({ index, metric: 'indexing' });
    return { index, indexed: body._all.primaries?.indexing?.index_total ?? 0 };
  } catch (error) {
    if (isIndexNotFound(error)) return { index, indexed: 0 };
    throw error;
  }
}

/** A publication's events but for `queued`, which whoever asked may write late. */
export async function eventsOf({ store }: TestEnvironment, publication: string): Promise<LedgerEvent[]> {
  const events = await readEvents(store, publication);
  return events.filter(({ event }) => event !== 'queued');
}

/** The job of a publication as the queue has it; `undefined` where the queue does not know it. */
async function jobOf({ config }: TestEnvironment, publication: string) {
  const queue = publishQueue(config);
  try {
    const job = await queue.getJob(publication);
    return job && { attempts: job.attemptsStarted, state: await job.getState() };
  } finally {
    await queue.close();
  }
}

/** How often a worker has taken up a publication; `undefined` where the queue does not know it. */
export async function attemptsAt(
  environment: TestEnvironment,
  publication: string,
): Promise<number | undefined> {
  return (await jobOf(environment, publication))?.attempts;
}

/** Expects that a publication's first attempt did not end it: a fault that came too late would leave one alone. */
export async function expectInterrupted(environment: TestEnvironment, publication: string): Promise<void> {
  const attempts = await attemptsAt(environment, publication);
  if (attempts === undefined || attempts < 2) {
    throw new Error(`The fault interrupted nothing: the publication ended in ${attempts ?? 'no'} attempt.`);
  }
}

const UNDER_WAY: ReadonlySet<string> = new Set(['active', 'delayed', 'waiting']);

/** Expects that the queue still waits for a publication's end, be it for another attempt. */
export async function expectUnderWay(environment: TestEnvironment, publication: string): Promise<void> {
  const { state = 'unknown' } = (await jobOf(environment, publication)) ?? {};
  if (!UNDER_WAY.has(state)) throw new Error(`The fault interrupted nothing: the job is ${state}.`);
}
