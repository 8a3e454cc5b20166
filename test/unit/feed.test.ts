import { describe, expect, test } from '@jest/globals';
import { changesOfOne, isPlaceField, makeChange } from '../../src/changes/change.ts';
import {
  coverageOf,
  cursorText,
  type FeedState,
  hasPosition,
  keptFeed,
  lastPosition,
  MAX_CHANGES_OF_EPOCH,
  newFeed,
  nextFeed,
  positionOf,
  readCursor,
  TooManyChangesError,
  unbrokenFeeds,
} from '../../src/changes/feed.ts';
import { mapHeader, rowHash } from '../../src/dataset/header.ts';
import type { LicenseRecord } from '../../src/licenses/license.ts';
import { numbersInRow } from '../../src/publications/rejected-rows.ts';

const BEGINNING = newFeed({ publication: 'p-1', epoch: 3, date: '2026-11-01' });

function extended(state: FeedState, epoch: number, changes: number): FeedState {
  const day = String(epoch).padStart(2, '0');
  const [date, at] = [`2026-11-${day}`, `2026-11-${day}T12:00:00.000Z`];
  return { ...state, segments: [...state.segments, { epoch, changes, publication: `p-${epoch}`, date, at }] };
}

const FEED = extended(extended(BEGINNING, 4, 10), 6, 0);

describe('a cursor', () => {
  test.each([0, 1, positionOf(1, 1), positionOf(2 ** 20, 2 ** 23)])(
    'can be read back (position %d)',
    (position) => {
      const place = { feed: BEGINNING.feed, position };
      expect(readCursor(cursorText(place))).toEqual(place);
    },
  );

  const cursor = cursorText({ feed: BEGINNING.feed, position: 77 });
  test.each([
    '',
    'x',
    '..',
    cursor.slice(1),
    cursor.slice(0, -1),
    `${cursor}0`,
    cursor.toUpperCase(),
    cursor.replace('.', '.1'),
  ])('that was altered is invalid: %s', (altered) => {
    expect(readCursor(altered)).toBeUndefined();
  });
});

describe('the state of a feed', () => {
  test('has a different feed id for another publication with the same epoch', () => {
    expect(newFeed({ publication: 'p-2', epoch: 3, date: '2026-11-01' }).feed).not.toBe(BEGINNING.feed);
  });

  test('knows the position of its first and last change', () => {
    expect(lastPosition(BEGINNING)).toBe(positionOf(3, 0));
    expect(lastPosition(FEED)).toBe(positionOf(4, 10));
    expect(lastPosition(extended(FEED, 7, 2))).toBe(positionOf(7, 2));
  });

  test.each([
    [positionOf(3, 0), true],
    [positionOf(3, 1), false],
    [positionOf(4, 0), false],
    [positionOf(4, 1), true],
    [positionOf(4, 10), true],
    [positionOf(4, 11), false],
    [positionOf(6, 1), false],
  ])('knows whether position %d exists: %p', (position, isThere) => {
    expect(hasPosition(FEED, position)).toBe(isThere);
  });

  test('without its oldest segments starts after them', () => {
    const state = extended(FEED, 7, 2);
    const kept = keptFeed(state, '2026-11-05T00:00:00.000Z');
    expect(kept).toEqual({ ...state, base: state.segments[0], segments: state.segments.slice(1) });
    expect(hasPosition(kept, positionOf(4, 10))).toBe(true);
    expect(hasPosition(kept, positionOf(4, 9))).toBe(false);
    expect(coverageOf(kept).since).toBe('2026-11-04');
    expect(keptFeed(FEED, '2026-11-04T00:00:00.000Z')).toEqual(FEED);
  });
});

test('more changes in one epoch than there are positions are refused', () => {
  expect(positionOf(4, MAX_CHANGES_OF_EPOCH)).toBeLessThan(positionOf(5, 0));
  expect(() => positionOf(4, MAX_CHANGES_OF_EPOCH + 1)).toThrow(TooManyChangesError);
});

describe('a new feed after another one', () => {
  const next = { publication: 'p-9', epoch: 9, date: '2026-11-09' };
  const feeds = (state: typeof FEED) => unbrokenFeeds(state).map(({ feed }) => feed);

  test('keeps the earlier changes in the history, and reports the gap between them', () => {
    const state = nextFeed(FEED, true, next);
    expect(coverageOf(state)).toEqual({
      since: '2026-11-01',
      gaps: [{ after: '2026-11-06', before: '2026-11-09' }],
    });
    expect(feeds(state)).toEqual([newFeed(next).feed]);
  });

  test('has no gap if no change is missing, and both are read as one', () => {
    const state = nextFeed(FEED, false, next);
    expect(coverageOf(state)).toEqual({ since: '2026-11-01', gaps: [] });
    expect(feeds(state)).toEqual([FEED.feed, newFeed(next).feed]);
  });

  test('has no history if there were no changes before the gap', () => {
    expect(coverageOf(nextFeed(BEGINNING, true, next))).toEqual({ since: '2026-11-09', gaps: [] });
    const continued = nextFeed(BEGINNING, false, next);
    const third = nextFeed(continued, true, { ...next, epoch: 10, date: '2026-11-12' });
    expect(coverageOf(third).gaps).toEqual([{ after: '2026-11-09', before: '2026-11-12' }]);
  });
});

