import type { ChangeCause } from '../../src/changes/change.ts';
import { type DifferingLicense, differingLicenses } from '../../src/changes/compare.ts';
import { DIGEST_PARTS } from '../../src/changes/digest.ts';
import { type FeedState, keptFeed, newFeed } from '../../src/changes/feed.ts';
import {
  changeMaker,
  changeOperation,
  type FeedChanges,
  withoutChanges,
} from '../../src/changes/stored-changes.ts';
import { noneIfBad } from '../../src/changes/stored-feed.ts';
import { DAY_MS } from '../../src/licenses/dates.ts';
import { numberKey } from '../../src/licenses/fold.ts';
import { feedOf, feedWithoutLive } from '../../src/publications/live-feed.ts';
import type { LicensesIndex } from '../../src/publications/metadata.ts';
import { rejectedNumbers } from '../../src/publications/rejected-rows.ts';
import type { Batch } from './batch.ts';
import { guardedComparison } from './board-guards.ts';
import type { Built } from './build.ts';
import { changeFile } from './change-file.ts';
import { load } from './load.ts';
import type { PublishRun } from './run.ts';

type Compared = Pick<Built, 'index' | 'metadata' | 'tally' | 'goneColumns' | 'newColumns' | 'newFields'>;

/**
 * Compares the loaded licenses with the live publication, runs the guards on the changes, and stores the changes. They
 * become visible when the publication goes live.
 *
 * @throws {RefusedError} when a guard refuses the changes; then none is stored
 */
export async function compare(run: PublishRun, built: Compared): Promise<FeedChanges> {
  const { store, live } = run;
  const { metadata } = built;
  run.enter('comparing');
  if (live === undefined) return withoutChanges(await feedWithoutLive(store, metadata));
  if (live.metadata.sample)
    run.notes.push('Sample data was live, so no guard compared this publication with it.');
  if (live.metadata.sample && !metadata.sample) return withoutChanges(newFeed(metadata));

  const keptSince = new Date(Date.now() - run.config.CHANGES_KEPT_DAYS * DAY_MS).toISOString();
  const feed = keptFeed(await feedOf(store, live), keptSince);
  const changes = await withChanges(run, live, built, feed).catch(noneIfBad);
  if (changes !== undefined) return changes;
  run.notes.push('The digest of the live publication is missing, so what changed was not compared.');
  return withoutChanges(newFeed(metadata, feed));
}

/**
 * Compares the publications, runs the guards once all differences are known, and stores the changes.
 *
 * @throws {RefusedError} when a guard refuses the changes
 */
async function withChanges(
  run: PublishRun,
  live: LicensesIndex,
  { index, tally, metadata, ...columns }: Compared,
  feed: FeedState,
): Promise<FeedChanges> {
  const { store, config, signal, isCheck } = run;
  const { newFields } = columns;
  const maker = changeMaker(feed, metadata, { dateBefore: live.metadata.date, newFields });
  const rejected = { now: tally.rejectedNumbers, before: await rejectedNumbers(store, live.metadata) };
  const comparison = guardedComparison(tally.boards, live.metadata.boards ?? {}, columns, run);
  const licenses = tally.counts.licenses + tally.counts.endorsements;
  const groups = differingLicenses(store, {
    ...{ before: live.index, after: index, signal, parts: tally.digest.parts() },
    onPart: (parts) => run.advance(Math.round((licenses * parts) / DIGEST_PARTS), licenses),
  });
  const file = await changeFile(config.STATE_DIR);
  try {
    for await (const group of groups) {
      for (const license of group) {
        const cause = causeOf(license, rejected);
        comparison.add(license, cause);
        const change = maker.make(license, cause);
        if (change !== undefined && !isCheck) await file.add(changeOperation(change));
      }
    }
    if (run.baseline !== undefined) {
      const { judgements, notes } = comparison.judged();
      run.enforce(judgements);
      run.notes.push(...notes);
    }
    if (isCheck) return withoutChanges(feed);
    await storeChanges(run, file.batches(), maker.total());
    return await maker.finish(store);
  } finally {
    await file.close();
  }
}

async function storeChanges(run: PublishRun, batches: AsyncIterable<Batch>, total: number): Promise<void> {
  const { store, signal, giveUpAfterMs } = run;
  if (total === 0) return;
  run.enter('storing changes');
  let stored = 0;
  const onLoaded = (count: number) => {
    stored += count;
    run.advance(stored, total);
  };
  await load(store.client, store.names.changes, batches, { signal, giveUpAfterMs, onLoaded });
}

/** @param rejected the numbers in rejected rows, of this publication and of the live one */
function causeOf(
  { license, kind, isSameRow }: DifferingLicense,
  rejected: Readonly<Record<'now' | 'before', ReadonlySet<string>>>,
): ChangeCause {
  const number = numberKey(license.slice(license.indexOf('/') + 1));
  if (kind === 'changed') return isSameRow ? 'release' : 'data';
  return rejected[kind === 'removed' ? 'now' : 'before'].has(number) ? 'rejected_row' : 'data';
}
