import { pagesOf, type StoredDocument } from './checked-search.ts';
import { type DocumentChecks, STORED_INDICES } from './collection.ts';
import { responseStatus } from './errors.ts';
import type { Store } from './store.ts';
import type { BadDocument } from './stored.ts';

/** A document that is not valid, and what was done about it. */
export interface Repaired extends BadDocument {
  readonly action: 'none' | 'repaired' | 'deleted';
}

/**
 * Finds the documents that are not valid, in every index of documents.
 *
 * @param isRepaired whether they are deleted, too, or replaced by what is left of them. What somebody else writes
 * meanwhile stays.
 */
export async function repairDocuments(
  store: Store,
  checks: DocumentChecks,
  isRepaired: boolean,
): Promise<Repaired[]> {
  const found: Repaired[] = [];
  for (const key of STORED_INDICES) {
    const index = store.names[key];
    for await (const page of pagesOf(store.client, index)) {
      for (const stored of page) {
        const { kept, problem } = checks[key](stored._source, stored._id);
        if (problem === undefined) continue;
        const action = isRepaired ? await replace(store, index, stored, kept) : 'none';
        found.push({ index, id: stored._id, problem, action });
      }
    }
  }
  return found;
}

const CONFLICT = 409;

/** Puts what is left of a document in its place, or deletes it. */
async function replace(
  { client }: Store,
  index: string,
  { _id: id, _seq_no, _primary_term }: StoredDocument,
  kept: object | undefined,
): Promise<Repaired['action']> {
  const version = { if_seq_no: _seq_no, if_primary_term: _primary_term, refresh: true } as const;
  try {
    if (kept === undefined) await client.delete({ index, id, ...version });
    else await client.index({ index, id, body: kept, ...version });
    return kept === undefined ? 'deleted' : 'repaired';
  } catch (error) {
    if (responseStatus(error) !== CONFLICT) throw error;
    return 'none';
  }
}
