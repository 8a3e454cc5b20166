import { describe, expect, test } from '@jest/globals';
import { createRandom } from '../../sample-data/generator/random.ts';
import { type ChangeCause, changedFields } from '../../src/changes/change.ts';
import type { ComparedLicense as License } from '../../src/changes/compare.ts';
import { readConfig } from '../../src/config.ts';
import { guardedComparison } from '../../workers/publish/board-guards.ts';
import { BoardLicenses, partOf } from '../../workers/publish/profile.ts';
import { acceptedOf } from '../../workers/publish/run.ts';
import { nurseRecord } from '../support/records.ts';

/** Boards, and how many licenses each has. */
const BOARDS = { 'Nursing Board': 2000, 'Medical Board': 400, 'Motor Vehicle Repair Board': 60 };
const NAMES = Object.keys(BOARDS);

/** Statuses, and the share of licenses with it or one before it. */
const SHARES = [
  ['Active', null, 0.36],
  ['Inactive', 'Expired', 0.62],
  ['Inactive', 'Lapsed', 0.8],
  ['Closed', null, 0.9],
  ['Inactive', 'Suspended', 0.95],
  ['Active', 'Probation', 1],
] as const;

function licensesOf(board: string, count: number, next: () => number): License[] {
  const below = (limit: number) => Math.floor(next() * limit);
  return Array.from({ length: count }, (_, at) => {
    const chance = next();
    const [status, sub] = SHARES.find(([, , upTo]) => chance < upTo) ?? SHARES[0];
    const day = String(1 + below(28)).padStart(2, '0');
    const record = nurseRecord({
      license_number: `N.${board.length}${100_000 + at}`,
      full_name: `HOLDER ${below(1e6)}, ANN`,
      board,
      license_type: `Type ${below(4)}`,
      expiry_date: `20${20 + below(9)}-03-${day}`,
      city: `CITY ${below(300)}`,
      state: next() < 0.85 ? 'OH' : 'KY',
      county: `COUNTY ${below(88)}`,
      issue_date: `20${10 + below(9)}-05-${day}`,
      extra_data: {
        'Board Action': next() < 0.1 ? 'Yes' : 'No',
        ZIP: String(43_000 + below(900)),
        'Sub Category': `Category ${below(6)}`,
        ...(at % 12 === 0 && { 'Medical Specialty 1': `Specialty ${at % 5}` }),
      },
    });
    return withStatus({ ...record, source_row: `individual:${at}:0` }, status, sub);
  });
}

function withStatus(license: License, status: string | null, sub: string | null): License {
  const raw = [status, sub].filter((part) => part !== null).join(' - ');
  return { ...license, status: status?.toUpperCase() ?? null, raw_status: raw === '' ? null : raw };
}

interface Column {
  get(license: License): string | null;
  set(license: License, value: string | null): License;
}

const primary = ({ raw_status: raw }: License) => raw?.split(' - ')[0] ?? null;
const sub = ({ raw_status: raw }: License) => raw?.split(' - ')[1] ?? null;

const field = (name: Exclude<keyof License, 'extra_data' | 'source_row'>): Column => ({
  get: (license) => license[name],
  set: (license, value) => ({ ...license, [name]: value }),
});

const extra = (label: string): Column => ({
  get: ({ extra_data: data }) => data[label] ?? null,
  set: (license, value) => {
    const { [label]: _old, ...others } = license.extra_data;
    return { ...license, extra_data: value === null ? others : { ...others, [label]: value } };
  },
});

