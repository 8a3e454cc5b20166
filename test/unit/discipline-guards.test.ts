import { describe, expect, test } from '@jest/globals';
import { type Config, readConfig } from '../../src/config.ts';
import type { DisciplineCounts } from '../../src/publications/metadata.ts';
import { type CandidateLicenses, guardLicenses } from '../../workers/publish/guards.ts';
import type { Baseline } from '../../workers/publish/run.ts';
import { reasonsOf } from '../support/judgements.ts';

const DENTAL = 'Dental Board';

function configOf(settings: Readonly<Record<string, string>> = {}): Config {
  return readConfig({
    OPENSEARCH_URL: 'http://127.0.0.1:1',
    REDIS_URL: 'redis://127.0.0.1:1',
    ...settings,
  });
}

const COUNTS = { rows: 10_000, licenses: 10_000, endorsements: 0, rejected: 0 };
const NONE: DisciplineCounts = { board_actions: 0, sub_statuses: {}, boards: {}, missing_columns: [] };

/** What the guards say of files with these counts, after a publication with those. */
function reasons(
  before: Partial<DisciplineCounts> | undefined,
  after: Partial<DisciplineCounts> & { readonly unknown?: number },
  settings: Readonly<Record<string, string>> = {},
): string[] {
  const { board_actions, sub_statuses, boards, missing_columns } = { ...NONE, ...after };
  const now: CandidateLicenses = {
    counts: COUNTS,
    boards: new Map(),
    duplicates: 0,
    unknownRows: 0,
    unknownBoardActions: after.unknown ?? 0,
    discipline: {
      boardActions: board_actions,
      subStatuses: new Map(Object.entries(sub_statuses)),
      boards: new Map(Object.entries(boards)),
      missingColumns: missing_columns,
    },
    cutOff: new Set(),
  };
  const baseline: Baseline = {
    publication: 'baseline',
    date: '2026-11-19',
    counts: COUNTS,
    boards: {},
    ...(before && { discipline: { ...NONE, ...before } }),
  };
  return reasonsOf(guardLicenses(now, baseline, configOf(settings)));
}

function namesOf(sentences: readonly string[]): string[] {
  return sentences.map((sentence) => sentence.slice(0, sentence.indexOf(': ')));
}

describe('a guard stops a drop of licenses with Board Action Yes', () => {
  test.each<[number, number, string, string[]]>([
    [1000, 800, '20', []],
    [1000, 799, '20', ['fewer_board_actions']],
    [1000, 0, '20', ['fewer_board_actions']],
    [1000, 2000, '20', []],
    [3, 2, '20', []],
    [3, 1, '20', []],
    [3, 0, '20', ['fewer_board_actions']],
    [5, 2, '20', ['fewer_board_actions']],
    [1000, 999, '0', []],
    [1000, 997, '0', ['fewer_board_actions']],
    [1000, 0, '100', []],
  ])('from %d to %d (GUARD_MAX_DISCIPLINE_DROP_PERCENT=%s): %j', (before, now, percent, names) => {
    const settings = { GUARD_MAX_DISCIPLINE_DROP_PERCENT: percent };
    expect(namesOf(reasons({ board_actions: before }, { board_actions: now }, settings))).toEqual(names);
  });

  test('and gives the reason with both counts and the setting', () => {
    expect(reasons({ board_actions: 1000 }, { board_actions: 7 })).toEqual([
      'fewer_board_actions: 7 licenses have Board Action Yes, in the live publication 1000; more than 20 % fewer ' +
        '(GUARD_MAX_DISCIPLINE_DROP_PERCENT).',
    ]);
  });
});

describe('a guard stops a drop of licenses with a disciplinary sub-status', () => {
  test.each<[string, Record<string, number>, Record<string, number>, string[]]>([
    ['as many', { SUSPENDED: 100, PROBATION: 100 }, { SUSPENDED: 100, PROBATION: 100 }, []],
    ['some changed to another', { SUSPENDED: 100, REVOKED: 100 }, { SUSPENDED: 91, REVOKED: 109 }, []],
    ['all blanked', { SUSPENDED: 100, REVOKED: 1 }, {}, ['in all', 'SUSPENDED']],
    ['a small one blanked', { SUSPENDED: 100, REVOKED: 9 }, { SUSPENDED: 100 }, []],
    ['one of several blanked', { SUSPENDED: 100, REVOKED: 10 }, { SUSPENDED: 100 }, ['REVOKED']],
    ['few, all blanked', { SUSPENDED: 2, REVOKED: 1 }, {}, ['in all']],
    ['one of three', { SUSPENDED: 2, REVOKED: 1 }, { SUSPENDED: 2 }, []],
  ])('%s', (_what, before, now, groups) => {
    const said = reasons({ sub_statuses: before }, { sub_statuses: now });
    expect(said.map((reason) => /the sub-status ([A-Z ]+),/.exec(reason)?.[1] ?? 'in all')).toEqual(groups);
    expect(new Set(namesOf(said))).toEqual(new Set(groups.length === 0 ? [] : ['fewer_disciplined']));
  });

  test('even if it is at one board only and small in the total', () => {
    const before = { board_actions: 1000, boards: { [DENTAL]: 40 } };
    expect(reasons(before, { board_actions: 960, boards: { [DENTAL]: 0 } })).toEqual([
      'fewer_disciplined: 0 licenses of the board "Dental Board" tell of discipline, in the live publication 40; ' +
        'more than 20 % fewer (GUARD_MAX_DISCIPLINE_DROP_PERCENT).',
    ]);
  });
});

test('no guard about discipline applies if the live publication, of version 0.2.0, has no counts of it', () => {
  expect(reasons(undefined, { missing_columns: ['individual.SUB_STATUS'] })).toEqual([]);
});

test.each<[number, number, string[]]>([
  [2, 0, []],
  [3, 0, ['unknown_board_actions']],
  [10, 990, []],
  [11, 989, ['unknown_board_actions']],
  [1000, 0, ['unknown_board_actions']],
])(
  'a guard stops many unknown Board Actions: %d unknown beside %d with Yes: %j',
  (unknown, board_actions, names) => {
    expect(namesOf(reasons(undefined, { unknown, board_actions }))).toEqual(names);
  },
);
