import { expect, test } from '@jest/globals';
import { changedFields, changesOfOne, isPlaceField } from '../../src/changes/change.ts';
import {
  changesAfterCursor,
  coverageOf,
  cursorText,
  type FeedState,
  isWithdrawn,
  keptFeed,
  lastOf,
  lastPosition,
  newFeed,
  positionOf,
  readCursor,
  rolledBackFeed,
  switchesOf,
} from '../../src/changes/feed.ts';
import { changeMaker } from '../../src/changes/stored-changes.ts';
import type { LicenseRecord } from '../../src/licenses/license.ts';
import { isSurelyNumber } from '../../src/licenses/number-forms.ts';
import { numbersInRow } from '../../src/publications/rejected-rows.ts';
import { nurseRecord } from '../support/records.ts';

const BEGINNING = newFeed({ publication: 'p-1', epoch: 3, date: '2026-11-01' });
const [{ feed: FEED_ID } = { feed: '' }] = BEGINNING;

function extended(state: FeedState, epoch: number, changes: number, publication = `p-${epoch}`): FeedState {
  const date = `2026-11-${String(epoch).padStart(2, '0')}`;
  const { feed } = lastOf(state);
  return [...state, { feed, epoch, changes, publication, date, at: `${date}T12:00:00.000Z` }];
}

const FEED = extended(extended(BEGINNING, 4, 10), 6, 0);

const cursor = cursorText({ feed: FEED_ID, position: 77 });

test.each([0, 1, positionOf(1, 1), positionOf(2 ** 20, 2 ** 23)])(
  'a cursor can be read back (position %d)',
  (position) => {
    const place = { feed: FEED_ID, position };
    expect(readCursor(cursorText(place))).toEqual(place);
  },
);

test.each([
  ...['', 'x', '..', cursor.slice(1), cursor.slice(0, -1), `${cursor}0`],
  ...[cursor.toUpperCase(), cursor.replace('.', '.1')],
])('a cursor that was altered is invalid: %s', (altered) => {
  expect(readCursor(altered)).toBeUndefined();
});

const isKnown = (state: FeedState, position: number) =>
  changesAfterCursor(state, cursorText({ feed: FEED_ID, position })) !== undefined;

test('the state of a feed has a different feed id for another publication with the same epoch', () => {
  expect(lastOf(newFeed({ publication: 'p-2', epoch: 3, date: '2026-11-01' })).feed).not.toBe(FEED_ID);
});

test('the state of a feed knows the position of its first and last change', () => {
  const last = (state: FeedState) => lastPosition(state).position;
  expect([BEGINNING, FEED, extended(FEED, 7, 2)].map(last)).toEqual([
    ...[positionOf(3, 0), positionOf(4, 10), positionOf(7, 2)],
  ]);
});

test('the state of a feed knows which positions exist', () => {
  const there = [positionOf(3, 0), positionOf(4, 1), positionOf(4, 10)];
  const others = [positionOf(3, 1), positionOf(4, 0), positionOf(4, 11), positionOf(6, 1)];
  expect([...there, ...others].filter((position) => isKnown(FEED, position))).toEqual(there);
});

test('the state of a feed without its oldest publications starts after them', () => {
  const kept = keptFeed(extended(FEED, 7, 2), '2026-11-05T00:00:00.000Z');
  expect(switchesOf(kept).map(({ epoch }) => epoch)).toEqual([6, 7]);
  expect([positionOf(4, 10), positionOf(4, 9)].map((place) => isKnown(kept, place))).toEqual([true, false]);
  expect([coverageOf(kept).since, keptFeed(FEED, '2026-11-04T00:00:00.000Z')]).toEqual(['2026-11-04', FEED]);
});

test('a new feed has no history of another one without changes, but of what it goes on from', () => {
  const next = { publication: 'p-9', epoch: 9, date: '2026-11-09' };
  expect(coverageOf(newFeed(next, BEGINNING))).toEqual({ since: '2026-11-09', gaps: [] });
  const third = newFeed({ ...next, epoch: 10, date: '2026-11-12' }, newFeed(next, BEGINNING, 'without_gap'));
  expect(coverageOf(third).gaps).toEqual([{ after: '2026-11-09', before: '2026-11-12' }]);
});

