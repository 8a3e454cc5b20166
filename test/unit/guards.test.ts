import { describe, expect, test } from '@jest/globals';
import { readConfig } from '../../src/config.ts';
import type { DatasetFile } from '../../src/dataset/columns.ts';
import type { PublicationSummary } from '../../src/publications/history.ts';
import {
  type CandidateFiles,
  type CandidateLicenses,
  guardFiles as filesGuards,
  guardLicenses as licensesGuards,
} from '../../workers/publish/guards.ts';
import type { Judgement } from '../../workers/publish/judgement.ts';
import type { Baseline } from '../../workers/publish/run.ts';

const NURSING = 'Nursing Board';
const DENTAL = 'Dental Board';
const DATE = '2026-11-20';
const HASHES = { individual: 'a'.repeat(64), business: 'b'.repeat(64) };
const COUNTS = { rows: 10_000, licenses: 10_000, endorsements: 0, rejected: 0 };
const NO_DISCIPLINE = { board_actions: 0, sub_statuses: {}, boards: {}, missing_columns: [] };
const NO_FAULT: CandidateLicenses = {
  ...{ counts: COUNTS, boards: {}, discipline: NO_DISCIPLINE, cutOff: new Set() },
  ...{ duplicates: 0, unknownRows: 0, unknownBoardActions: 0 },
};

type Settings = Readonly<Record<string, string>>;

const configOf = (settings: Settings = {}) => readConfig({ STATE_DIR: '/nowhere', ...settings });

/** Why guards refuse, as the ledger has it. */
const reasonsOf = (judgements: readonly Judgement[]) =>
  judgements.filter(({ passed }) => !passed).map(({ check, sentence }) => `${check}: ${sentence}`);

/** The name that each reason begins with. */
const namesOf = (reasons: readonly string[]) =>
  reasons.map((reason) => reason.slice(0, reason.indexOf(': ')));

function baselineWith(details: Partial<NonNullable<Baseline>> = {}): NonNullable<Baseline> {
  return { publication: 'baseline', date: '2026-11-19', counts: COUNTS, boards: {}, ...details };
}

type Files = Partial<Record<'date' | 'today' | 'live', string>> &
  Partial<Record<'individual' | 'business', string | undefined>> & {
    readonly settings?: Settings;
    readonly rolledBack?: readonly PublicationSummary['sha256'][];
  };

function reasons(files: Files): string[] {
  const { date = DATE, today = '2028-01-01', live, settings, rolledBack = [] } = files;
  const sources: CandidateFiles = {
    individual: { runDate: 'individual' in files ? files.individual : date, sha256: HASHES.individual },
    business: { runDate: 'business' in files ? files.business : date, sha256: HASHES.business },
  };
  const baseline = live === undefined ? undefined : baselineWith({ date: live });
  const summaries = rolledBack.map((sha256, at): PublicationSummary => {
    return { publication: `regretted${at}`, state: 'rolled_back', at: '2026-11-20T06:00:00.000Z', sha256 };
  });
  return reasonsOf(filesGuards(sources, { date, today }, baseline, summaries, configOf(settings)));
}

const OLDER = { GUARD_MAX_DAYS_OLDER: '1' };
test.each<[Files, string[]]>([
  [{}, []],
  [{ business: undefined }, []],
  [{ individual: undefined }, []],
  [{ individual: undefined, business: undefined }, []],
  [{ business: '2026-11-19' }, ['dates_differ']],
  [{ individual: '2026-11-19' }, ['dates_differ']],
  [{ date: '1999-01-01' }, []],
  [{ live: '2026-11-19' }, []],
  [{ live: DATE }, []],
  [{ live: '2026-11-21' }, ['older']],
  [{ live: '2026-11-21', settings: OLDER }, []],
  [{ live: '2026-11-22', settings: OLDER }, ['older']],
  [{ live: '2027-11-20', settings: { GUARD_MAX_DAYS_OLDER: '7' } }, ['older']],
  [{ today: DATE, date: '2026-11-21' }, []],
  [{ today: DATE, date: '2026-11-22' }, ['future']],
  [{ today: DATE, date: '2026-11-22', live: '2026-11-19' }, ['future']],
  // A live one of the future, which was forced, does not stop the next files.
  [{ today: DATE, live: '2062-11-20' }, []],
  [{ rolledBack: [HASHES] }, ['rolled_back']],
  [{ rolledBack: [{ ...HASHES, business: 'c' }, { ...HASHES, individual: 'c' }, undefined] }, []],
])('files %j: %j', (files, names) => {
  expect(namesOf(reasons(files))).toEqual(names);
});

