import { z } from 'zod';
import { search } from '../storage/checked-search.ts';
import type { Store } from '../storage/store.ts';
import { liveLicensesIndex } from './alias.ts';
import { PUBLICATION_STATES } from './steps.ts';

/** What metrics tell of the ledger. */
export interface PublicationTimes {
  /** When each kind of event happened last, in milliseconds of Unix time. */
  readonly lastEvents: ReadonlyMap<string, number>;
  /** The run date of the live publication, and how many answers its canary found to differ. */
  readonly live: { readonly date: string; readonly differences: number } | undefined;
}

const timesResponse = z.object({
  hits: z.object({
    hits: z.array(z.object({ _source: z.object({ event: z.enum(PUBLICATION_STATES), at: z.string() }) })),
  }),
});

const canaryResponse = z.object({
  hits: z.object({ hits: z.array(z.object({ _source: z.object({ differences: z.array(z.string()) }) })) }),
});

/** Reads only the times of events, however many the ledger has. */
export async function publicationTimes(store: Store): Promise<PublicationTimes> {
  const [times, live] = await Promise.all([
    search(store.client, timesResponse, {
      index: store.names.ledger,
      body: {
        size: PUBLICATION_STATES.length,
        _source: ['event', 'at'],
        query: { terms: { event: [...PUBLICATION_STATES] } },
        collapse: { field: 'event' },
        sort: [{ at: 'desc' }],
      },
    }),
    liveLicensesIndex(store),
  ]);
  return {
    lastEvents: new Map(times.hits.hits.map(({ _source: { event, at } }) => [event, Date.parse(at)])),
    live: live && {
      date: live.metadata.date,
      differences: await canaryDifferences(store, live.metadata.publication),
    },
  };
}

async function canaryDifferences(store: Store, publication: string): Promise<number> {
  const { hits } = await search(store.client, canaryResponse, {
    index: store.names.ledger,
    body: {
      size: 1,
      _source: ['differences'],
      query: { bool: { filter: [{ term: { publication } }, { term: { event: 'canary_failed' } }] } },
      sort: [{ at: 'desc' }],
    },
  });
  return hits.hits[0]?._source.differences.length ?? 0;
}
