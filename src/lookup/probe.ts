import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@opensearch-project/opensearch';
import { LRUCache } from 'lru-cache';
import { boardByName } from '../licenses/boards.ts';
import { type LivePublicationTracker, withLivePublication } from '../publications/live.ts';
import { lookUp } from './lookup-steps.ts';
import { SEARCH_LIMITS, searchByIndex, TIMEOUT_MS } from './service.ts';

const KNOWN_FOR_MS = 1000;

/**
 * Whether lookups are answered: one license of the live publication is looked up by its number, as a client does. It
 * waits behind no client's lookup, and counts among none. It costs one small request in a second at the most.
 */
export function lookupProbe(client: Client, tracker: LivePublicationTracker): () => Promise<boolean> {
  const searchIn = searchByIndex(client, SEARCH_LIMITS);

  function isSampleFound(): Promise<boolean> {
    return withLivePublication(tracker, async ({ index, sample }) => {
      if (sample === undefined) return false;
      const { board, license_number: number } = sample;
      const request = { by: 'number', number, board: boardByName(board), businessOnly: false } as const;
      const outcome = await lookUp(request, searchIn(index), undefined);
      return outcome.outcome === 'record' || ('reason' in outcome && outcome.reason === 'ambiguous');
    });
  }

  const known = new LRUCache<'answer', boolean>({
    max: 1,
    ttl: KNOWN_FOR_MS,
    fetchMethod: async () => {
      // The tracker asks for the first publication by itself.
      if (tracker.current() === undefined) return false;
      const tooLate = sleep(TIMEOUT_MS, false, { ref: false });
      return Promise.race([isSampleFound(), tooLate]).catch(() => false);
    },
  });
  return async () => (await known.fetch('answer')) === true;
}
