import type { Store } from '../storage/store.ts';
import { readableLiveIndex } from './alias.ts';
import { LEDGER_EVENTS } from './ledger.ts';
import { PUBLICATION_STATES } from './steps.ts';

/** What metrics tell of the ledger. */
export interface PublicationTimes {
  /** When each kind of event happened last, in milliseconds of Unix time. */
  readonly lastEvents: ReadonlyMap<string, number>;
  /** The run date of the live publication, and how many answers its canary found to differ. */
  readonly live: { readonly date: string; readonly differences: number } | undefined;
}

/** What an event can't be without. */
const NEEDED = ['publication', 'event', 'at'];

/** Reads only the times of events, however many the ledger has. An event that is not valid is left out. */
export async function publicationTimes(store: Store): Promise<PublicationTimes> {
  const [times, live] = await Promise.all([
    LEDGER_EVENTS.search(store, {
      size: PUBLICATION_STATES.length,
      _source: NEEDED,
      query: { terms: { event: [...PUBLICATION_STATES] } },
      collapse: { field: 'event' },
      sort: [{ at: 'desc' }],
    }),
    readableLiveIndex(store),
  ]);
  return {
    lastEvents: new Map(times.documents.map(({ event, at }) => [event, Date.parse(at)])),
    live: live && {
      date: live.metadata.date,
      differences: await canaryDifferences(store, live.metadata.publication),
    },
  };
}

async function canaryDifferences(store: Store, publication: string): Promise<number> {
  const { documents } = await LEDGER_EVENTS.search(store, {
    size: 1,
    _source: [...NEEDED, 'differences'],
    query: { bool: { filter: [{ term: { publication } }, { term: { event: 'canary_failed' } }] } },
    sort: [{ at: 'desc' }],
  });
  return documents[0]?.differences?.length ?? 0;
}
