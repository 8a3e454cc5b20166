import { z } from 'zod';
import { changeCounts } from '../changes/counts.ts';
import { countsByName } from '../licenses/counts.ts';
import { search } from '../storage/checked-search.ts';
import { responseStatus } from '../storage/client.ts';
import type { Store } from '../storage/store.ts';
import { publicationCounts } from './metadata.ts';
import { PUBLICATION_STATES } from './steps.ts';

/** An event: a publication is in a new state, or its canary failed. */
const PUBLICATION_EVENTS = [...PUBLICATION_STATES, 'canary_failed'] as const;

const ledgerEvent = z.object({
  publication: z.string(),
  at: z.string(),
  event: z.enum(PUBLICATION_EVENTS),
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
  /** Of `live`: the changes of licenses that became visible with it. */
  changes: changeCounts.optional(),
  /** Why it was refused, failed or skipped; of a forced one, what the guards said. */
  reasons: z.array(z.string()).optional(),
  /** Of `canary_failed`: the lookups whose answers differed from the files. */
  differences: z.array(z.string()).optional(),
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

/** Appends an event, of now unless it says when; nothing in the ledger is ever changed. */
export async function appendEvent(store: Store, event: NewLedgerEvent): Promise<void> {
  await store.client.index({
    index: store.names.ledger,
    body: { at: new Date().toISOString(), ...event },
    refresh: true,
  });
}

const MAX_EVENTS = 10_000;

const eventsResponse = z.object({
  hits: z.object({ hits: z.array(z.object({ _source: ledgerEvent })) }),
});

/** The ledger's events, the earliest first; the last 10,000 of them. */
export async function readEvents(store: Store): Promise<LedgerEvent[]> {
  const response = await search(store.client, eventsResponse, {
    index: store.names.ledger,
    body: { size: MAX_EVENTS, query: { exists: { field: 'event' } }, sort: [{ _seq_no: 'desc' }] },
  });
  const { hits } = response.hits;
  return hits.map((hit) => hit._source).reverse();
}

const HAS_BEEN_LIVE: ReadonlySet<string> = new Set(['live', 'superseded', 'rolled_back']);

/** The physical indices that have been live at some time. */
export function indicesOnceLive(events: readonly LedgerEvent[]): Set<string> {
  return new Set(
    events.flatMap(({ event, index }) => (HAS_BEEN_LIVE.has(event) && index !== undefined ? [index] : [])),
  );
}

const EPOCH_ID = 'epoch';
const epochResponse = z.object({
  _seq_no: z.int(),
  _primary_term: z.int(),
  _source: z.object({ epoch: z.int(), holder: z.string() }),
});

/**
 * Takes the next epoch. From then on, no publication of an earlier epoch can go live.
 *
 * @param holder the publication or rollback that takes it
 */
export async function takeEpoch(store: Store, holder: string): Promise<number> {
  for (;;) {
    const last = await readEpoch(store);
    const epoch = (last?._source.epoch ?? 0) + 1;
    try {
      await store.client.index({
        index: store.names.ledger,
        id: EPOCH_ID,
        body: { epoch, holder },
        ...(last === undefined
          ? { op_type: 'create' as const }
          : { if_seq_no: last._seq_no, if_primary_term: last._primary_term }),
      });
      return epoch;
    } catch (error) {
      if (responseStatus(error) !== 409) throw error;
    }
  }
}

/** The epoch taken last; 0 before the first. */
export async function currentEpoch(store: Store): Promise<number> {
  return (await latestEpoch(store))?.epoch ?? 0;
}

/** The epoch taken last, and the publication or rollback that took it. */
export async function latestEpoch(store: Store): Promise<{ epoch: number; holder: string } | undefined> {
  return (await readEpoch(store))?._source;
}

async function readEpoch(store: Store): Promise<z.output<typeof epochResponse> | undefined> {
  try {
    const response = await store.client.get({ index: store.names.ledger, id: EPOCH_ID });
    return epochResponse.parse(response.body);
  } catch (error) {
    if (responseStatus(error) === 404) return undefined;
    throw error;
  }
}
