import { z } from 'zod';
import { countsByName } from '../licenses/counts.ts';
import type { Store } from '../storage/store.ts';
import {
  appendEvent,
  boardValues,
  check,
  type LedgerEvent,
  type NewLedgerEvent,
  type PublicationState,
  readEvents,
  readLiveEvents,
} from './ledger.ts';
import {
  hashesOf,
  type LicensesIndex,
  licensesIndices,
  publicationCounts,
  readableLiveIndex,
} from './metadata.ts';

/** A publication's latest details from its events, and its state. */
export type PublicationSummary = Readonly<Omit<LedgerEvent, 'event'>> & { readonly state: PublicationState };

/** Combines the events of each publication, in the order in which the publications began. */
function foldEvents(events: readonly LedgerEvent[]): Map<string, PublicationSummary> {
  const summaries = new Map<string, PublicationSummary>();
  for (const { event, at, ...details } of events) {
    if (event === 'canary_failed') continue;
    const before = summaries.get(details.publication);
    // `queued` may be written after the worker has begun.
    const isNews = before === undefined || event !== 'queued';
    const last = isNews ? { state: event, at } : { state: before.state, at: before.at };
    summaries.set(details.publication, { ...before, ...details, ...last });
  }
  return summaries;
}

/**
 * Returns a summary of each publication, in the order in which they began.
 *
 * @param live the publication under the alias: only this one is live, whatever the events say
 */
export function summarize(events: readonly LedgerEvent[], live: string | undefined): PublicationSummary[] {
  return [...foldEvents(events).values()].map((summary) => {
    if (summary.publication === live) return { ...summary, state: 'live' };
    return summary.state === 'live' ? { ...summary, state: 'superseded' } : summary;
  });
}

export type PublicationHistory = Readonly<Awaited<ReturnType<typeof publicationHistory>>>;

/** Returns every publication in the ledger, the latest first, without checks and unknown labels. */
export async function publicationHistory(store: Store) {
  const live = (await readableLiveIndex(store))?.metadata.publication;
  const latest = await readEvents(store);
  const isListed = live === undefined || latest.some(({ publication }) => publication === live);
  const events = isListed ? latest : [...(await readEvents(store, live)), ...latest];
  const publications = summarize(events, live).reverse();
  return { live: publications.find(({ publication }) => publication === live) ?? null, publications };
}

/** Returns one publication and its events, `queued` first. @throws {Error} when the ledger has no such publication */
export async function publicationDetails(store: Store, publication: string) {
  const [events, live] = await Promise.all([readEvents(store, publication), readableLiveIndex(store)]);
  const [summary] = summarize(events, live?.metadata.publication);
  if (summary === undefined) throw new Error(`The ledger has no publication ${publication}.`);
  const isQueued = ({ event }: LedgerEvent) => event === 'queued';
  return {
    summary,
    events: events.toSorted((one, other) => Number(isQueued(other)) - Number(isQueued(one))),
  };
}

/** Returns the publication that went live last according to the ledger; `undefined` before the first one. */
export async function lastLivePublication(store: Store): Promise<PublicationSummary | undefined> {
  const events = await readLiveEvents(store);
  const last = events.findLast(({ event }) => event === 'live');
  return last && foldEvents(events).get(last.publication);
}

/** Marks the indices that went live under version 0.3.0, which recorded that only in the ledger. */
export async function markFromLedger(store: Store): Promise<void> {
  const { wasLive, rolledBack } = store.names;
  for (;;) {
    const indices = await licensesIndices(store);
    if (indices.every((each) => each.wasLive || !each.isLive)) return;
    const known = summarize(await readLiveEvents(store), undefined);
    const stateOf = new Map(known.map(({ publication, state }) => [publication, state]));
    const actions = indices.flatMap(({ index, isLive, metadata: { publication } }) => {
      const state = isLive ? 'live' : stateOf.get(publication);
      if (state === undefined) return [];
      const marks = state === 'rolled_back' ? [wasLive, rolledBack] : [wasLive];
      return marks.map((alias) => ({ add: { index, alias } }));
    });
    const { statusCode } = await store.client.indices.updateAliases({ body: { actions } }, { ignore: [404] });
    // A 404 means that an index was deleted in the meantime.
    if (statusCode !== 404) return;
  }
}

/** The guards' checks, and the counts of blank and unknown values. */
const found = { checks: z.array(check).default([]), values: boardValues.default({}) };