/** The columns of a license, as its row has them. */
const COLUMNS = {
  LICENSEE_NAME: field('full_name'),
  LICENSE_NUMBER: field('license_number'),
  TYPE: field('license_type'),
  STATUS: { get: primary, set: (license, value) => withStatus(license, value, sub(license)) },
  SUB_STATUS: { get: sub, set: (license, value) => withStatus(license, primary(license), value) },
  EXPIRATION_DATE: field('expiry_date'),
  ISSUE_DATE: field('issue_date'),
  PARCEL_CITY: field('city'),
  PARCEL_STATE: field('state'),
  PARCEL_COUNTY: field('county'),
  PARCEL_ZIP_CODE: extra('ZIP'),
  BOARD_ACTION: extra('Board Action'),
  SUB_CATEGORY: extra('Sub Category'),
  // One license in twelve has it.
  MED_SPECIALTY_1: extra('Medical Specialty 1'),
} satisfies Record<string, Column>;
type ColumnName = keyof typeof COLUMNS;

const dayOf = (licenses: readonly License[]) =>
  new Map(licenses.map((each) => [`${each.board}/${each.license_number}`, each]));

const next = createRandom(7, 'board guards');
const BEFORE = Object.entries(BOARDS).flatMap(([board, count]) => licensesOf(board, count, next));

interface Judged {
  readonly newColumns?: readonly string[];
  readonly goneColumns?: readonly string[];
  /** As `--accept` takes them. */
  readonly accept?: readonly string[];
  /** Why a license differs; it differs in the State's data unless given. */
  readonly causeOf?: (license: License) => ChangeCause;
  readonly settings?: Readonly<Record<string, string>>;
}

/** What the guards say of one day after the other. */
function judged(now: readonly License[], before: readonly License[] = BEFORE, given: Judged = {}) {
  const [old, later] = [dayOf(before), dayOf(now)];
  const loaded = new Map<string, BoardLicenses>();
  for (const license of later.values()) {
    const parts = loaded.get(license.board) ?? new BoardLicenses();
    loaded.set(license.board, parts);
    parts[partOf(license)].add(license, 1);
  }
  const counts = Map.groupBy(old.values(), ({ board }) => board);
  const config = readConfig({
    ...{ OPENSEARCH_URL: 'http://127.0.0.1:1', REDIS_URL: 'redis://127.0.0.1:1' },
    ...given.settings,
  });
  const compared = guardedComparison(
    loaded,
    Object.fromEntries([...counts].map(([board, { length }]) => [board, length])),
    {
      newColumns: new Set(given.newColumns),
      goneColumns: (given.goneColumns ?? []).map((column) => ({ file: 'individual', column })),
    },
    { accepted: (given.accept ?? []).map(acceptedOf), config },
  );
  const { causeOf = () => 'data' } = given;
  for (const license of new Set([...old.keys(), ...later.keys()])) {
    const pair = { license, before: old.get(license), after: later.get(license) };
    if (JSON.stringify(pair.before) === JSON.stringify(pair.after)) continue;
    const kind = pair.before === undefined ? 'added' : pair.after === undefined ? 'removed' : 'changed';
    const differing = pair.after ?? pair.before;
    const cause = differing ? causeOf(differing) : 'data';
    const fields = changedFields(pair.before, pair.after);
    compared.add({ ...pair, fields, kind, isSameRow: cause === 'release' }, cause);
  }
  const { judgements, notes } = compared.judged();
  const refusing = judgements.filter(({ passed }) => !passed);
  return {
    ...{ notes, refusals: refusing },
    refusing: refusing.map(({ check, column }) => (column === null ? check : `${check}:${column}`)),
    boards: [...new Set(refusing.flatMap(({ board }) => (board === null ? [] : [board])))],
  };
}

const refused = (...days: Parameters<typeof judged>) => judged(...days).refusing;

type Change = (license: License, at: number) => License;

/** The day with the licenses of one board changed. */
function atBoard(board: string, change: Change, day: readonly License[] = BEFORE): License[] {
  const licenses = day.filter((each) => each.board === board);
  return [...day.filter((each) => each.board !== board), ...licenses.map(change)];
}

