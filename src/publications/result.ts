import { z } from 'zod';
import { countsByName } from '../licenses/counts.ts';
import type { LedgerEvent } from './ledger.ts';

/** How a publication ended. */
export const publishResult = z.discriminatedUnion('state', [
  z.object({
    state: z.literal('live'),
    publication: z.string(),
    index: z.string(),
    date: z.string(),
    rows: z.int(),
    licenses: z.int(),
    endorsements: z.int(),
    rejected: z.int(),
    /** Of all steps together. */
    seconds: z.number(),
    rows_per_second: z.int(),
    unknown_labels: countsByName,
    /** What is unusual about the files, a sentence each. */
    notes: z.array(z.string()),
    /** Lookups whose answers differed from the files, right after the publication went live. */
    canary_differences: z.array(z.string()),
  }),
  z.object({
    /** The same two files are live already. */
    state: z.literal('skipped'),
    publication: z.string(),
    /** The publication that has these files. */
    live: z.string(),
    date: z.string(),
  }),
  z.object({ state: z.literal('refused'), publication: z.string(), reasons: z.array(z.string()) }),
  z.object({ state: z.literal('failed'), publication: z.string(), reasons: z.array(z.string()) }),
]);

export type PublishResult = z.output<typeof publishResult>;

/** How a publication ended, as its events in the ledger say; `undefined` while it goes on. */
export function publicationResult(events: readonly LedgerEvent[]): PublishResult | undefined {
  const live = events.find(({ event }) => event === 'live');
  const differences = events.findLast(({ event }) => event === 'canary_failed')?.differences ?? [];
  // Where it was killed right after the switch, its `live` event has only what is in the index.
  const verifying = events.findLast(({ event }) => event === 'verifying');
  if (live !== undefined) return liveResult({ ...verifying, ...live }, differences);
  // `queued` may be written when the worker has begun, or ended.
  const last = events.findLast(({ event }) => event !== 'queued');
  if (last === undefined) return undefined;
  const { event, publication, reasons = [] } = last;
  switch (event) {
    case 'refused':
    case 'failed':
      return { state: event, publication, reasons };
    case 'skipped':
      return { state: 'skipped', publication, live: last.same_as ?? '', date: last.date ?? '' };
    default:
      return undefined;
  }
}

type LiveEvent = Omit<LedgerEvent, 'at' | 'event'>;

/** The result of a publication that is live, from its event in the ledger. */
export function liveResult(
  { publication, index = '', date = '', counts, seconds = {}, unknown_labels = {}, notes = [] }: LiveEvent,
  differences: readonly string[],
): Extract<PublishResult, { state: 'live' }> {
  const { rows, licenses, endorsements, rejected } = counts ?? NO_COUNTS;
  const took = Object.values(seconds).reduce((sum, each) => sum + each, 0);
  return {
    state: 'live',
    publication,
    index,
    date,
    ...{ rows, licenses, endorsements, rejected },
    seconds: Math.round(took * 10) / 10,
    rows_per_second: took === 0 ? 0 : Math.round(rows / took),
    unknown_labels,
    notes,
    canary_differences: [...differences],
  };
}

const NO_COUNTS = { rows: 0, licenses: 0, endorsements: 0, rejected: 0 };