const RECORD: LicenseRecord = {
  license_number: 'RN.1',
  full_name: 'DOE, JANE',
  board: 'Nursing Board',
  license_type: null,
  status: 'ACTIVE',
  expiry_date: '2027-10-31',
  city: 'LIMA',
  state: 'OH',
  raw_status: 'Active',
  county: null,
  issue_date: null,
  extra_data: { ZIP: '43215' },
};
const ORIGIN = {
  feed: 'f',
  epoch: 4,
  at: '2026-11-02T00:00:00.000Z',
  publication: 'p-2',
  date: '2026-11-02',
  before: '2026-11-01',
};

function changeOf(before: LicenseRecord | undefined, after: LicenseRecord | undefined) {
  return makeChange(ORIGIN, { license: 'NUR/RN.1', before, after }, 'data', 1);
}

describe('a change of a license', () => {
  test.each([
    ['no difference', RECORD, { ...RECORD }, undefined],
    ['neither', undefined, undefined, undefined],
    [
      'another order of attributes',
      { ...RECORD, extra_data: { A: '1', B: '2' } },
      { ...RECORD, extra_data: { B: '2', A: '1' } },
      undefined,
    ],
    ['a field', RECORD, { ...RECORD, status: 'CLOSED' }, { status: { before: 'ACTIVE', after: 'CLOSED' } }],
    [
      'an attribute appears',
      RECORD,
      { ...RECORD, extra_data: { ...RECORD.extra_data, A: '1' } },
      { 'extra_data.A': { before: null, after: '1' } },
    ],
    [
      'a place is withdrawn',
      RECORD,
      { ...RECORD, city: null, extra_data: {} },
      { city: ERASED(), 'extra_data.ZIP': ERASED() },
    ],
    ['a place appears', { ...RECORD, city: null }, RECORD, { city: { before: null, after: 'LIMA' } }],
  ])('has the fields that differ: %s', (_what, before, after, fields) => {
    expect(changeOf(before, after)?.fields).toEqual(fields);
  });

  function ERASED() {
    return { before: null, after: null, erased: true };
  }

  test('is by cause release where nothing but attributes of new columns changed', () => {
    const causeOf = (after: LicenseRecord) =>
      makeChange(
        ORIGIN,
        { license: 'NUR/RN.1', before: RECORD, after },
        'data',
        1,
        new Set(['extra_data.A', 'extra_data.B']),
      )?.cause;
    const after = { ...RECORD, extra_data: { ...RECORD.extra_data, A: '1' } };
    expect(causeOf(after)).toBe('release');
    expect(causeOf({ ...after, status: 'CLOSED' })).toBe('data');
    expect(causeOf({ ...RECORD, extra_data: { ZIP: '43216' } })).toBe('data');
  });

  test('has every field that is not null if the license was added or removed', () => {
    expect(changeOf(undefined, RECORD)).toMatchObject({
      kind: 'added',
      fields: { city: { before: null, after: 'LIMA' } },
    });
    const removed = changeOf(RECORD, undefined);
    expect(removed).toMatchObject({
      kind: 'removed',
      fields: { status: { before: 'ACTIVE', after: null } },
    });
    expect(removed?.fields).not.toHaveProperty('license_type');
  });

  test('has no places if the license was removed, and erases those that an added license does not have', () => {
    const removed = changeOf(RECORD, undefined);
    expect(Object.keys(removed?.fields ?? {}).filter(isPlaceField)).toEqual([]);
    expect(removed?.erases).toBeUndefined();
    expect(changeOf(undefined, RECORD)?.erases).toEqual([
      'county',
      'extra_data.County',
      'extra_data.Country',
      'extra_data.Street Address',
    ]);
  });

  test.each([
    ['city', true],
    ['extra_data.Parcel Floor', true],
    ['extra_data.ZIP', true],
    ['status', false],
    ['extra_data.Board Action', false],
  ])('of %s is about a place: %p', (name, isPlace) => {
    expect(isPlaceField(name)).toBe(isPlace);
  });
});

describe('the changes of one license number', () => {
  const one = { ...(changeOf(undefined, RECORD) ?? never()), license: 'NUR/RN.1' };
  const other = { ...one, license: 'NUR/RN-1', license_number: 'RN-1' };
  function never(): never {
    throw new Error('No change was made.');
  }

  test.each([
    ['the number exactly', [one, other], 'RN.1', [one]],
    ['another form of the only number', [one], 'rn 1', [one]],
    ['a form that two numbers have', [one, other], 'rn1', []],
    ['no change', [], 'RN.1', []],
  ])('are found: %s', (_what, changes, number, expected) => {
    expect(changesOfOne(changes, number)).toEqual(expected);
  });
});

test('the hash of a row does not depend on the order of columns or on empty columns', () => {
  const row = (...fields: string[]) => ({ line: 1, raw: '', fields });
  const required = ['LICENSEE_NAME', 'BOARD', 'LICENSE_NUMBER', 'TYPE', 'STATUS', 'EXPIRATION_DATE'];
  const columns = (...names: string[]) => mapHeader('individual', [...names, ...required]);
  const hash = rowHash(row('1', ' 2 '), columns('B', 'A'));
  expect(rowHash(row('2', '', '1'), columns('A', 'NEW', 'B'))).toBe(hash);
  for (const other of [row('1', '2'), row('2', ''), row('', '1'), row('21', '')]) {
    expect(rowHash(other, columns('A', 'B'))).not.toBe(hash);
  }
  expect(rowHash(row('', ' '), columns('A', 'B'))).toBe(0);
});

test('the possible license numbers of an unreadable row are found', () => {
  expect(numbersInRow('"DOE, JANE","Nursing Board","RN.0012"unclosed,43215')).toEqual(
    expect.arrayContaining(['RN0012', '43215']),
  );
});
