import type { ChangeCause } from '../../src/changes/change.ts';
import { type ChangeCounter, type ChangeCounts, changeCounter, noChanges } from '../../src/changes/counts.ts';
import { type Difference, differences } from '../../src/changes/difference.ts';
import { recordHash } from '../../src/changes/digest.ts';
import { readDigest, writeDigest } from '../../src/changes/digest-store.ts';
import { extendedFeed, type FeedState, newFeed, TooManyChangesError } from '../../src/changes/feed-state.ts';
import type { ChangeOrigin } from '../../src/changes/make-change.ts';
import { recordsOf } from '../../src/changes/records.ts';
import { keptFeed } from '../../src/changes/segment.ts';
import { storeDifferences } from '../../src/changes/store-differences.ts';
import { writeSegment } from '../../src/changes/write-changes.ts';
import { addTo } from '../../src/licenses/counts.ts';
import { recordText } from '../../src/licenses/license-document.ts';
import { feedAfterGap, feedOf, feedWithoutLive } from '../../src/publications/copy-feed.ts';
import type { LicensesIndex } from '../../src/publications/metadata.ts';
import { type NumbersOfRejectedRows, numbersRejectedBy } from '../../src/publications/rejected-rows.ts';
import { BadDocumentError } from '../../src/storage/stored.ts';
import type { Built } from './build.ts';
import type { Digests } from './digests.ts';
import { type ChangedLicenses, guardChanges } from './guards.ts';
import { baselineOf } from './prepare.ts';
import { refusal } from './refusal.ts';
import type { PublishRun } from './run.ts';

/** What a publication makes of the feed. */
export interface Compared {
  readonly feed: FeedState;
  readonly changes: ChangeCounts;
}

const LICENSES_A_REQUEST = 250;

/**
 * Compares the loaded licenses with the live publication, stores what changed, and keeps the digest for the next
 * comparison. The changes become visible when the publication goes live.
 *
 * @throws {RefusedError} when too many licenses changed
 */
export async function compare(run: PublishRun, built: Built): Promise<Compared> {
  const { store, live } = run;
  const { index, metadata, digests } = built;
  run.enter('comparing');
  await settleRefused(run, index, digests);
  await writeDigest(store, index, digests.kept, digests.columns);
  if (live === undefined) return { feed: await feedWithoutLive(store, metadata), changes: noChanges() };
  if (live.metadata.sample && !metadata.sample) return { feed: newFeed(metadata), changes: noChanges() };

  const before = await keptFeed(store, await feedOf(store, live.metadata), run.config.CHANGES_KEPT_DAYS);
  const unknown = async () => ({ feed: await feedAfterGap(store, before, metadata), changes: noChanges() });
  if (digests.comparable.individual === undefined) return unknown();
  const { epoch, publication, date } = metadata;
  const origin: ChangeOrigin = { feed: before.feed, epoch, at: new Date().toISOString(), publication, date };
  try {
    const counter = await storeChanges(run, live, built, origin);
    const changes = counter.counts();
    await writeSegment(store, { ...origin, counts: changes });
    return { feed: extendedFeed(before, epoch, counter.total()), changes };
  } catch (error) {
    // Without the live publication's digest, what changed is not known.
    if (error instanceof BadDocumentError) return unknown();
    if (!(error instanceof TooManyChangesError)) throw error;
    run.enforce([refusal('many_changes', `${error.message} If forced, the feed of changes begins anew.`)]);
    return unknown();
  }
}

async function storeChanges(
  run: PublishRun,
  live: LicensesIndex,
  { index, digests }: Built,
  origin: ChangeOrigin,
): Promise<ChangeCounter> {
  const { store, config, job } = run;
  const counter = changeCounter();
  const many: ChangedLicenses = { licenses: 0, boards: new Map(), fields: new Map() };
  const tooMany = () => guardChanges(many, baselineOf(run), config);
  const indices = { before: live.index, after: index };
  const rejected = numbersRejectedBy(store, live.metadata, digests);
  for await (const group of groups(store, live.index, digests)) {
    run.signal.throwIfAborted();
    const candidates = await Promise.all(
      group.map(async (difference) => ({
        license: difference.id,
        cause: await causeOf(difference, rejected),
      })),
    );
    // What the guard refuses needs no further changes, only their number.
    const isRefused = job.force === undefined && tooMany().length > 0;
    for (const [at, difference] of group.entries()) countForGuard(many, difference, candidates[at]?.cause);
    if (isRefused) continue;
    const changes = await storeDifferences(store, indices, candidates, origin, counter);
    for (const { fields } of changes) for (const name of Object.keys(fields)) addTo(many.fields, name);
  }
  run.enforce(tooMany());
  return counter;
}

/** All differences from the live publication, in groups that are read and written together. */
async function* groups(
  store: PublishRun['store'],
  liveIndex: string,
  { compared }: Digests,
): AsyncGenerator<readonly Difference[], void, undefined> {
  let group: Difference[] = [];
  let part = 0;
  for await (const before of readDigest(store, liveIndex)) {
    for (const difference of differences(before, compared.part(part))) {
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

async function causeOf(
  { id, kind, rowBefore, rowAfter }: Difference,
  rejected: NumbersOfRejectedRows,
): Promise<ChangeCause> {
  const number = id.slice(id.indexOf('/') + 1);
  switch (kind) {
    case 'changed':
      return rowBefore === rowAfter ? 'release' : 'data';
    case 'removed':
      return rejected.now(number) ? 'rejected_row' : 'data';
    case 'added':
      return (await rejected.before(number)) ? 'rejected_row' : 'data';
  }
}

function countForGuard(
  many: ChangedLicenses,
  { id, kind }: Difference,
  cause: ChangeCause | undefined,
): void {
  if (kind === 'added' || cause !== 'data') return;
  many.licenses += 1;
  addTo(many.boards, id.slice(0, id.indexOf('/')));
}

/** Of a license that several rows have, or that OpenSearch refused, the digest has what the index has. */
async function settleRefused(
  { store }: PublishRun,
  index: string,
  { kept, compared, refused }: Digests,
): Promise<void> {
  const ids = [...refused];
  for (let first = 0; first < ids.length; first += LICENSES_A_REQUEST) {
    const some = ids.slice(first, first + LICENSES_A_REQUEST);
    const records = await recordsOf(store, index, some);
    for (const id of some) {
      const found = records.get(id);
      const record = found && recordHash(recordText(found));
      const entry = record === undefined ? undefined : { id, record, row: rowOfRecord(record) };
      kept.settle(id, entry);
      compared.settle(id, entry);
    }
  }
}

const ROW_HASH_CHARACTERS = 8;

/** Which of the rows it is from is not known, so its row counts as changed when the record is. */
function rowOfRecord(record: string): number {
  return Number.parseInt(record.slice(0, ROW_HASH_CHARACTERS), 16);
}