export const publishResult = z.discriminatedUnion('state', [
  z.object({
    state: z.literal('live'),
    publication: z.string(),
    index: z.string().default(''),
    date: z.string().default(''),
    ...publicationCounts.shape,
    /** The total of all steps. */
    seconds: z.number(),
    rows_per_second: z.int(),
    unknown_labels: countsByName.default({}),
    /** Unusual facts about the files, one sentence each. */
    notes: z.array(z.string()).default([]),
    /** The guard refusals that the operator forced or accepted. */
    overridden: z.array(z.string()),
    /** Whether a lookup found one of its licenses right after it went live; absent if this was not checked. */
    is_found: z.boolean().optional(),
    ...found,
  }),
  z.object({
    /** The same two files are already live. */
    state: z.literal('skipped'),
    publication: z.string(),
    /** The live publication with the same files. */
    live: z.string().default(''),
    date: z.string().default(''),
  }),
  z.object({
    state: z.enum(['refused', 'failed', 'would_go_live', 'would_be_refused']),
    publication: z.string(),
    reasons: z.array(z.string()).default([]),
    notes: z.array(z.string()).optional(),
    ...found,
  }),
]);

export type PublishResult = z.output<typeof publishResult>;

const NO_COUNTS = { rows: 0, licenses: 0, endorsements: 0, rejected: 0 };

/** Returns how a publication ended according to its ledger events; `undefined` while it is running. */
export function publicationResult(events: readonly LedgerEvent[]): PublishResult | undefined {
  const [summary] = foldEvents(events).values();
  if (summary === undefined) return undefined;
  const { state, counts = NO_COUNTS, seconds = {}, reasons = [], same_as: live } = summary;
  const took = Object.values(seconds).reduce((sum, each) => sum + each, 0);
  return publishResult.safeParse({
    ...{ ...summary, ...counts, live },
    state: events.some(({ event }) => event === 'live') ? 'live' : state,
    overridden: reasons,
    seconds: Math.round(took * 10) / 10,
    rows_per_second: took === 0 ? 0 : Math.round(counts.rows / took),
  }).data;
}

/**
 * Brings the ledger into line with the alias. They differ after a rollback, and after a publication or rollback was
 * killed between switching the alias and writing its events.
 *
 * @param rollback event values that replace those of the index's metadata after a rollback
 */
export async function reconcileLedger(
  store: Store,
  rollback: Pick<NewLedgerEvent, 'epoch' | 'date'> = {},
): Promise<void> {
  // The events must be read first: otherwise a switch in between would be recorded twice, the second time too late.
  const events = await readLiveEvents(store);
  const live = await readableLiveIndex(store);
  for (const event of missingEvents(events, live)) await appendEvent(store, { ...event, ...rollback });
  await markFromLedger(store);
}

/**
 * Returns the missing ledger events. The live publication needs a `live` event. Every other publication that is live
 * according to the ledger was rolled back if its epoch is later than the live one's; otherwise it was superseded.
 */
export function missingEvents(
  events: readonly LedgerEvent[],
  live: LicensesIndex | undefined,
): NewLedgerEvent[] {
  if (live === undefined) return [];
  const { index, metadata } = live;
  const known = foldEvents(events);
  const ended = [...known.values()]
    .filter(({ state, publication }) => state === 'live' && publication !== metadata.publication)
    .map(({ publication, index: before }): NewLedgerEvent => {
      const isRolledBack = epochOf(publication, events) > metadata.epoch;
      return { publication, event: isRolledBack ? 'rolled_back' : 'superseded', index: before };
    });
  const isRecorded = known.get(metadata.publication)?.state === 'live';
  return isRecorded ? ended : [liveEvent(index, metadata), ...ended];
}

/** Returns the epoch under which a publication was built: the epoch of its first `live` event. */
function epochOf(publication: string, events: readonly LedgerEvent[]): number {
  const live = events.find((event) => event.publication === publication && event.event === 'live');
  return live?.epoch ?? 0;
}

/** Builds the `live` event of an index from the index's metadata. */
export function liveEvent(index: string, metadata: LicensesIndex['metadata']): NewLedgerEvent {
  const { started_at, verified_at, feed, sources, ...known } = metadata;
  return {
    ...known,
    event: 'live',
    index,
    ...(sources && {
      sources: { individual: sources.individual.name, business: sources.business.name },
      sha256: hashesOf(sources),
    }),
  };
}
