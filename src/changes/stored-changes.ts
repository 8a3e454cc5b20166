import { addTo } from '../licenses/counts.ts';
import { numberKey } from '../licenses/fold.ts';
import type { LicenseRecord } from '../licenses/license.ts';
import { bulk } from '../storage/checked-search.ts';
import { collection } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';
import {
  type ChangeCause,
  type ChangeKind,
  changedFields,
  type FieldChange,
  isPlaceField,
  RENUMBERED,
  type StoredChange,
  storedChange,
} from './change.ts';
import type { DifferingLicense } from './compare.ts';
import { type FeedBeginning, type FeedState, lastOf, positionOf, switchesOf } from './feed.ts';
import { type ChangeCounts, onceForEach } from './stored-feed.ts';

/** The changes, under their positions. */
export const CHANGES = collection('changes', storedChange, { isStoredUnder: isAtPosition });

function isAtPosition(id: string, { position }: Pick<StoredChange, 'position'>): boolean {
  return id === String(position);
}

/** The index has other documents of the feed, too. */
const IS_CHANGE = { exists: { field: 'position' } };

const CHANGES_A_PAGE = 1000;

/** The search of the next changes that match, in the order of their places. */
function inOrder(filter: readonly object[], size: number) {
  const query = { bool: { filter: [...filter, IS_CHANGE] } };
  return { query, sort: [{ position: 'asc' as const }], size };
}

/** All changes that match, the oldest first, in pages. */
function changePages(store: Store, filter: readonly object[]) {
  return CHANGES.pages(store, inOrder(filter, CHANGES_A_PAGE));
}

/** The changes that a publication made of the live feed, in pages. */
export function changesOfPublication(store: Store, state: FeedState, publication: string) {
  return changePages(store, [visible(state), { term: { publication } }]);
}

const HEAD = { position: true, license: true, board: true, kind: true, cause: true, ...RENUMBERED } as const;

/** What says which changes are asked for, and which license each is of. */
export const CHANGE_HEADS = collection('changes', storedChange.pick(HEAD), { isStoredUnder: isAtPosition });

/** The license of a change, by its document id; and by the other one, where the State writes its number in another way. */
export function licensesOf({
  license,
  renumbered_to: to,
  renumbered_from: other = to,
}: Pick<StoredChange, 'license' | 'renumbered_to' | 'renumbered_from'>): readonly string[] {
  return other === undefined ? [license] : [withNumber(license, other), license];
}

/** The document id of a license, with another number. */
function withNumber(license: string, number: string): string {
  return license.slice(0, license.indexOf('/') + 1) + number;
}

/** The search of the heads of the next changes that match, in the order of their places. */
export function nextChanges(filter: readonly object[], size: number) {
  return { ...inOrder(filter, size), _source: Object.keys(HEAD) };
}

/**
 * The clause that a change of these feeds matches. Changes of a publication that did not go live have an epoch that no
 * feed has.
 */
export function visible(state: FeedState) {
  const should = [...Map.groupBy(state, ({ feed }) => feed)].map(([feed, ofFeed]) => {
    const epochs = switchesOf(ofFeed).map(({ epoch }) => epoch);
    return { bool: { filter: [{ term: { feed } }, { terms: { epoch: epochs } }] } };
  });
  return { bool: { should } };
}

/** What a publication or rollback makes of the feed. */
export interface FeedChanges {
  readonly feed: FeedState;
  readonly changes: ChangeCounts;
}

export function withoutChanges(feed: FeedState): FeedChanges {
  return { feed, changes: { kinds: {}, causes: {}, boards: {} } };
}

type RecordPair = Pick<DifferingLicense, 'license' | 'renumbered'> &
  Readonly<Record<'before' | 'after', LicenseRecord | undefined>>;

const noCounts = () => new Map<string, number>();

const ERASED = { before: null, after: null, erased: true } as const;

/**
 * Makes the changes of one publication or rollback, numbered. They are visible once they are stored and a publication is
 * live whose feed has its epoch.
 *
 * @param state the feed before
 * @param beginning the publication that goes live, and the epoch of its publishing or of the rollback to it
 * @param dateBefore the run date of the publication before
 * @param newFields fields of columns that the earlier files did not have: a change of these alone is a `release`
 */
