import { readEpoch, takeEpochAfter } from '../../src/publications/fence.ts';
import { indicesUnderAlias } from '../../src/publications/metadata.ts';
import type { Store } from '../../src/storage/store.ts';

/** Takes the next epoch, like a publication or rollback that does not change the live publication. */
export async function takeEpoch(store: Store, holder: string): Promise<number> {
  for (;;) {
    const read = await readEpoch(store);
    const epoch = await takeEpochAfter(store, read, holder, await indicesUnderAlias(store));
    if (epoch !== undefined) return epoch;
  }
}