/** The epochs that are withdrawn after the publication p1 (epoch 1) and what went live since (2, 3, …). */
function withdrawnAfter(steps: string): number[] {
  const date = '2026-11-01';
  const built = new Map([['p1', 1]]);
  let state = newFeed({ publication: 'p1', epoch: 1, date });
  const left = new Map<string, FeedState>([['p1', state]]);
  for (const [at, step] of steps.split(' ').entries()) {
    const [how, publication = ''] = step.includes(':') ? step.split(':') : ['publish', step];
    const epoch = at + 2;
    if (how === 'publish' || how === 'gap') built.set(publication, epoch);
    else {
      const to = { publication, epoch: built.get(publication) ?? 0, date };
      state = rolledBackFeed(state, left.get(publication), to).feed;
    }
    if (how === 'unknown' || how === 'gap') state = newFeed({ publication, epoch, date }, state);
    else state = extended(state, epoch, 1, publication);
    left.set(publication, state);
  }
  return switchesOf(state)
    .filter((each) => isWithdrawn(state, each))
    .map(({ epoch }) => epoch);
}

test.each<[what: string, steps: string, withdrawn: number[]]>([
  ['no rollback', 'p2 p3', []],
  ['to what began the feed', 'p2 back:p1', [2]],
  ['to a later one', 'p2 p3 p4 back:p2', [3, 4]],
  ['then the corrected files', 'p2 back:p1 p3', [2]],
  ['twice the wrong files, then the right ones', 'p2 back:p1 p3 back:p1 p4', [2, 4]],
  ['two in a row, the second further back', 'p2 p3 back:p2 back:p1', [2, 3, 4]],
  ['that is undone', 'p2 back:p1 back:p2', [3]],
  ['that is undone, and done again', 'p2 back:p1 back:p2 back:p1', [2, 4]],
  ['that is undone after other files', 'p2 back:p1 p3 back:p2', [3, 4]],
  ['then the same publication once more, by its job', 'p2 back:p1 p2', [2]],
  ['whose changes are not known, so that a new feed starts', 'p2 p3 p4 unknown:p2 p5', [3, 4]],
  ['the same, which undid another one', 'p2 back:p1 unknown:p2', [3]],
  ['to before a gap', 'p2 gap:p3 p4 unknown:p2', [4]],
  ['the same, then another one', 'p2 back:p1 gap:p3 p4 unknown:p2', [3, 5]],
])(
  'a rollback withdraws the publications after the one that it goes back to: %s',
  (_what, steps, withdrawn) => {
    expect(withdrawnAfter(steps)).toEqual(withdrawn);
  },
);

const RECORD = nurseRecord({ license_number: 'RN.1', city: 'LIMA', extra_data: { ZIP: '43215' } });

function changeOf(
  before: LicenseRecord | undefined,
  after: LicenseRecord | undefined,
  newFields: ReadonlySet<string> = new Set(),
) {
  const publication = { publication: 'p-2', epoch: 4, date: '2026-11-02' };
  const maker = changeMaker(BEGINNING, publication, { dateBefore: '2026-11-01', newFields });
  return maker.make({ license: 'NUR/RN.1', before, after, fields: changedFields(before, after) }, 'data');
}

const values = (before: string | null, after: string | null) => ({ before, after });
const withExtra = (extra: Record<string, string>) => ({ ...RECORD, extra_data: extra });
const ERASED = { ...values(null, null), erased: true };
const withA = withExtra({ ...RECORD.extra_data, A: '1' });
const placeless = { ...RECORD, city: null, extra_data: {} };

