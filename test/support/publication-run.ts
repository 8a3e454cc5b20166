import type { TestEnvironment } from '../../scripts/environment.ts';
import { publishQueue } from '../../src/publications/job.ts';
import { type LedgerEvent, readEvents } from '../../src/publications/ledger.ts';
import { liveLicensesIndex } from '../../src/publications/metadata.ts';
import { isIndexNotFound } from '../../src/storage/errors.ts';

/** How far a publication is, as the ledger, the alias and the index that it builds tell. */
export interface LoadProgress {
  /** The last event of the ledger; `undefined` before the first. */
  readonly step: LedgerEvent['event'] | undefined;
  /** Whether the alias points at it. */
  readonly isLive: boolean;
  /** The index that it builds, once there is one. */
  readonly index: string | undefined;
  /** Documents that OpenSearch has indexed for it. */
  readonly indexed: number;
  /** Of all its documents, as far as they are indexed. */
  readonly share: number;
}

/** @param documents how many it has when it is complete */
export async function loadProgress(
  environment: TestEnvironment,
  publication: string,
  documents: number,
): Promise<LoadProgress> {
  const { store } = environment;
  const events = await eventsOf(environment, publication);
  const live = await liveLicensesIndex(store);
  const last = events.at(-1);
  const index = last?.index;
  const indexed = index === undefined ? 0 : await documentsIndexed(environment, index);
  return {
    step: last?.event,
    isLive: live?.metadata.publication === publication,
    index,
    indexed,
    share: indexed / documents,
  };
}

/** Documents that OpenSearch has indexed in an index, whether a search would find them or not. */
export async function documentsIndexed({ client }: TestEnvironment, index: string): Promise<number> {
  try {
    const { body } = await client.indices.stats({ index, metric: 'indexing' });
    return body._all.primaries?.indexing?.index_total ?? 0;
  } catch (error) {
    if (isIndexNotFound(error)) return 0;
    throw error;
  }
}

/** A publication's events but for `queued`, which whoever asked may write late. */
export async function eventsOf({ store }: TestEnvironment, publication: string): Promise<LedgerEvent[]> {
  const events = await readEvents(store);
  return events.filter((event) => event.publication === publication && event.event !== 'queued');
}

export function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}

/** How often a worker has taken up a publication; `undefined` where the queue does not know it. */
export async function attemptsAt(
  { config }: TestEnvironment,
  publication: string,
): Promise<number | undefined> {
  const queue = publishQueue(config);
  try {
    const job = await queue.getJob(publication);
    return job?.attemptsStarted;
  } finally {
    await queue.close();
  }
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
export async function expectUnderWay({ config }: TestEnvironment, publication: string): Promise<void> {
  const queue = publishQueue(config);
  try {
    const job = await queue.getJob(publication);
    const state = (await job?.getState()) ?? 'unknown';
    if (!UNDER_WAY.has(state)) throw new Error(`The fault interrupted nothing: the job is ${state}.`);
  } finally {
    await queue.close();
  }
}
