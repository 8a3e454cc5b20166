import { writeSpreadsheet } from '../csv.ts';
import { addTo } from '../licenses/counts.ts';
import { numberKey } from '../licenses/fold.ts';
import type { LicenseRecord } from '../licenses/license.ts';
import { bulk } from '../storage/checked-search.ts';
import { collection } from '../storage/collection.ts';
import type { Store } from '../storage/store.ts';
import {
  type ChangeCause,
  type ChangeKind,
  type FieldChange,
  isPlaceField,
  RENUMBERED,
  type StoredChange,
  storedChange,
} from './change.ts';
import type { DifferingLicense } from './compare.ts';
import { type FeedBeginning, type FeedState, lastOf, positionOf, switchesOf } from './feed.ts';
import { type ChangeCounts, onceForEach } from './stored-feed.ts';

/** The stored changes. The document id is the position. */
export const CHANGES = collection('changes', storedChange, { isStoredUnder: isAtPosition });

function isAtPosition(id: string, { position }: Pick<StoredChange, 'position'>): boolean {
  return id === String(position);
}

/** The index also has documents that are not changes. */
const IS_CHANGE = { exists: { field: 'position' } };

const CHANGES_A_PAGE = 1000;

/** Builds the search for the next matching changes, by position. */
function inOrder(filter: readonly object[], size: number) {
  const query = { bool: { filter: [...filter, IS_CHANGE] } };
  return { query, sort: [{ position: 'asc' as const }], size };
}

/** Returns all matching changes in pages, the oldest first. */
function changePages(store: Store, filter: readonly object[]) {
  return CHANGES.pages(store, inOrder(filter, CHANGES_A_PAGE));
}

const CSV_COLUMNS = 'at kind cause board license_number full_name field before after'.split(' ');

/** Writes the visible changes that a publication made to a CSV file, with a row for each field that changed. */
export async function writeChanges(store: Store, state: FeedState, publication: string, file: string) {
  const pages = changePages(store, [visible(state), { term: { publication } }]);
  const rowsOf = ({ at, kind, cause, board, license_number, full_name, fields }: StoredChange) =>
    Object.entries(fields).map(([name, { before, after }]) => {
      return [at, kind, cause, board, license_number, full_name, name, before, after];
    });
  return { file, changes: await writeSpreadsheet(file, CSV_COLUMNS, pages, rowsOf) };
}

const HEAD = { position: true, license: true, board: true, kind: true, cause: true, ...RENUMBERED } as const;

/** The heads of changes: the fields needed to filter them and to tell their licenses. */
export const CHANGE_HEADS = collection('changes', storedChange.pick(HEAD), { isStoredUnder: isAtPosition });

/**
 * Returns the document id of a change's license. If the State writes the number in another way, the id with the other
 * number comes first.
 */
export function licensesOf({
  license,
  renumbered_to: to,
  renumbered_from: other = to,
}: Pick<StoredChange, 'license' | 'renumbered_to' | 'renumbered_from'>): readonly string[] {
  return other === undefined ? [license] : [withNumber(license, other), license];
}

/** Returns the document id of the license with its number replaced. */
function withNumber(license: string, number: string): string {
  return license.slice(0, license.indexOf('/') + 1) + number;
}

/** Builds the search for the heads of the next matching changes, by position. */
export function nextChanges(filter: readonly object[], size: number) {
  return { ...inOrder(filter, size), _source: Object.keys(HEAD) };
}

/**
 * Builds the query clause that matches the visible changes of these feeds. A publication that did not go live has an
 * epoch that is in no feed, so its changes do not match.
 */
export function visible(state: FeedState) {
  const should = [...Map.groupBy(state, ({ feed }) => feed)].map(([feed, ofFeed]) => {
    const epochs = switchesOf(ofFeed).map(({ epoch }) => epoch);
    return { bool: { filter: [{ term: { feed } }, { terms: { epoch: epochs } }] } };
  });
  return { bool: { should } };
}

/** The feed after a publication or rollback, and the counts of its changes. */
export interface FeedChanges {
  readonly feed: FeedState;
  readonly changes: ChangeCounts;
}

export function withoutChanges(feed: FeedState): FeedChanges {
  return { feed, changes: { kinds: {}, causes: {}, boards: {} } };
}

type RecordPair = Pick<DifferingLicense, 'license' | 'renumbered' | 'fields'> &
  Readonly<Record<'before' | 'after', LicenseRecord | undefined>>;

const noCounts = () => new Map<string, number>();

const ERASED = { before: null, after: null, erased: true } as const;

/**
 * Creates the numbered changes of one publication or rollback. They become visible when they are stored and the live
 * publication's feed has their epoch.
 *
 * @param state the feed before this publication or rollback
 * @param beginning the publication that goes live, and the epoch of the publication or rollback
 * @param dateBefore the run date of the publication that was live before
 * @param newFields fields of columns that the earlier files did not have: a change in only these fields is a `release`
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
     * Returns the change between two records of a license; `undefined` if they are the same. Call it once per license.
     *
     * When a place field becomes blank, the State has withdrawn it. The change then omits the old value and names the
     * field in `erases`, so that earlier values are erased. A license that comes back without a place may have had one
     * before. The change of a removed license has no place fields at all, because the State may withdraw the place
     * while the license is gone.
     */
    make(pair: RecordPair, ofPair: ChangeCause): StoredChange | undefined {
      const { license, before, after, renumbered } = pair;
      const record = after ?? before;
      const fields = Object.entries(pair.fields);
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
    /** The number of changes so far. */
    total: (): number => total,
    /**
     * Makes the stored changes searchable. Call it after all are stored.
     *
     * @returns the feed with the new entry, and the counts of the changes
     */
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

/** Returns the two lines of a bulk request that store a change. */
export function changeOperation(change: StoredChange): string {
  return `{"index":{"_id":"${change.position}"}}\n${JSON.stringify(CHANGES.valid(change))}\n`;
}

/**
 * Erases the earlier values of places that the State no longer publishes, in every visible change of the license,
 * including those under its earlier numbers. Call it after the change that withdraws the place is visible.
 *
 * @param onProgress called with the number of changes looked at, and the maximum number
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
 * @param earlier filters that select the changes in which values are erased
 * @param withdrawing the changes that withdraw places, by the document id of the license whose earlier changes are
 * erased
 * @param done the licenses whose changes have been handled already
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
    // A change that was deleted in the meantime stays deleted.
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
 * Deletes changes that are not visible and never will be: changes that are no longer kept, and changes of publications
 * that did not go live. Also deletes the feeds stored for indices that no longer exist.
 *
 * @param kept the publications that still have an index
 * @param epoch the latest epoch; a publication with this epoch may be running
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
