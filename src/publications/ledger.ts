import { z } from 'zod';
import type { PublishedChanges } from '../changes/board-activity.ts';
import { example, isPlaceColumn } from '../changes/compare.ts';
import { type FeedState, switchesOf } from '../changes/feed.ts';
import { changeCounts } from '../changes/stored-feed.ts';
import { countsByName } from '../licenses/counts.ts';
import { collection } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';
import { disciplineCounts, publicationCounts, readableLiveIndex } from './metadata.ts';

export const PUBLISH_STEPS = [
  'downloading',
  'reading',
  'loading',
  'verifying',
  'comparing',
  'storing changes',
  'making durable',
  'going live',
  'cleaning up',
] as const;

export type PublishStep = (typeof PUBLISH_STEPS)[number];

/** The steps whose start is recorded in the ledger. */
const RECORDED_STEPS = ['reading', 'loading', 'verifying'] as const satisfies readonly PublishStep[];

/** The states of a publication. The last event in the ledger is the state. */
export const PUBLICATION_STATES = [
  'queued',
  ...RECORDED_STEPS,
  'live',
  'superseded',
  'rolled_back',
  'refused',
  'skipped',
  'failed',
] as const;

export type PublicationState = (typeof PUBLICATION_STATES)[number];

/** The result of one guard, for one board and one column if the guard looks at these. */
export const check = z.object({
  /** The guard's name, as in `data/refusals.json`. */
  check: z.string(),
  board: z.string().nullable(),
  /** The column's name in the State's files. */
  column: z.string().nullable(),
  /** A count, a percentage or percentage points, in the same unit as `limit`. */
  measured: z.number(),
  limit: z.number(),
  passed: z.boolean(),
  /** The counts of licenses, before and now, that the guard compared. */
  before: z.number().optional(),
  now: z.number().optional(),
  examples: z.array(example).optional(),
  /** True if the operator accepted the failure. */
  accepted: z.literal(true).optional(),
});

export type Check = Readonly<z.output<typeof check>>;

/**
 * By board, for each column in which the board has values: the number of licenses where it is blank and of rows where
 * it is unknown.
 */
export const boardValues = z.record(
  z.string(),
  z.object({ licenses: z.int(), blank: countsByName, unknown: countsByName }),
);

const ledgerEvent = z.object({
  publication: z.string(),
  at: z.string(),
  /** Version 0.3.0 wrote `canary_failed` for a publication that stayed live. */
  event: z.enum([...PUBLICATION_STATES, 'canary_failed']),
  /** The physical index, once there is one. */
  index: z.string().optional(),
  epoch: z.int().optional(),
  date: z.string().optional(),
  sample: z.boolean().optional(),
  /** Names and hashes of the two files. */
  sources: z.object({ individual: z.string(), business: z.string() }).optional(),
  sha256: z.object({ individual: z.string(), business: z.string() }).optional(),
  counts: publicationCounts.optional(),
  /** Licenses, including endorsements, by board and by primary status. */
  boards: countsByName.optional(),
  statuses: countsByName.optional(),
  /** Rows whose board, license type or status the catalog does not know, by label. */
  unknown_labels: countsByName.optional(),
  discipline: disciplineCounts.optional(),
  /** Unusual facts about the files, one sentence each. */
  notes: z.array(z.string()).optional(),
  /** For `live` events: the counts of the changes that became visible with the publication. */
  changes: changeCounts.optional(),
  /** Why the publication was refused, failed or skipped; for a forced one, the guards' refusals. */
  reasons: z.array(z.string()).optional(),
  /** The results of the guards, passed or not. */
  checks: z.array(check).optional(),
  values: boardValues.optional(),
  /** The guards that the operator accepted, in the format of `--accept`. */
  accepted: z.array(z.string()).optional(),
  /** For a skipped publication: the live publication with the same files. */
  same_as: z.string().optional(),
  /** The duration of each step in seconds. */
  seconds: z.record(z.string(), z.number()).optional(),
  /** The operator's reason for overriding the guards. */
  forced: z.string().optional(),
  service_version: z.string().optional(),
});

export type LedgerEvent = z.output<typeof ledgerEvent>;

/** An event to append. Its time defaults to now. */
export type NewLedgerEvent = Omit<LedgerEvent, 'at'> & { readonly at?: string };

/** The ledger's events. An invalid count does not make the whole event unreadable. */
export const LEDGER_EVENTS = collection('ledger', ledgerEvent, { keepsValidParts: true });

const MAX_SENTENCES = 50;
const MAX_SENTENCE_CHARACTERS = 1000;

const firstSentences = z
  .array(z.string())
  .transform((sentences) => {
    const listed = sentences
      .slice(0, MAX_SENTENCES)
      .map((sentence) => sentence.slice(0, MAX_SENTENCE_CHARACTERS).toWellFormed());
    const more = sentences.length - listed.length;
    return more === 0 ? listed : [...listed, `and ${more} more.`];
  })
  .optional();

