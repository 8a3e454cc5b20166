import type { ChangeCause } from '../../src/changes/change.ts';
import { type DifferingLicense, differingLicenses, storedRecords } from '../../src/changes/compare.ts';
import {
  DIGEST_PARTS,
  type DigestEntry,
  hasDigest,
  recordHash,
  writeDigest,
} from '../../src/changes/digest.ts';
import { type FeedState, keptFeed, newFeed, nextFeed } from '../../src/changes/feed.ts';
import {
  changeMaker,
  changeOperation,
  type FeedChanges,
  withoutChanges,
} from '../../src/changes/stored-changes.ts';
import { numberKey } from '../../src/licenses/fold.ts';
import { recordText } from '../../src/licenses/license.ts';
import { writeLicenseTypes } from '../../src/publications/license-types.ts';
import { feedOf, feedWithoutLive } from '../../src/publications/live-feed.ts';
import type { LicensesIndex } from '../../src/publications/metadata.ts';
import { rejectedNumbers } from '../../src/publications/rejected-rows.ts';
import { BadDocumentError } from '../../src/storage/stored.ts';
import { guardComparison, guardedComparison } from './board-guards.ts';
import type { Built } from './build.ts';
import { type ChangeFile, changeFile } from './change-file.ts';
import { namesOf } from './guards.ts';
import { sendBatches } from './load.ts';
import type { PublishRun } from './run.ts';
import { licenseTypes, type Tally, tallySummary } from './tally.ts';

/** Stores what the next publication is compared with. */
export async function keepDigest({ store }: PublishRun, { index, tally }: Built): Promise<void> {
  await correctRefused(store, index, tally);
  await writeDigest(store, index, tally.digest);
  await writeLicenseTypes(store, index, licenseTypes(tally));
}

const MS_A_DAY = 86_400_000;

/**
 * Compares the loaded licenses with the live publication, asks the guards, and stores what changed. The changes become
 * visible when the publication goes live.
 *
 * @throws {RefusedError} when a guard refuses what changed; then no change is stored
 */
export async function compare(run: PublishRun, built: Built): Promise<FeedChanges> {
  const { store, live } = run;
  const { metadata } = built;
  run.enter('comparing');
  if (live === undefined) return withoutChanges(await feedWithoutLive(store, metadata));
  if (live.metadata.sample && !metadata.sample) return withoutChanges(newFeed(metadata));

  const keptSince = new Date(Date.now() - run.config.CHANGES_KEPT_DAYS * MS_A_DAY).toISOString();
  const feed = keptFeed(await feedOf(store, live), keptSince);
  try {
    if (await hasDigest(store, live.index)) return await withChanges(run, live, built, feed);
  } catch (error) {
    if (!(error instanceof BadDocumentError)) throw error;
  }
  run.notes.push('The digest of the live publication is missing, so what changed was not compared.');
  return withoutChanges(nextFeed(feed, 'after_gap', metadata));
}

async function withChanges(
  run: PublishRun,
  live: LicensesIndex,
  built: Built,
  feed: FeedState,
): Promise<FeedChanges> {
  const maker = changeMaker(feed, built.metadata, {
    dateBefore: live.metadata.date,
    newFields: built.newFields,
  });
  const file = await changeFile(run.config.STATE_DIR);
  try {
    await askGuards(run, live, built, async (license, cause) => {
      const change = maker.make(license, cause);
      if (change !== undefined && !run.isCheck) await file.add(changeOperation(change));
    });
    if (run.isCheck) return withoutChanges(feed);
    await storeChanges(run, file, maker.total());
    return await maker.finish(run.store);
  } finally {
    await file.close();
  }
}

/**
 * Compares, and asks the guards once all differences are known.
 *
 * @param onDifference gets each license that differs
 * @throws {RefusedError} when a guard refuses what changed
 */
async function askGuards(
  run: PublishRun,
  live: LicensesIndex,
  built: Built,
  onDifference: (license: DifferingLicense, cause: ChangeCause) => Promise<void>,
): Promise<void> {
  const { store, config, baseline, signal, job } = run;
  const { index, tally, goneColumns, newColumns } = built;
  const rejected = { now: tally.rejectedNumbers, before: await rejectedNumbers(store, live.metadata) };
  const accepted = (job.accept ?? []).map((each) => each.split(':'));
  const compared = guardedComparison(
    tally,
    {
      goneColumns: namesOf(goneColumns),
      boards: live.metadata.boards ?? {},
      newColumns,
      acceptedColumns: new Set(accepted.flatMap(([, column]) => column?.toUpperCase() ?? [])),
      acceptedChecks: new Set(
        accepted.flatMap(([check = '', column]) => (column === undefined ? check : [])),
      ),
    },
    config,
  );
  const licenses = tally.counts.licenses + tally.counts.endorsements;
  const groups = differingLicenses(store, {
    ...{ before: live.index, after: index, signal },
    parts: tally.digest.parts(),
    onPart: (parts) => run.advance(Math.round((licenses * parts) / DIGEST_PARTS), licenses),
  });
  for await (const group of groups) {
    for (const license of group) {
      const cause = causeOf(license, rejected);
      compared.add(license, cause);
      await onDifference(license, cause);
    }
  }
  if (baseline === undefined) return;
  const { judgements, notes } = guardComparison(compared, config);
  run.enforce(judgements, tallySummary(tally));
  run.notes.push(...notes);
}

async function storeChanges(run: PublishRun, file: ChangeFile, total: number): Promise<void> {
  const { store, signal, giveUpAfterMs } = run;
  if (total === 0) return;
  run.enter('storing changes');
  let stored = 0;
  const onLoaded = (count: number) => {
    stored += count;
    run.advance(stored, total);
  };
  await sendBatches(store.client, store.names.changes, file.batches(), { signal, giveUpAfterMs, onLoaded });
}

/** @param rejected the numbers in rows that could not be read, now and in the live publication */
function causeOf(
  { license, kind, isSameRow }: DifferingLicense,
  rejected: Readonly<Record<'now' | 'before', ReadonlySet<string>>>,
): ChangeCause {
  const number = numberKey(license.slice(license.indexOf('/') + 1));
  switch (kind) {
    case 'changed':
      return isSameRow ? 'release' : 'data';
    case 'removed':
      return rejected.now.has(number) ? 'rejected_row' : 'data';
    case 'added':
      return rejected.before.has(number) ? 'rejected_row' : 'data';
  }
}

const LICENSES_A_REQUEST = 250;
const ROW_HASH_CHARACTERS = 8;

/** Of a license that several rows have, or that OpenSearch refused, the digest gets what the index has. */
async function correctRefused(
  store: PublishRun['store'],
  index: string,
  { digest, refused }: Pick<Tally, 'digest' | 'refused'>,
): Promise<void> {
  const ids = [...refused];
  const entries: DigestEntry[] = [];
  for (let first = 0; first < ids.length; first += LICENSES_A_REQUEST) {
    const records = await storedRecords(store.client, index, ids.slice(first, first + LICENSES_A_REQUEST));
    for (const [id, found] of records) {
      const record = recordHash(recordText(found));
      // Which of the rows it is from is not known, so its row counts as changed when the record is.
      entries.push({ id, record, row: Number.parseInt(record.slice(0, ROW_HASH_CHARACTERS), 16) });
    }
  }
  digest.replace(refused, entries);
}