test.each([
  ['no difference', RECORD, { ...RECORD }, undefined],
  ['neither', undefined, undefined, undefined],
  ['another order of attributes', withExtra({ A: '1', B: '2' }), withExtra({ B: '2', A: '1' }), undefined],
  ['a field', RECORD, { ...RECORD, status: 'CLOSED' }, { status: values('ACTIVE', 'CLOSED') }],
  ['an attribute appears', RECORD, withA, { 'extra_data.A': values(null, '1') }],
  ['a place is withdrawn', RECORD, placeless, { city: ERASED, 'extra_data.ZIP': ERASED }],
  ['a place appears', { ...RECORD, city: null }, RECORD, { city: values(null, 'LIMA') }],
])('a change of a license has the fields that differ: %s', (_what, before, after, fields) => {
  expect(changeOf(before, after)?.fields).toEqual(fields);
});

test('a change of a license is by cause release where nothing but attributes of new columns changed', () => {
  const newFields = new Set(['extra_data.A', 'extra_data.B']);
  const causeOf = (after: LicenseRecord) => changeOf(RECORD, after, newFields)?.cause;
  expect([causeOf(withA), causeOf({ ...withA, status: 'CLOSED' })]).toEqual(['release', 'data']);
  expect(causeOf(withExtra({ ZIP: '43216' }))).toBe('data');
});

test('a change of a license has no places if the license was removed', () => {
  const removed = changeOf(RECORD, undefined);
  expect([Object.keys(removed?.fields ?? {}).filter(isPlaceField), removed?.erases]).toEqual([[], undefined]);
});

test('a change of a license is about a place in some fields', () => {
  const places = ['city', 'extra_data.Parcel Floor', 'extra_data.ZIP'];
  expect([...places, 'status', 'extra_data.Board Action'].filter(isPlaceField)).toEqual(places);
});

const one = { ...(changeOf(undefined, RECORD) ?? never()), license: 'NUR/RN.1' };
const other = { ...one, license: 'NUR/RN-1', license_number: 'RN-1' };
const moved = { ...one, epoch: 5, kind: 'removed', renumbered_to: 'RN-1' } as const;
const gone = { ...other, epoch: 6, kind: 'removed' } as const;
const again = { ...one, epoch: 6 };
const undone = { ...moved, withdrawn: true } as const;
const renumbered = [moved, { ...other, epoch: 5, renumbered_from: 'RN.1' }, one];
const back = [{ ...gone, renumbered_to: 'RN.1' }, { ...again, renumbered_from: 'RN-1' }, ...renumbered];
function never(): never {
  throw new Error('No change was made.');
}

test.each([
  ['the number exactly', [one, other], 'RN.1', [one]],
  ['another form of the only number', [one], 'rn 1', [one]],
  ['a form that two numbers have', [one, other], 'rn1', []],
  ['no change', [], 'RN.1', []],
  ['a number that the State wrote in another way', renumbered, 'RN-1', renumbered],
  ['the earlier way', renumbered, 'RN.1', renumbered],
  ['a form of both', renumbered, 'rn1', renumbered],
  ['a form of both, once it was removed', [gone, ...renumbered], 'rn1', [gone, ...renumbered]],
  ['another license has the earlier number since', [again, ...renumbered], 'RN-1', renumbered],
  ['another way that was undone', [again, undone, one], 'RN.1', [again, undone, one]],
  ['another license had the number before', [again, ...renumbered], 'RN.1', [again]],
  ['another way, and back', back, 'RN-1', back],
])('the changes of one license number are found: %s', (_what, changes, number, expected) => {
  expect(changesOfOne(changes, number)).toEqual(expected);
});

test('the possible license numbers of an unreadable row are found', () => {
  expect(numbersInRow('"DOE, JANE","Nursing Board","RN.0012"unclosed,43215')).toEqual(
    expect.arrayContaining(['RN0012', '43215']),
  );
  const sure = numbersInRow('"DOE, JANE",RN.0012,43215,45801-1234,2027-10-31,35.700016', isSurelyNumber);
  expect(sure).toEqual(['RN0012', '35700016']);
});