const ofBoard = (board: string) => BEFORE.filter((each) => each.board === board);
const NOT_MEDICAL = BEFORE.filter(({ board }) => board !== 'Medical Board');
const active: Change = (each) => withStatus(each, 'Active', sub(each));
const inactive: Change = (each) => withStatus(each, 'Inactive', sub(each));

/** What a column of a board has later, in place of its values. */
const KINDS: Readonly<
  Record<string, (values: readonly (string | null)[], name: string) => readonly (string | null)[]>
> = {
  blank: (values) => values.map(() => null),
  constant: (values, name) => values.map(() => (name.endsWith('_DATE') ? '2031-01-01' : 'Active')),
  'as it is in most': (values) => {
    const groups = [...Map.groupBy(values, (value) => value).values()];
    const [most = []] = groups.toSorted((one, other) => other.length - one.length);
    return values.map(() => most[0] ?? null);
  },
  shifted: (values) => values.map((_, at) => values[(at + 1) % values.length] ?? null),
  renumbered: (values) => values.map((value) => `X${value}`),
};

function columnChanged(kind: string, name: ColumnName, board = 'Medical Board'): License[] {
  const { get, set } = COLUMNS[name];
  const later = KINDS[kind]?.(ofBoard(board).map(get), name) ?? [];
  return atBoard(board, (license, at) => set(license, later[at] ?? null));
}

const COLUMN_NAMES = Object.keys(COLUMNS).filter((name): name is ColumnName => name in COLUMNS);
/** A license needs these: the State's row without them is rejected. */
const NEEDED: ReadonlySet<string> = new Set(['LICENSEE_NAME', 'LICENSE_NUMBER']);
const CASES = Object.keys(KINDS).flatMap((kind) =>
  COLUMN_NAMES.filter((name) => !(kind === 'blank' && NEEDED.has(name))).map((name) => [kind, name] as const),
);

describe.each(NAMES)('at %s, a column that is', (board) => {
  test.each(CASES)('%s: %s', (kind, column) => {
    const { refusing, boards, notes } = judged(columnChanged(kind, column, board));
    if (kind === 'blank' && column.startsWith('PARCEL_')) {
      expect(refusing).toEqual([]);
      return expect(notes).toEqual([expect.stringMatching(new RegExp(`^${board} has ${column} blank`))]);
    }
    expect(refusing).not.toEqual([]);
    expect(boards.every((each) => each === board)).toBe(true);
  });
});

test('six licenses of sixty that get the State code of all others may have been corrected', () => {
  const board = 'Motor Vehicle Repair Board';
  const now = atBoard(board, (each) => ({ ...each, state: 'OH' }));
  const before = atBoard(board, (each, at) => ({ ...each, state: at < 6 ? 'KY' : 'OH' }));
  expect(refused(now, before)).toEqual([]);
});

test('a refusal says the board, the column, the counts and three licenses', () => {
  expect(judged(columnChanged('constant', 'TYPE')).refusals).toEqual([
    {
      ...{ check: 'column_changed', board: 'Medical Board', column: 'TYPE' },
      ...{ measured: 100, limit: 50, passed: false, before: 400, now: 0 },
      examples: [0, 1, 2].map(() => ({
        license_number: expect.stringMatching(/^N\./),
        before: expect.stringMatching(/^Type /),
        now: 'Active',
      })),
      sentence:
        '400 of 400 licenses of Medical Board have another TYPE, more than 50 % (GUARD_MAX_COLUMN_CHANGED_PERCENT).',
    },
  ]);
});

const OTHER_STATE = 'licenses of Medical Board have another PARCEL_STATE, and';
test.each<[string, ColumnName, string]>([
  ['as it is in most', 'PARCEL_STATE', `${OTHER_STATE} all have the same value now.`],
  ['shifted', 'PARCEL_STATE', `${OTHER_STATE} the values are those of other licenses.`],
  ['blank', 'MED_SPECIALTY_1', 'No license of Medical Board has MED_SPECIALTY_1 any more; 34 had it.'],
])('a refusal says why: %s %s', (kind, column, sentence) => {
  const [refusing, ...others] = judged(columnChanged(kind, column)).refusals;
  expect([others, refusing]).toMatchObject([[], { column, sentence: expect.stringContaining(sentence) }]);
  expect(refusing?.measured).toBeGreaterThan(refusing?.limit ?? 100);
});

