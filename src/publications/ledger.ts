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

/** The steps whose beginning is an event in the ledger. */
const RECORDED_STEPS = ['reading', 'loading', 'verifying'] as const satisfies readonly PublishStep[];

/** The states of a publication: the event that the ledger has last. */
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

/** What one guard found, at one board and in one column where it looks at these. */
export const check = z.object({
  /** The guard's name, as in `data/refusals.json`. */
  check: z.string(),
  board: z.string().nullable(),
  /** As the State's files name it. */
  column: z.string().nullable(),
  /** A count, a percentage or percentage points, as `limit`. */
  measured: z.number(),
  limit: z.number(),
  passed: z.boolean(),
  /** How many licenses the guard looked at, and of how many of them it holds now. */
  before: z.number().optional(),
  now: z.number().optional(),
  examples: z.array(example).optional(),
  /** Whether the operator accepts that it did not pass. */
  accepted: z.literal(true).optional(),
});

export type Check = Readonly<z.output<typeof check>>;

/** Of the columns in which a board has values: in how many licenses each is blank, and in how many rows unknown. */
export const boardValues = z.record(
  z.string(),
  z.object({ licenses: z.int(), blank: countsByName, unknown: countsByName }),
);

const ledgerEvent = z.object({
  publication: z.string(),
  at: z.string(),
  /** Version 0.3.0 wrote `canary_failed` of a publication that stayed live. */
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
  /** Licenses, endorsements with them, by board and by primary status. */
  boards: countsByName.optional(),
  statuses: countsByName.optional(),
  /** Rows whose board, license type or status the catalog does not know, by label. */
  unknown_labels: countsByName.optional(),
  discipline: disciplineCounts.optional(),
  /** What is unusual about the files, a sentence each. */
  notes: z.array(z.string()).optional(),
  /** Of `live`: the changes of licenses that became visible with it. */
  changes: changeCounts.optional(),
  /** Why it was refused, failed or skipped; of a forced one, what the guards said. */
  reasons: z.array(z.string()).optional(),
  /** What the guards found, passed or not. */
  checks: z.array(check).optional(),
  values: boardValues.optional(),
  /** The guards that the operator accepted, as `--accept` takes them. */
  accepted: z.array(z.string()).optional(),
  /** Of a skipped one: the live publication that has the same files. */
  same_as: z.string().optional(),
  /** Seconds that each step took. */
  seconds: z.record(z.string(), z.number()).optional(),
  /** The operator's reason for going past the guards. */
  forced: z.string().optional(),
  service_version: z.string().optional(),
});

export type LedgerEvent = z.output<typeof ledgerEvent>;

/** An event to append; its time is now unless given. */
export type NewLedgerEvent = Omit<LedgerEvent, 'at'> & { readonly at?: string };

/** The events. A count that can't be read does not make the state of a publication unknown. */
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

/** An event of a bounded size, however long an error's message is. The publisher bounds the counts. */
const boundedEvent = ledgerEvent.extend({
  reasons: firstSentences,
  notes: firstSentences,
});

/** Nothing in the ledger is ever changed. */
export async function appendEvent(store: Store, event: NewLedgerEvent): Promise<void> {
  await LEDGER_EVENTS.append(store, boundedEvent.parse({ at: new Date().toISOString(), ...event }));
}

const MAX_EVENTS = 10_000;
const EVENTS_A_REQUEST = 1000;

type Parts = string[] | { excludes: string[] };

/** What every event has. */
const NEEDED = ['publication', 'event', 'at'];

/** What grows with the files, and no summary of many publications needs. */
const WITHOUT_LARGE_PARTS = { excludes: ['statuses', 'unknown_labels', 'checks', 'values'] };

/**
 * The ledger's events, the earliest first; the last 10,000 of them. Only those of one publication have checks, counts by
 * status and unknown labels.
 */
export function readEvents(store: Store, publication?: string): Promise<LedgerEvent[]> {
  return publication === undefined
    ? eventsThat(store, [], WITHOUT_LARGE_PARTS)
    : eventsThat(store, [{ term: { publication } }]);
}

/** What is written of a publication that goes live. */
const ONCE_LIVE: readonly PublicationState[] = ['live', 'superseded', 'rolled_back'];

/** As `readEvents`, of publications that went live: however many were skipped or refused, none is left out. */
export function readLiveEvents(store: Store): Promise<LedgerEvent[]> {
  return eventsThat(store, [{ terms: { event: ONCE_LIVE } }], WITHOUT_LARGE_PARTS);
}

/** @param parts what is read of each */
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
 * The changes of the publications that a feed knows, the earliest first, but for those that a rollback has undone and
 * those that this service made itself.
 *
 * @param live what is live, of which the ledger may have no event yet
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
    // The event of a rollback has no date.
    if (date === undefined || changes === undefined || release + rollback > 0) return [];
    return counted.has(epoch) ? [{ date, boards: new Map(Object.entries(changes.boards)) }] : [];
  });
}

/** Whether a check found that the State no longer says where holders are, which refuses nothing. */
function isWithheld({ column, passed, measured, limit }: Check): boolean {
  return column !== null && isPlaceColumn(column) && passed && measured > limit;
}

export type PublicationTimes = Awaited<ReturnType<typeof publicationTimes>>;

/** What metrics tell of the ledger, however many events it has. */
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
    /** When each kind of event happened last, in milliseconds of Unix time. */
    lastEvents: new Map<string, number>(times.documents.map(({ event, at }) => [event, Date.parse(at)])),
    /** The run date of the live publication, and how many columns are withheld: of a board that had them before. */
    live: live && {
      date: live.date,
      withheld: (verified.documents[0]?.checks ?? []).filter(isWithheld).length,
    },
  };
}
