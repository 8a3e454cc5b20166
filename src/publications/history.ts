import type { Store } from '../storage/store.ts';
import { readableLiveIndex } from './alias.ts';
import { type LedgerEvent, readEvents } from './ledger.ts';
import type { PublicationState } from './steps.ts';

/** A publication, from its events in the ledger. */
export interface PublicationSummary {
  readonly publication: string;
  /** What happened last; `live` only for what the alias says is live. */
  readonly state: PublicationState;
  readonly at: string;
  readonly date?: string | undefined;
  readonly index?: string | undefined;
  readonly sample?: boolean | undefined;
  readonly counts?: LedgerEvent['counts'];
  readonly sources?: LedgerEvent['sources'];
  readonly sha256?: LedgerEvent['sha256'];
  readonly boards?: LedgerEvent['boards'];
  readonly statuses?: LedgerEvent['statuses'];
  readonly discipline?: LedgerEvent['discipline'];
  readonly notes?: LedgerEvent['notes'];
  readonly changes?: LedgerEvent['changes'];
  readonly unknown_labels?: LedgerEvent['unknown_labels'];
  readonly differences?: LedgerEvent['differences'];
  readonly same_as?: LedgerEvent['same_as'];
  readonly seconds?: LedgerEvent['seconds'];
  readonly reasons?: readonly string[] | undefined;
  readonly forced?: string | undefined;
  readonly service_version?: string | undefined;
}

export interface PublicationHistory {
  readonly live: PublicationSummary | null;
  /** Every publication that the ledger knows, the latest first. */
  readonly publications: readonly PublicationSummary[];
}

/**
 * The ledger by publication. The alias decides which one is live; only that one has counts by status and unknown
 * labels.
 */
export async function publicationHistory(store: Store): Promise<PublicationHistory> {
  const index = await readableLiveIndex(store);
  const live = index?.metadata.publication;
  const [events, ofLive] = await Promise.all([
    readEvents(store),
    live === undefined ? [] : readEvents(store, live),
  ]);
  const [whole] = summarize(ofLive, live);
  const publications = summarize(events, live)
    .map((each) => (each.publication === live ? (whole ?? each) : each))
    .reverse();
  return { live: publications.find(({ publication }) => publication === live) ?? null, publications };
}

/** The publication that was live last, by the ledger; `undefined` before the first. */
export async function lastLivePublication(store: Store): Promise<PublicationSummary | undefined> {
  const events = await readEvents(store);
  const last = events.findLast(({ event }) => event === 'live');
  return summarize(events, undefined).find(({ publication }) => publication === last?.publication);
}

/** One publication, and its events, `queued` first. */
export interface PublicationDetails {
  readonly summary: PublicationSummary;
  readonly events: readonly LedgerEvent[];
}

/** @throws {Error} when the ledger does not know it */
export async function publicationDetails(store: Store, publication: string): Promise<PublicationDetails> {
  const [events, live] = await Promise.all([readEvents(store, publication), readableLiveIndex(store)]);
  const [summary] = summarize(events, live?.metadata.publication);
  if (summary === undefined) throw new Error(`The ledger has no publication ${publication}.`);
  return { summary, events: queuedFirst(events) };
}

/** The client may write `queued` after the worker has begun. */
function queuedFirst(events: readonly LedgerEvent[]): LedgerEvent[] {
  const isQueued = ({ event }: LedgerEvent) => event === 'queued';
  return [...events.filter(isQueued), ...events.filter((event) => !isQueued(event))];
}

/** One summary for each publication, in the order in which they began. */
export function summarize(
  events: readonly LedgerEvent[],
  livePublication: string | undefined,
): PublicationSummary[] {
  const summaries = new Map<string, PublicationSummary>();
  for (const { publication, event, at, ...details } of events) {
    const before = summaries.get(publication);
    // The client may write `queued` late, and a failed canary leaves the publication live.
    const isLateQueued = event === 'queued' && before !== undefined;
    if (event === 'canary_failed') {
      summaries.set(publication, { ...details, state: 'live', publication, at, ...before });
    } else if (isLateQueued) summaries.set(publication, { ...details, ...before });
    else summaries.set(publication, { ...before, ...details, publication, at, state: event });
  }
  return [...summaries.values()].map((summary) =>
    summary.publication === livePublication
      ? { ...summary, state: 'live' }
      : { ...summary, state: summary.state === 'live' ? 'superseded' : summary.state },
  );
}