test('all of a board Inactive, where fewer than half were Active: refused', () => {
  const before = atBoard('Medical Board', (each) => (primary(each) === 'Closed' ? inactive(each, 0) : each));
  const { refusals, refusing } = judged(atBoard('Medical Board', inactive, before), before);
  expect(refusing).toEqual(['column_changed:STATUS']);
  expect(refusals[0]?.measured).toBeLessThan(50);
});

describe('of a board with few businesses and endorsements', () => {
  const board = 'Nursing Board';
  const rows = { businesses: 'business:1:0', endorsements: 'individual:1:1' } as const;
  const few = (Object.keys(rows) as (keyof typeof rows)[]).flatMap((part) =>
    licensesOf(board, 100, next).map((each, at) => ({
      ...each,
      ...{ license_number: `${part}.${at}`, source_row: rows[part] },
    })),
  );
  const before = [...BEFORE, ...few];
  const changed = (part: keyof typeof rows, change: Change) =>
    before.map((each, at) => (each.source_row === rows[part] ? change(each, at) : each));

  describe.each(['businesses', 'endorsements'] as const)('the %s are judged alone, too', (part) => {
    const name = part === 'businesses' ? 'BUSINESS_NAME' : 'LICENSEE_NAME';
    test.each<[string, Change]>([
      ['status_improved:STATUS', (each, at) => (at % 3 === 0 ? active(each, at) : each)],
      ['column_blank:EXPIRATION_DATE', (each) => ({ ...each, expiry_date: null })],
      ['column_changed:TYPE', (each) => ({ ...each, license_type: 'Other' })],
      [`column_changed:${name}`, (each, at) => ({ ...each, full_name: `OTHER ${at}` })],
      ['board_changed', (each, at) => ({ ...each, license_number: `X.${at}` })],
    ])('%s', (refusal, change) => {
      const { refusing, boards } = judged(changed(part, change), before);
      expect([[...new Set(refusing)], boards]).toEqual([[refusal], [`${board} (${part})`]]);
    });

    test('a place that becomes blank', () => {
      const now = changed(part, (each) => ({ ...each, city: null }));
      const note = `${board} (${part}) has PARCEL_CITY blank in 100 licenses`;
      expect(judged(now, before)).toMatchObject({ refusing: [], notes: [expect.stringContaining(note)] });
    });
  });

  test('one of two that lose a Board Action of Yes is no refusal where the board has many', () => {
    const { set, get } = COLUMNS.BOARD_ACTION;
    const acted = changed('businesses', (each, at) => set(each, at % 50 === 0 ? 'Yes' : 'No'));
    const first = acted.find((each) => each.source_row === rows.businesses && get(each) === 'Yes');
    const now = acted.map((each) => (each === first ? set(each, 'No') : each));
    expect(now).not.toEqual(acted);
    expect(refused(now, acted)).toEqual([]);
  });
});

const RENEWAL = 'Active In Renewal';
/** The day on which licenses of a board, and an endorsement of each, are in renewal, or are not. */
const dayOfRenewal = (board: string, isOpen: boolean, expires: string) =>
  BEFORE.map((each) => {
    if (each.board !== board || each.raw_status !== 'Active') return each;
    const endorsement = {
      'Endorsement Number 1': 'X.1',
      'Endorsement Expiration Date 1': expires,
      ...(isOpen && { 'Endorsement Sub Status 1': RENEWAL }),
    };
    const license = { ...each, extra_data: { ...each.extra_data, ...endorsement } };
    return withStatus(license, 'Active', isOpen ? RENEWAL : null);
  });

