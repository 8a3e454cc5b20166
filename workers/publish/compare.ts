import type { ChangeCause } from '../../src/changes/change.ts';
import { type ChangeCounter, type ChangeCounts, changeCounter, noChanges } from '../../src/changes/counts.ts';
import { type Difference, differences } from '../../src/changes/difference.ts';
import { recordHash } from '../../src/changes/digest.ts';
import { readDigest, writeDigest } from '../../src/changes/digest-store.ts';
import { readFeedCopy } from '../../src/changes/feed-copy.ts';
import { extendedFeed, type FeedState, newFeed } from '../../src/changes/feed-state.ts';
import type { ChangeOrigin } from '../../src/changes/make-change.ts';
import { recordsOf } from '../../src/changes/records.ts';
import { keptFeed } from '../../src/changes/segment.ts';
import { storeDifferences } from '../../src/changes/store-differences.ts';
import { writeSegment } from '../../src/changes/write-changes.ts';
import { addTo } from '../../src/licenses/counts.ts';
import { recordText } from '../../src/licenses/license-document.ts';
import { feedOf, type LicensesIndex } from '../../src/publications/metadata.ts';
import { BadDocumentError } from '../../src/storage/stored.ts';
import type { Built } from './build.ts';
import type { Digests } from './digests.ts';
import { changedTooMany, type ManyChanges } from './guards.ts';
import { baselineOf } from './prepare.ts';
import { type NumbersOfRejectedRows, numbersRejectedBy } from './rejected-numbers.ts';
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
  if (live === undefined) return { feed: await restoredFeed(run, built), changes: noChanges() };
  if (!isComparable(live, built)) return { feed: newFeed(metadata), changes: noChanges() };

  const before = await keptFeed(store, feedOf(live.metadata), run.config.CHANGES_KEPT_DAYS);
  const origin: ChangeOrigin = {
    feed: before.feed,
    epoch: run.epoch,
    at: new Date().toISOString(),
    publication: metadata.publication,
    date: metadata.date,
  };
  const counter = await storeChanges(run, live, built, origin).catch(ifDigestIsBad);
  if (counter === undefined) return { feed: newFeed(metadata), changes: noChanges() };
  const changes = counter.counts();
  await writeSegment(store, { ...origin, counts: changes });
  return { feed: extendedFeed(before, run.epoch, counter.total()), changes };
}

/** Without the live publication's digest, what changed is not known. */
function ifDigestIsBad(error: unknown): undefined {
  if (!(error instanceof BadDocumentError)) throw error;
}

/** A feed begins anew where there is nothing to compare with, and where real data replaces sample data. */
function isComparable({ metadata }: LicensesIndex, built: Built): boolean {
  return built.digests.comparable.individual !== undefined && (!metadata.sample || built.metadata.sample);
}

/** After a restore, the feed of the backup goes on where the same files are published again. */
async function restoredFeed({ store, epoch }: PublishRun, { metadata }: Built): Promise<FeedState> {
  const { sources, publication, date } = metadata;
  const copy = await readFeedCopy(store);
  const isSame =
    copy?.sha256.individual === sources?.individual.sha256 &&
    copy?.sha256.business === sources?.business.sha256;
  if (copy === undefined || !isSame) return newFeed(metadata);
  const { feed } = copy;
  await writeSegment(store, {
    feed,
    epoch,
    at: new Date().toISOString(),
    publication,
    date,
    counts: noChanges(),
  });
  return extendedFeed(copy.state, epoch, 0);
}

async function storeChanges(
  run: PublishRun,
  live: LicensesIndex,
  { index, digests }: Built,
  origin: ChangeOrigin,
): Promise<ChangeCounter> {
  const { store, config, job } = run;
  const counter = changeCounter();
  const many: ManyChanges = { licenses: 0, boards: new Map(), fields: new Map() };
  const tooMany = () => changedTooMany(many, baselineOf(run), config);
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

function countForGuard(many: ManyChanges, { id, kind }: Difference, cause: ChangeCause | undefined): void {
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