/** An event with bounded text, however long an error message is. The publisher bounds the counts. */
const boundedEvent = ledgerEvent.extend({
  reasons: firstSentences,
  notes: firstSentences,
});

/** Appends an event. Events in the ledger are never changed. */
export async function appendEvent(store: Store, event: NewLedgerEvent): Promise<void> {
  await LEDGER_EVENTS.append(store, boundedEvent.parse({ at: new Date().toISOString(), ...event }));
}

const MAX_EVENTS = 10_000;
const EVENTS_A_REQUEST = 1000;

type Parts = string[] | { excludes: string[] };

/** The fields that every event has. */
const NEEDED = ['publication', 'event', 'at'];

/** Excludes the parts that grow with the files, which summaries of many publications do not need. */
const WITHOUT_LARGE_PARTS = { excludes: ['statuses', 'unknown_labels', 'checks', 'values'] };

/**
 * Returns the last 10,000 events of the ledger, the earliest first. Checks, counts by status and unknown labels are
 * read only for the events of a single publication.
 */
export function readEvents(store: Store, publication?: string): Promise<LedgerEvent[]> {
  return publication === undefined
    ? eventsThat(store, [], WITHOUT_LARGE_PARTS)
    : eventsThat(store, [{ term: { publication } }]);
}

/** The events of publications that went live. */
const ONCE_LIVE: readonly PublicationState[] = ['live', 'superseded', 'rolled_back'];

/**
 * Like `readEvents`, but only for publications that went live. None is left out, however many others were skipped or
 * refused.
 */
export function readLiveEvents(store: Store): Promise<LedgerEvent[]> {
  return eventsThat(store, [{ terms: { event: ONCE_LIVE } }], WITHOUT_LARGE_PARTS);
}

/** @param parts the fields to read of each event */
async function eventsThat(store: Store, filter: readonly object[], parts: Parts = ['*']) {
  const events: LedgerEvent[] = [];
  const pages = LEDGER_EVENTS.pages(store, {
    size: EVENTS_A_REQUEST,
    query: { bool: { filter: [{ exists: { field: 'event' } }, ...filter] } },
    sort: [{ _seq_no: 'desc' }],
    _source: parts,
  });
  for await (const page of pages) {
    events.push(...page);
    if (events.length >= MAX_EVENTS) break;
  }
  return events.reverse();
}

/**
 * Returns the changes of the publications in a feed, the earliest first. Publications undone by a rollback are left
 * out, and so are those with changes that this service made itself.
 *
 * @param live the live publication, for which the ledger may not have an event yet
 */
export async function readPublishedChanges(
  store: Store,
  live: Pick<LedgerEvent, 'epoch' | 'date' | 'changes'>,
  feed: FeedState,
): Promise<PublishedChanges[]> {
  const counted = new Set(switchesOf(feed).flatMap(({ epoch, withdrawn }) => (withdrawn ? [] : [epoch])));
  if (counted.size === 0) return [];
  const parts = [...NEEDED, 'epoch', 'date', 'changes'];
  const events = await eventsThat(store, [{ term: { event: 'live' } }], parts);
  const isKnown = events.some(({ epoch }) => epoch === live.epoch);
  return [...events, ...(isKnown ? [] : [live])].flatMap(({ epoch = 0, date, changes }) => {
    const { release = 0, rollback = 0 } = changes?.causes ?? {};
    // The `live` event of a rollback has no date.
    if (date === undefined || changes === undefined || release + rollback > 0) return [];
    return counted.has(epoch) ? [{ date, boards: new Map(Object.entries(changes.boards)) }] : [];
  });
}

/** Whether a check found that the State withholds addresses. Such a check refuses nothing. */
function isWithheld({ column, passed, measured, limit }: Check): boolean {
  return column !== null && isPlaceColumn(column) && passed && measured > limit;
}

export type PublicationTimes = Awaited<ReturnType<typeof publicationTimes>>;

/** Returns what metrics need from the ledger, at a cost that does not depend on its size. */
export async function publicationTimes(store: Store) {
  const live = (await readableLiveIndex(store))?.metadata;
  const isVerified = [{ term: { publication: live?.publication ?? '' } }, { term: { event: 'verifying' } }];
  const [times, verified] = await Promise.all([
    LEDGER_EVENTS.search(store, {
      size: PUBLICATION_STATES.length,
      query: { terms: { event: [...PUBLICATION_STATES] } },
      sort: [{ at: 'desc' }],
      collapse: { field: 'event' },
      _source: NEEDED,
    }),
    LEDGER_EVENTS.search(store, {
      size: 1,
      query: { bool: { filter: isVerified } },
      sort: [{ _seq_no: 'desc' }],
    }),
  ]);
  return {
    /** The last time of each kind of event, in milliseconds of Unix time. */
    lastEvents: new Map<string, number>(times.documents.map(({ event, at }) => [event, Date.parse(at)])),
    /**
     * The run date of the live publication, and the number of withheld columns, counted per board that had them before.
     */
    live: live && {
      date: live.date,
      withheld: (verified.documents[0]?.checks ?? []).filter(isWithheld).length,
    },
  };
}