test.each(NAMES)('a renewal of %s that opens or closes is not refused, nor its endorsements', (board) => {
  const open = dayOfRenewal(board, true, '2026-10-31');
  expect(refused(open, dayOfRenewal(board, false, '2026-10-31'))).toEqual([]);
  expect(refused(dayOfRenewal(board, false, '2028-10-31'), open)).toEqual([]);
});

test('a renewal that moves every expiry date by a year is not refused, with some corrections beside it', () => {
  const before = atBoard('Medical Board', (each, at) => ({
    ...each,
    expiry_date: `20${10 + (at % 15)}-12-31`,
  }));
  const now = atBoard('Medical Board', (each, at) => later(each, at % 50 === 0 ? -1 : 1), before);
  expect(refused(now, before)).toEqual([]);
});

test('a renewal that opens for some while it closes for as many others is not refused', () => {
  const doctors = ofBoard('Medical Board').filter((each) => each.raw_status === 'Active');
  const inRenewal = (first: number) => {
    const some = new Set(doctors.slice(first, first + 60));
    return BEFORE.map((each) => (some.has(each) ? withStatus(each, 'Active', RENEWAL) : each));
  };
  expect(refused(inRenewal(60), inRenewal(0))).toEqual([]);
});

test.each(['LICENSEE_NAME', 'PARCEL_CITY'] as const)('examples of %s are numbers alone', (column) => {
  const [refusing] = judged(columnChanged('constant', column)).refusals;
  expect(refusing?.examples?.map(Object.keys)).toEqual(Array(3).fill(['license_number']));
});

test.each<[string, string | null, string[]]>([
  ['the same day three years later', '2028-03-05', []],
  ['a day more than three years later', '2028-03-06', ['many_changes', 'column_changed:EXPIRATION_DATE']],
  ['a day earlier', '2025-03-04', ['many_changes', 'column_changed:EXPIRATION_DATE']],
])('an expiry date of %s: refused, unless it may be a renewal', (_when, expiry_date, refusing) => {
  const before = BEFORE.map((each) => ({ ...each, expiry_date: '2025-03-05' }));
  const now = atBoard('Nursing Board', (each) => ({ ...each, expiry_date }), before);
  expect(refused(now, before)).toEqual(refusing);
});

test.each<[number, string[]]>([
  [0.1, []],
  [0.12, ['status_improved:STATUS']],
])('a share of %d of those that were not Active become Active', (share, refusing) => {
  const others = ofBoard('Nursing Board').filter((each) => each.status !== 'ACTIVE');
  const improved = new Set(others.slice(0, Math.floor(share * others.length)));
  expect(refused(BEFORE.map((each, at) => (improved.has(each) ? active(each, at) : each)))).toEqual(refusing);
});

test.each<[ColumnName, string, number, string[]]>([
  ['BOARD_ACTION', 'Yes', 2, ['status_improved:BOARD_ACTION']],
  ['BOARD_ACTION', 'Yes', 6, []],
  ['SUB_STATUS', 'Suspended', 2, []],
])('licenses that look better: one loses its %s of %s, of %d', (column, value, of, refusing) => {
  const plain = licensesOf('Medical Board', 200, next).map((each) =>
    withStatus(COLUMNS.BOARD_ACTION.set(each, 'No'), 'Closed', null),
  );
  const before = plain.map((each, at) => (at < of ? COLUMNS[column].set(each, value) : each));
  expect(refused([...plain.slice(0, 1), ...before.slice(1)], before)).toEqual(refusing);
});

test('what is over its limit by less than is shown is refused, too', () => {
  const doctors = licensesOf('Medical Board', 90, next).map((each, at) =>
    withStatus(COLUMNS.BOARD_ACTION.set(each, 'No'), 'Inactive', at < 20 ? 'Suspended' : null),
  );
  const now = doctors.map((each, at) =>
    at < 8 || (at >= 20 && at < 42) ? withStatus(each, 'Active', null) : each,
  );
  const settings = { GUARD_MAX_NOW_ACTIVE_PERCENT: '33.33', GUARD_MAX_DISCIPLINE_DROP_PERCENT: '50' };
  const days = [now, doctors].map((each) => [...NOT_MEDICAL, ...each]);
  expect(refused(days[0] ?? [], days[1], { settings })).toEqual(['status_improved:STATUS']);
});

