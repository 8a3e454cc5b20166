import type { ChangeCause, StoredChange } from '../../src/changes/change.ts';
import {
  type Difference,
  differences,
  hasDigest,
  readDigest,
  recordHash,
  writeDigest,
} from '../../src/changes/digest.ts';
import { type FeedState, newFeed, TooManyChangesError } from '../../src/changes/feed.ts';
import { keptFeed } from '../../src/changes/segments.ts';
import {
  changeWriter,
  type FeedChanges,
  recordsOf,
  withoutChanges,
} from '../../src/changes/stored-changes.ts';
import { addTo } from '../../src/licenses/counts.ts';
import { numberKey } from '../../src/licenses/fold.ts';
import { recordText } from '../../src/licenses/license.ts';
import { writeLicenseTypes } from '../../src/publications/license-types.ts';
import { feedAfterGap, feedOf, feedWithoutLive } from '../../src/publications/live-feed.ts';
import type { LicensesIndex } from '../../src/publications/metadata.ts';
import { rejectedNumbers } from '../../src/publications/rejected-rows.ts';
import { BadDocumentError } from '../../src/storage/stored.ts';
import type { Built } from './build.ts';
import type { Digests } from './digests.ts';
import { type ChangedLicenses, guardChanges } from './guards.ts';
import { type PublishRun, refusal } from './run.ts';
import { licenseTypes } from './tally.ts';

const LICENSES_A_REQUEST = 250;

/**
 * Compares the loaded licenses with the live publication, stores what changed, and keeps the digest for the next
 * comparison. The changes become visible when the publication goes live.
 *
 * @throws {RefusedError} when too many licenses changed
 */
export async function compare(run: PublishRun, built: Built): Promise<FeedChanges> {
  const { store, live } = run;
  const { index, metadata, digests } = built;
  run.enter('comparing');
  await correctRefused(run, index, digests);
  await writeDigest(store, index, digests.digest);
  await writeLicenseTypes(store, index, licenseTypes(built.tally));
  if (live === undefined) return withoutChanges(await feedWithoutLive(store, metadata));
  if (live.metadata.sample && !metadata.sample) return withoutChanges(newFeed(metadata));

  const feed = await keptFeed(store, await feedOf(store, live.metadata), run.config.CHANGES_KEPT_DAYS);
  try {
    if (await hasDigest(store, live.index)) return await storeChanges(run, live, built, feed);
  } catch (error) {
    if (error instanceof TooManyChangesError) {
      run.enforce([refusal('many_changes', `${error.message} If forced, a new feed of changes starts.`)]);
    } else if (!(error instanceof BadDocumentError)) throw error;
  }
  // Without the live publication's digest, what changed is not known.
  return withoutChanges(await feedAfterGap(store, feed, metadata));
}

async function storeChanges(
  run: PublishRun,
  live: LicensesIndex,
  { index, metadata, digests }: Built,
  feed: FeedState,
): Promise<FeedChanges> {
  const { store, config, job } = run;
  const indices = { before: live.index, after: index, dateBefore: live.metadata.date };
  const writer = changeWriter(store, indices, feed, metadata, digests.newFields);
  const rejected = { now: digests.rejectedNumbers, before: await rejectedNumbers(store, live.metadata) };
  const counted: ChangedLicenses = { licenses: 0, boards: new Map(), fields: new Map() };
  const reasons = () => guardChanges(counted, run.baseline, config);
  for await (const group of groupsOfDifferences(run, live, digests)) {
    run.signal.throwIfAborted();
    const differing = group.map((each): Differing => ({ ...each, cause: causeOf(each, rejected) }));
    // What the guard refuses needs no further changes, only their number.
    const isRefused = job.force === undefined && reasons().length > 0;
    const changes = isRefused ? differing : await writer.write(differing);
    for (const change of changes) countForGuard(counted, change);
  }
  run.enforce(reasons());
  return writer.finish();
}

/** A license that is not the same in two publications, and why. */
type Differing = Pick<StoredChange, 'license' | 'kind' | 'cause'>;

/** All differences from the live publication, in groups that are read and written together. */
async function* groupsOfDifferences(
  { store }: PublishRun,
  live: LicensesIndex,
  { digest }: Digests,
): AsyncGenerator<readonly Difference[], void, undefined> {
  let group: Difference[] = [];
  let part = 0;
  for await (const before of readDigest(store, live.index)) {
    for (const difference of differences(before, digest.part(part))) {
      group.push(difference);
      if (group.length === LICENSES_A_REQUEST) {
        yield group;
        group = [];
      }
    }
    part += 1;
  }
  if (group.length > 0) yield group;
}

/** @param rejected the numbers in rows that could not be read, now and in the live publication */
function causeOf(
  { license, kind, isSameRow }: Difference,
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

function countForGuard(
  counted: ChangedLicenses,
  { license, kind, cause, fields = {} }: Differing & Partial<Pick<StoredChange, 'fields'>>,
): void {
  if (kind === 'added' || cause !== 'data') return;
  counted.licenses += 1;
  addTo(counted.boards, license.slice(0, license.indexOf('/')));
  for (const name of Object.keys(fields)) addTo(counted.fields, name);
}

/** Of a license that several rows have, or that OpenSearch refused, the digest gets what the index has. */
async function correctRefused(
  { store }: PublishRun,
  index: string,
  { digest, refused }: Digests,
): Promise<void> {
  const ids = [...refused];
  for (let first = 0; first < ids.length; first += LICENSES_A_REQUEST) {
    const some = ids.slice(first, first + LICENSES_A_REQUEST);
    const records = await recordsOf(store, index, some);
    for (const id of some) {
      const found = records.get(id);
      const record = found && recordHash(recordText(found));
      digest.replace(id, record === undefined ? undefined : { id, record, row: rowOfRecord(record) });
    }
  }
}

const ROW_HASH_CHARACTERS = 8;

/** Which of the rows it is from is not known, so its row counts as changed when the record is. */
function rowOfRecord(record: string): number {
  return Number.parseInt(record.slice(0, ROW_HASH_CHARACTERS), 16);
}