test('files are refused with what differs', () => {
  const files = { date: '2062-01-01', today: DATE, business: '2062-01-03', live: DATE };
  expect(reasons({ ...files, rolledBack: [undefined, HASHES] })).toEqual([
    'dates_differ: The individual file has the date 2062-01-01, the business file 2062-01-03.',
    'future: The files have the date 2062-01-01, but today is 2026-11-20 in Ohio.',
    'rolled_back: Publication regretted1 had the same files and was rolled back.',
  ]);
  const older = (live: string) => reasons({ live }).join();
  expect(older('2026-11-21')).toBe(
    'older: The files have the date 2026-11-20, 1 day older than the live publication of 2026-11-21 (GUARD_MAX_DAYS_OLDER=0).',
  );
  expect(older('2026-11-30')).toContain('10 days older');
});

describe('licenses', () => {
  type Counted = Pick<CandidateLicenses, 'boards' | 'duplicates' | 'unknownRows' | 'unknownBoardActions'>;

  interface Loaded extends Partial<Counted> {
    readonly licenses?: number;
    readonly rejected?: number;
    readonly cutOff?: readonly DatasetFile[];
    readonly discipline?: Partial<CandidateLicenses['discipline']>;
  }
  type Before = Pick<Loaded, 'licenses' | 'boards' | 'discipline'>;

  /** What the guards say of what was loaded: 10,000 rows without a fault but for what is given. */
  function reasons(loaded: Loaded, before?: Before, settings: Settings = {}): string[] {
    const { licenses = 10_000, rejected = 0, cutOff = [], discipline, ...counted } = loaded;
    const now: CandidateLicenses = {
      ...{ ...NO_FAULT, ...counted, counts: { ...COUNTS, licenses, rejected } },
      ...{ discipline: { ...NO_DISCIPLINE, ...discipline }, cutOff: new Set(cutOff) },
    };
    const baseline =
      before &&
      baselineWith({
        counts: { ...COUNTS, licenses: before.licenses ?? 10_000 },
        boards: before.boards ?? {},
        ...(before.discipline && { discipline: { ...NO_DISCIPLINE, ...before.discipline } }),
      });
    return reasonsOf(licensesGuards(now, baseline, configOf(settings)));
  }

  const nurses = (count: number) => ({ boards: { [NURSING]: count } });
  const least = (percent: string) => ({ GUARD_MIN_ROWS_PERCENT: percent });
  const actions = (unknown: number, yes: number) => ({
    ...{ unknownBoardActions: unknown, discipline: { board_actions: yes } },
  });
  const fewer = (count: string) => ({ GUARD_BOARD_ROWS_FEWER: count });

  test.each<[string, Loaded, Before | undefined, Settings, string[]]>([
    ['as many', nurses(9000), nurses(9000), {}, []],
    ['more at a board, and a new board', { boards: { [NURSING]: 5000, [DENTAL]: 5 } }, nurses(1000), {}, []],
    ['nothing, where nothing is live', { licenses: 0 }, undefined, {}, []],
    ['97 %', { licenses: 9700 }, {}, {}, []],
    ['under 97 %', { licenses: 9699 }, {}, {}, ['fewer_rows']],
    ['nothing', { licenses: 0 }, {}, {}, ['fewer_rows']],
    ['nothing, which is allowed', { licenses: 0 }, {}, least('0'), []],
    ['one fewer, where none may be', { licenses: 9999 }, {}, least('100'), ['fewer_rows']],
    // 97 % of 33 are 32.01.
    ['one of 33 fewer', { licenses: 32 }, { licenses: 33 }, {}, ['fewer_rows']],
    ['99.5 %', { licenses: 995 }, { licenses: 1000 }, least('99.5'), []],
    ['under 99.5 %', { licenses: 994 }, { licenses: 1000 }, least('99.5'), ['fewer_rows']],
    ['50 fewer at a board, under 97 %', nurses(950), nurses(1000), {}, []],
    ['51 fewer at a board, under 97 %', nurses(949), nurses(1000), {}, ['fewer_rows_at_board']],
    ['97 % at a board', nurses(9700), nurses(10_000), {}, []],
    ['under 97 % at a board', nurses(9699), nurses(10_000), {}, ['fewer_rows_at_board']],
    ['a board that had another name then', nurses(1000), { boards: { 'Board of Nursing': 1000 } }, {}, []],
    ['a board of 50 that is gone', {}, nurses(50), {}, []],
    ['a board of 51 that is gone', {}, nurses(51), {}, ['fewer_rows_at_board']],
    ['one fewer at a board, where none may be', nurses(9), nurses(10), fewer('0'), ['fewer_rows_at_board']],
    ['100 fewer, where 100 never matter', nurses(900), nurses(1000), fewer('100'), []],
    ['half, where half is enough', nurses(500), nurses(1000), least('50'), []],
    ['0.5 % rejected', { rejected: 50 }, undefined, {}, []],
    ['more than 0.5 % rejected', { rejected: 51 }, undefined, {}, ['rejected']],
    ['one, where none may be', { rejected: 1 }, undefined, { GUARD_MAX_REJECTED_PERCENT: '0' }, ['rejected']],
    ['a duplicate', { duplicates: 1 }, undefined, {}, ['duplicates']],
    ['five duplicates, where five may be', { duplicates: 5 }, undefined, { GUARD_MAX_DUPLICATES: '5' }, []],
    ['six, where five may be', { duplicates: 6 }, undefined, { GUARD_MAX_DUPLICATES: '5' }, ['duplicates']],
    ['1 % with unknown labels', { unknownRows: 100 }, undefined, {}, []],
    ['more than 1 % with unknown labels', { unknownRows: 101 }, undefined, {}, ['unknown_labels']],
    ['two unknown Board Actions', { unknownBoardActions: 2 }, undefined, {}, []],
    ['three unknown Board Actions', { unknownBoardActions: 3 }, undefined, {}, ['unknown_board_actions']],
    ['1 % unknown Board Actions', actions(10, 990), undefined, {}, []],
    ['more than 1 % unknown Board Actions', actions(11, 989), undefined, {}, ['unknown_board_actions']],
    ['both cut off', { cutOff: ['individual', 'business'] }, undefined, {}, ['truncated', 'truncated']],
  ])('%s', (_what, loaded, before, settings, names) => {
    expect(namesOf(reasons(loaded, before, settings))).toEqual(names);
  });

  test.each<[number, number, string, string[]]>([
    [1000, 800, '20', []],
    [1000, 799, '20', ['fewer_board_actions']],
    [1000, 2000, '20', []],
    [3, 1, '20', []],
    [3, 0, '20', ['fewer_board_actions']],
    [1000, 998, '0', []],
    [1000, 997, '0', ['fewer_board_actions']],
    [1000, 0, '100', []],
  ])(
    'with Board Action Yes, from %d to %d (GUARD_MAX_DISCIPLINE_DROP_PERCENT=%s): %j',
    (before, now, percent, names) => {
      const settings = { GUARD_MAX_DISCIPLINE_DROP_PERCENT: percent };
      const of = (board_actions: number) => ({ discipline: { board_actions } });
      expect(namesOf(reasons(of(now), of(before), settings))).toEqual(names);
    },
  );

  test.each<[string, Record<string, number>, Record<string, number>, string[]]>([
    ['some changed to another', { SUSPENDED: 100, REVOKED: 100 }, { SUSPENDED: 91, REVOKED: 109 }, []],
    ['all blanked', { SUSPENDED: 100, REVOKED: 1 }, {}, ['in all', 'SUSPENDED']],
    ['a small one blanked', { SUSPENDED: 100, REVOKED: 9 }, { SUSPENDED: 100 }, []],
    ['one of several blanked', { SUSPENDED: 100, REVOKED: 10 }, { SUSPENDED: 100 }, ['REVOKED']],
    ['few, all blanked', { SUSPENDED: 2, REVOKED: 1 }, {}, ['in all']],
    ['one of three', { SUSPENDED: 2, REVOKED: 1 }, { SUSPENDED: 2 }, []],
  ])('with a disciplinary sub-status: %s', (_what, before, now, groups) => {
    const said = reasons({ discipline: { sub_statuses: now } }, { discipline: { sub_statuses: before } });
    expect(said.map((reason) => /the sub-status ([A-Z ]+),/.exec(reason)?.[1] ?? 'in all')).toEqual(groups);
    expect(new Set(namesOf(said))).toEqual(new Set(groups.length === 0 ? [] : ['fewer_disciplined']));
  });

  test('with discipline that vanishes at one board only are refused, not where version 0.2.0 did not count it', () => {
    const now = { discipline: { board_actions: 960, boards: { [DENTAL]: 0 } } };
    expect(reasons(now, { discipline: { board_actions: 1000, boards: { [DENTAL]: 40 } } })).toEqual([
      'fewer_disciplined: 0 licenses of the board "Dental Board" tell of discipline, in the live publication 40; ' +
        'more than 20 % fewer (GUARD_MAX_DISCIPLINE_DROP_PERCENT).',
    ]);
    expect(reasons({ discipline: { missing_columns: ['individual.SUB_STATUS'] } }, {})).toEqual([]);
    const named = (board: string) => ({ discipline: { boards: { [board]: 40 } } });
    expect(reasons(named(NURSING), named('Board of Nursing'))).toEqual([]);
  });

  test('with all faults are refused for each, and boards are in the order of the catalog', () => {
    const bad: Loaded = {
      ...{ licenses: 5000, rejected: 5000, boards: { [NURSING]: 1 }, duplicates: 3, unknownRows: 400 },
      ...{ cutOff: ['individual'], unknownBoardActions: 7, discipline: { board_actions: 7 } },
    };
    const discipline = { board_actions: 1000 };
    expect(reasons(bad, { boards: { [DENTAL]: 1000, [NURSING]: 9000 }, discipline })).toEqual([
      'truncated: The individual file ends inside a row; it was cut off on its way.',
      'fewer_rows: 5000 rows give a license, the live publication has 10000; fewer than 97 % (GUARD_MIN_ROWS_PERCENT).',
      'fewer_rows_at_board: Nursing Board has 1 licenses, in the live publication 9000; fewer than 97 % ' +
        '(GUARD_MIN_ROWS_PERCENT) and more than 50 fewer (GUARD_BOARD_ROWS_FEWER).',
      expect.stringContaining(DENTAL),
      'rejected: 5000 of 10000 rows were rejected, more than 0.5 % (GUARD_MAX_REJECTED_PERCENT).',
      'duplicates: 3 numbers are duplicated within a board, more than 0 (GUARD_MAX_DUPLICATES).',
      'unknown_labels: 400 of 10000 rows have a board or status that is not in the catalog, more than 1 % ' +
        '(GUARD_MAX_UNKNOWN_PERCENT).',
      expect.stringMatching(/^unknown_board_actions: 7 .* 7 have Yes; .* \(GUARD_MAX_UNKNOWN_PERCENT\)\.$/),
      'fewer_board_actions: 7 licenses have Board Action Yes, in the live publication 1000; more than 20 % fewer ' +
        '(GUARD_MAX_DISCIPLINE_DROP_PERCENT).',
    ]);
  });
});