const doctors = ofBoard('Medical Board');
const added = licensesOf('Medical Board', 201, next).map((each, at) => ({
  ...each,
  license_number: `NEW.${at}`,
}));
test.each([
  ['lose 200 of 400', [...NOT_MEDICAL, ...doctors.slice(200)], []],
  ['lose 220 of 400', [...NOT_MEDICAL, ...doctors.slice(220)], ['board_changed']],
  ['have 200 new ones beside 400', [...BEFORE, ...added.slice(1)], []],
  ['have 201 new ones beside 400', [...BEFORE, ...added], ['board_changed']],
])('boards that %s', (_what, now, refusing) => {
  expect(refused(now)).toEqual(refusing);
});

test('boards that lose licenses have a column judged in those that stay', () => {
  const now = doctors.slice(180).map((each, at) => (at < 130 ? { ...each, license_type: 'Other' } : each));
  expect(refused([...NOT_MEDICAL, ...now])).toEqual(['column_changed:TYPE']);
});

test('boards of fewer than 20 licenses are judged together', () => {
  const small = ['Dental Board', 'Board of Pharmacy'].flatMap((each) => licensesOf(each, 12, next));
  const before = [...BEFORE, ...small];
  const changed = (boards: readonly string[]) =>
    before.map((each) => (boards.includes(each.board) ? { ...each, license_type: 'Other' } : each));
  const one = changed(['Board of Pharmacy']);
  expect(refused(one, before)).toEqual([]);
  const both = judged(changed(['Dental Board', 'Board of Pharmacy']), before);
  expect(both).toMatchObject({ refusing: ['column_changed:TYPE'], boards: ['Boards under 20 licenses'] });
  for (const GUARD_SMALL_BOARD of ['0', '12'])
    expect(refused(one, before, { settings: { GUARD_SMALL_BOARD } })).toEqual(['column_changed:TYPE']);
});

const oneIn = (count: number) =>
  BEFORE.map((each, at) => (at % count === 0 ? { ...each, county: null } : each));
const causeOf = () => 'release' as const;

test('a version that reads the same rows otherwise is refused if it does so in more than 1 %, and by that guard alone', () => {
  expect(refused(oneIn(50), BEFORE, { causeOf })).toEqual(['release_changes']);
  expect(refused(oneIn(200), BEFORE, { causeOf })).toEqual([]);
});

test('a version that reads the same rows otherwise is not counted in licenses whose row is another', () => {
  const now = atBoard('Nursing Board', (each) => ({ ...each, source_row: 'individual:1:1' }), oneIn(60));
  const causeOf = ({ board }: License) => (board === 'Nursing Board' ? 'data' : 'release');
  expect(refused(now, BEFORE, { causeOf })).toEqual(['release_changes']);
});

test('licenses whose rows can not be read count in no guard of changes', () => {
  expect(refused(NOT_MEDICAL)).toEqual(['board_changed']);
  expect(refused(NOT_MEDICAL, BEFORE, { causeOf: () => 'rejected_row' })).toEqual([]);
});

test.each([
  [2, []],
  [3, ['column_blank:TYPE']],
])('a column that becomes blank in %d licenses of nine', (count, refusing) => {
  const nine = licensesOf('Dental Board', 9, next);
  const now = nine.map((each, at) => (at < count ? { ...each, license_type: null } : each));
  expect(refused([...BEFORE, ...now], [...BEFORE, ...nine])).toEqual(refusing);
});

