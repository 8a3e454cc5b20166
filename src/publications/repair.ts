import { trimmedFeed } from '../changes/feed.ts';
import { readSegments, segmentId } from '../changes/segments.ts';
import { countChangesOfEpoch } from '../changes/stored-changes.ts';
import { pagesOf, type StoredDocument } from '../storage/checked-search.ts';
import { type DocumentChecks, documentsAtOnce, STORED_INDICES } from '../storage/collection.ts';
import { responseStatus } from '../storage/errors.ts';
import type { Store } from '../storage/store.ts';
import type { BadDocument } from '../storage/stored.ts';
import { deleteUnlessLive, EPOCH_ID, LEDGER_EPOCH } from './fence.ts';
import { readEvents } from './ledger.ts';
import { feedOf } from './live-feed.ts';
import {
  checkedIndices,
  indicesUnderAlias,
  licensesIndices,
  META_ID,
  readableLiveIndex,
  writeMetadata,
} from './metadata.ts';

/** A document that is not valid, and what was done about it. */
export interface Repaired extends BadDocument {
  readonly action: 'none' | 'repaired' | 'deleted';
}

interface Finding extends BadDocument {
  readonly repair: () => Promise<Repaired['action']>;
}

/**
 * Finds what is stored and not valid: metadata of publications, documents, and changes that are missing in the live
 * feed.
 *
 * @param isRepaired whether it is replaced by what is left of it, or deleted, too
 */
export async function repairStored(
  store: Store,
  checks: DocumentChecks,
  isRepaired: boolean,
): Promise<Repaired[]> {
  const found: Repaired[] = [];
  // In this order: a change that is deleted as not valid is missing in the feed.
  for (const findings of [badMetadata(store), badDocuments(store, checks), feedHoles(store)]) {
    for await (const { repair, ...bad } of findings)
      found.push({ ...bad, action: isRepaired ? await repair() : 'none' });
  }
  return found;
}

/** Where too little is left of the metadata, the index is deleted unless it is live: no rollback can go back to it. */
async function* badMetadata(store: Store): AsyncGenerator<Finding> {
  const live = await indicesUnderAlias(store);
  for (const { index, isOurs, kept, problem } of await checkedIndices(store, store.names.licensesPattern)) {
    const isLive = live.includes(index);
    if (problem === undefined || !(isOurs || isLive)) continue;
    const repair = async () => {
      if (kept === undefined) return (await deleteUnlessLive(store, index)) ? 'deleted' : 'none';
      await store.client.indices.putMapping({ index, body: { [META_ID]: kept } });
      return 'repaired';
    };
    yield { index, id: META_ID, problem, repair };
  }
}

async function* badDocuments(store: Store, checks: DocumentChecks): AsyncGenerator<Finding> {
  for (const key of STORED_INDICES) {
    const index = store.names[key];
    for await (const page of pagesOf(store.client, index, documentsAtOnce(key))) {
      for (const stored of page) {
        const { _id: id, _source } = stored;
        const { kept, problem } = checks[key](_source, id);
        if (problem === undefined) continue;
        const isEpoch = key === 'ledger' && id === EPOCH_ID;
        const repair = () => (isEpoch ? repairEpoch(store) : replace(store, index, stored, kept));
        yield { index, id, problem, repair };
      }
    }
  }
}

const CONFLICT = 409;

/** Puts what is left of a document in its place, or deletes it. What somebody else writes meanwhile stays. */
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

/** Where changes are missing, the feed is made to begin after them: cursors before them get 410. */
async function* feedHoles(store: Store): AsyncGenerator<Finding> {
  const live = await readableLiveIndex(store);
  if (live === undefined) return;
  const state = await feedOf(store, live.metadata);
  for (const [at, [epoch, changes]] of state.segments.entries()) {
    const stored = await countChangesOfEpoch(store, state, epoch);
    if (stored >= changes) continue;
    const repair = async () => {
      const [last] = await readSegments(store, { ...state, segments: [[epoch, changes]] });
      const feed = trimmedFeed(state, at + 1, last?.date ?? live.metadata.date);
      await writeMetadata(store.client, live.index, { ...live.metadata, feed });
      return 'repaired' as const;
    };
    const problem = `${stored} of ${changes} changes`;
    yield { index: store.names.changes, id: segmentId(epoch), problem, repair };
  }
}

/** Writes the greatest epoch that the ledger and the indices know, in place of one that is missing or not valid. */
export async function repairEpoch(store: Store): Promise<'repaired'> {
  const [events, indices] = await Promise.all([readEvents(store), licensesIndices(store)]);
  const known = [...events.map(({ epoch }) => epoch ?? 0), ...indices.map(({ metadata }) => metadata.epoch)];
  const epoch = known.reduce((one, other) => Math.max(one, other), 0);
  await LEDGER_EPOCH.put(store, EPOCH_ID, { epoch, holder: 'repair', uses: [], deletes: [] });
  return 'repaired';
}