export function changeMaker(
  state: FeedState,
  { publication, epoch, date }: FeedBeginning,
  { dateBefore, newFields }: { readonly dateBefore: string; readonly newFields?: ReadonlySet<string> },
) {
  const { feed } = lastOf(state);
  const entry = { feed, epoch, at: new Date().toISOString(), publication, date };
  let total = 0;
  const [kinds, causes, boards] = [noCounts(), noCounts(), noCounts()];
  return {
    /**
     * The change that makes one record of a license the other; `undefined` when they are the same. Each license comes
     * once. Where a place becomes blank, the State withdraws it, so the change does not say what it was, and names the
     * fields whose earlier values must be erased. A license that comes back without a place may have had one before. The
     * change of a removed license says no place at all: the State may withdraw it while the license is away.
     */
    make({ license, before, after, renumbered }: RecordPair, ofPair: ChangeCause): StoredChange | undefined {
      const record = after ?? before;
      const fields = Object.entries(changedFields(before, after));
      if (record === undefined || fields.length === 0) return undefined;
      const kind: ChangeKind = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
      const isOfNew = fields.every(([name]) => newFields?.has(name));
      const cause = kind === 'changed' && isOfNew ? 'release' : ofPair;
      const places = fields.filter(([name, { after }]) => isPlaceField(name) && after === null);
      const withdrawn = places.map(([name]) => name);
      const told = fields.flatMap(([name, field]): [string, FieldChange][] => {
        if (!withdrawn.includes(name)) return [[name, field]];
        return kind === 'removed' ? [] : [[name, ERASED]];
      });
      total += 1;
      addTo(kinds, kind);
      addTo(causes, cause);
      addTo(boards, record.board);
      return {
        ...entry,
        position: positionOf(epoch, total),
        kind,
        cause,
        license,
        board: record.board,
        license_number: record.license_number,
        number: numberKey(record.license_number),
        full_name: record.full_name,
        ...(kind === 'removed' && { last_in_dataset: dateBefore, renumbered_to: renumbered }),
        ...(kind === 'added' && { renumbered_from: renumbered }),
        fields: Object.fromEntries(told),
        ...(kind === 'changed' && withdrawn.length > 0 && { erases: withdrawn }),
      };
    },
    /** How many there are. */
    total: (): number => total,
    /** Makes the changes searchable, once all are stored. @returns the feed with them, and their counts */
    async finish(store: Store): Promise<FeedChanges> {
      const changes = {
        kinds: Object.fromEntries(kinds),
        causes: Object.fromEntries(causes),
        boards: Object.fromEntries(boards),
      };
      await store.client.indices.refresh({ index: store.names.changes });
      return { feed: [...state, { ...entry, changes: total }], changes };
    },
  };
}

/** The two lines of a bulk request that store a change. */
export function changeOperation(change: StoredChange): string {
  return `{"index":{"_id":"${change.position}"}}\n${JSON.stringify(CHANGES.valid(change))}\n`;
}

/**
 * Erases the earlier values of places that the State no longer publishes, from every visible change of the license, also
 * under the numbers that it had before.
 * It is done once the change that withdraws a place is visible.
 *
 * @param onProgress gets how many changes have been looked at, and how many there may be
 */
export async function eraseWithdrawnPlaces(
  store: Store,
  state: FeedState,
  onProgress: (changes: number, total: number) => void = () => undefined,
): Promise<void> {
  await onceForEach(store, 'erased', state, async ({ feed, epoch, changes }) => {
    const isWithdrawing = {
      bool: { should: [{ exists: { field: 'erases' } }, { term: { kind: 'added' } }] },
    };
    let looked = 0;
    for await (const page of changePages(store, [{ term: { feed } }, { term: { epoch } }, isWithdrawing])) {
      const byLicense = new Map(page.map((change) => [change.license, change]));
      await eraseEarlier(store, [visible(state), { range: { epoch: { lte: epoch } } }], byLicense);
      looked += page.length;
      onProgress(looked, changes);
    }
  });
}

/**
 * @param earlier what holds for the changes in which values are erased
 * @param withdrawing by the license in whose changes they are
 * @param done the licenses in whose changes they are already
 */
async function eraseEarlier(
  store: Store,
  earlier: readonly object[],
  withdrawing: ReadonlyMap<string, StoredChange>,
  done: readonly string[] = [],
): Promise<void> {
  const licenses = [...withdrawing.keys()].filter((license) => !done.includes(license));
  const before = new Map<string, StoredChange>();
  for await (const changes of changePages(store, [...earlier, { terms: { license: licenses } }])) {
    const body = changes.flatMap(({ license, position, fields, renumbered_from: number }) => {
      const later = withdrawing.get(license);
      if (later && number !== undefined) before.set(withNumber(license, number), later);
      const erased = Object.entries(fields)
        .filter(([name, field]) => later && field.erased !== true && erases(later, name))
        .map(([name]) => [name, ERASED]);
      const doc = { fields: Object.fromEntries(erased) };
      return erased.length === 0 ? [] : [{ update: { _id: String(position) } }, { doc }];
    });
    // One that has been deleted meanwhile stays deleted.
    if (body.length > 0)
      await bulk(store.client, { index: store.names.changes, body, refresh: true }, [GONE]);
  }
  if (before.size > 0) await eraseEarlier(store, earlier, before, [...done, ...licenses]);
}

function erases(change: StoredChange, name: string): boolean {
  return change.kind === 'added'
    ? isPlaceField(name) && !Object.hasOwn(change.fields, name)
    : (change.erases ?? []).includes(name);
}

const GONE = 404;

/**
 * Deletes the changes that are not visible and never will be: those that are no longer kept, and those of publications
 * that did not go live; and what switches to indices made of the feed that are gone.
 *
 * @param kept the publications whose indices there are
 * @param epoch the epoch taken last; a publication of that epoch may be under way
 */
export async function deleteInvisibleChanges(
  store: Store,
  state: FeedState,
  kept: readonly string[],
  epoch: number,
): Promise<void> {
  const ofKept = [{ terms: { publication: [...kept] } }];
  const isKeptSwitch = { bool: { filter: ofKept, must_not: [{ exists: { field: 'feed' } }] } };
  const isPast = [{ range: { epoch: { lt: epoch } } }];
  await CHANGES.removeWhere(store, { bool: { filter: isPast, must_not: [visible(state), isKeptSwitch] } });
}