test('what is accepted or gone in a column counts in no other guard', () => {
  const now = columnChanged('constant', 'TYPE', 'Nursing Board');
  expect(refused(now)).toEqual(['many_changes', 'column_changed:TYPE']);
  for (const accept of ['column_changed:TYPE', 'column_blank:type', 'column_changed', 'column_blank'])
    expect(refused(now, BEFORE, { accept: [accept] })).toEqual(['column_changed:TYPE']);
  const renumbered = columnChanged('renumbered', 'LICENSE_NUMBER', 'Nursing Board');
  const both = ['board_changed', 'board_changed'];
  expect(refused(renumbered)).toEqual(['many_changes', ...both]);
  expect(refused(renumbered, BEFORE, { accept: ['board_changed'] })).toEqual(both);
  const gone = BEFORE.map((each) => withStatus(each, primary(each), null));
  expect(refused(gone, BEFORE, { goneColumns: ['SUB_STATUS'] })).toEqual([]);
  expect(refused(gone)).toContain('column_blank:SUB_STATUS');
});

describe('forty ordinary days', () => {
  /** Some changes as every day has them. */
  const everyday = (licenses: readonly License[], rest: () => number) =>
    licenses.flatMap((each) => {
      const chance = rest();
      if (chance < 0.001) return [];
      if (chance < 0.002) return [{ ...each, city: 'AKRON' }];
      if (chance < 0.003) return [withStatus(each, 'Inactive', 'Expired')];
      if (chance < 0.004) return [each, { ...each, license_number: `${each.license_number}9` }];
      return [each];
    });

  const isActive = ({ raw_status: raw }: License) => raw === 'Active';
  const opened = (each: License) => (isActive(each) ? withStatus(each, 'Active', 'Active In Renewal') : each);
  const lapsed = (each: License) => (isActive(each) ? withStatus(each, 'Inactive', 'Lapsed') : each);
  const ofType = (each: License, license_type: string) => ({ ...each, license_type });
  const atOf = (board: string) => (change: Change) => (day: readonly License[]) =>
    atBoard(board, change, day);
  const [nurses, doctors] = [atOf('Nursing Board'), atOf('Medical Board')];
  const EVENTS: readonly [string, (day: readonly License[], rest: () => number) => License[], Judged?][] = [
    ['nothing else', (day) => [...day]],
    ['a renewal opens', nurses(opened)],
    ['a renewal closes', nurses((each) => (isActive(each) ? later(each, 2) : each))],
    ['three years are added to every expiry date', doctors((each) => later(each, 3))],
    ['a board lapses 30 %', (day, rest) => doctors((each) => (rest() < 0.8 ? lapsed(each) : each))(day)],
    [
      'a new column',
      (day) => day.map((each) => extra('Telephone').set(each, '1')),
      { newColumns: ['TELEPHONE'] },
    ],
    ['a new license type', (day, rest) => day.map((each) => (rest() < 0.01 ? ofType(each, 'New') : each))],
    ['a new board', (day, rest) => [...day, ...licensesOf('Dental Board', 50, rest)]],
    ['a place is withheld', (day) => day.map((each) => ({ ...each, county: null }))],
    ['the places of a board are withheld', nurses((each) => ({ ...each, city: null }))],
  ];
  const days = Array.from({ length: 40 }, (_, at) => [at, EVENTS[at % EVENTS.length]?.[0]] as const);
  test.each(days)('day %d is not refused: %s', (at) => {
    const [, change, given] = EVENTS[at % EVENTS.length] ?? ['', (day: readonly License[]) => [...day]];
    const rest = createRandom(100 + at, 'ordinary days');
    expect(refused(change(everyday(BEFORE, rest), rest), BEFORE, given)).toEqual([]);
  });
});

/** The license that expires so many years later. */
function later(license: License, years: number): License {
  const { expiry_date: date } = license;
  return { ...license, expiry_date: `${Number(date?.slice(0, 4)) + years}${date?.slice(4)}` };
}
