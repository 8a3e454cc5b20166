import { describe, expect, test } from '@jest/globals';
import { type Config, readConfig } from '../../src/config.ts';
import type { DatasetFile } from '../../src/dataset/columns.ts';
import type { PublicationSummary } from '../../src/publications/history.ts';
import {
  type CandidateFiles,
  type CandidateLicenses,
  guardFiles as filesGuards,
  guardLicenses as licensesGuards,
} from '../../workers/publish/guards.ts';
import type { Baseline } from '../../workers/publish/run.ts';
import { reasonsOf } from '../support/judgements.ts';

const NURSING = 'Nursing Board';
const DENTAL = 'Dental Board';
const DATE = '2026-11-20';
const LATER = '2028-01-01';

function configOf(settings: Readonly<Record<string, string>> = {}): Config {
  return readConfig({
    OPENSEARCH_URL: 'http://127.0.0.1:1',
    REDIS_URL: 'redis://127.0.0.1:1',
    ...settings,
  });
}

const CONFIG = configOf();

/** Why the guards refuse files. */
function guardFiles(...given: Parameters<typeof filesGuards>): string[] {
  return reasonsOf(filesGuards(...given));
}

/** Why the guards refuse licenses. */
function guardLicenses(...given: Parameters<typeof licensesGuards>): string[] {
  return reasonsOf(licensesGuards(...given));
}

/** The name that a reason begins with. */
function namesOf(reasons: readonly string[]): string[] {
  return reasons.map((reason) => reason.slice(0, reason.indexOf(': ')));
}

const HASHES = { individual: 'a'.repeat(64), business: 'b'.repeat(64) };

function sourcesOf(individual?: string, business?: string): CandidateFiles['sources'] {
  return {
    individual: { runDate: individual, sha256: HASHES.individual },
    business: { runDate: business, sha256: HASHES.business },
  };
}

function candidateFiles(files: Partial<CandidateFiles> = {}): CandidateFiles {
  return {
    date: DATE,
    today: DATE,
    sources: sourcesOf(DATE, DATE),
    ...files,
  };
}

function baselineWith(details: Partial<NonNullable<Baseline>> = {}): NonNullable<Baseline> {
  const counts = { rows: 10_000, licenses: 10_000, endorsements: 0, rejected: 0 };
  return { publication: 'baseline', date: '2026-11-19', counts, boards: {}, ...details };
}

/** What was loaded: 10,000 rows without a fault, but for what is given. */
function loaded(
  details: Partial<Omit<CandidateLicenses, 'counts' | 'boards'>> & {
    readonly counts?: Partial<CandidateLicenses['counts']>;
    readonly boards?: Readonly<Record<string, number>>;
  } = {},
): CandidateLicenses {
  const { counts, boards = {}, ...others } = details;
  return {
    counts: { rows: 10_000, licenses: 10_000, endorsements: 0, rejected: 0, ...counts },
    boards: new Map(Object.entries(boards)),
    duplicates: 0,
    unknownRows: 0,
    unknownBoardActions: 0,
    discipline: { boardActions: 0, subStatuses: new Map(), boards: new Map(), missingColumns: [] },
    cutOff: new Set(),
    ...others,
  };
}

describe('files without faults', () => {
  test('pass all guards, with and without a live publication', () => {
    const boards = { [NURSING]: 9000, [DENTAL]: 1000 };
    for (const baseline of [undefined, baselineWith({ boards })]) {
      expect(guardFiles(candidateFiles(), baseline, [], CONFIG)).toEqual([]);
      expect(guardLicenses(loaded({ boards }), baseline, CONFIG)).toEqual([]);
    }
  });
});

describe('the dates of the files', () => {
  test.each<[string | undefined, string | undefined, string[]]>([
    ['2026-11-20', '2026-11-20', []],
    ['2026-11-20', undefined, []],
    [undefined, '2026-11-20', []],
    [undefined, undefined, []],
    ['2026-11-20', '2026-11-19', ['dates_differ']],
    ['2026-11-19', '2026-11-20', ['dates_differ']],
  ])('%s (individual) and %s (business) give the reasons %j', (individual, business, names) => {
    const files = candidateFiles({ sources: sourcesOf(individual, business) });
    expect(namesOf(guardFiles(files, undefined, [], CONFIG))).toEqual(names);
  });

  test('are both in the reason if they differ', () => {
    const sources = sourcesOf('2026-11-20', '2026-11-18');
    expect(guardFiles(candidateFiles({ sources }), undefined, [], CONFIG)).toEqual([
      'dates_differ: The individual file is of 2026-11-20, the business file of 2026-11-18.',
    ]);
  });

  test.each<[string, string, string, string[]]>([
    ['a day later', '2026-11-19', '0', []],
    ['of the same day', '2026-11-20', '0', []],
    ['a day older', '2026-11-21', '0', ['older']],
    ['a day older, where one may be', '2026-11-21', '1', []],
    ['two days older, where one may be', '2026-11-22', '1', ['older']],
    ['a year older', '2027-11-20', '7', ['older']],
  ])('%s than the live publication of %s (GUARD_MAX_DAYS_OLDER=%s): %j', (_how, date, most, names) => {
    const config = configOf({ GUARD_MAX_DAYS_OLDER: most });
    expect(namesOf(guardFiles(candidateFiles({ today: LATER }), baselineWith({ date }), [], config))).toEqual(
      names,
    );
  });

  test('if too old, give a reason with the age and the setting', () => {
    expect(guardFiles(candidateFiles(), baselineWith({ date: '2026-11-21' }), [], CONFIG)).toEqual([
      'older: The files are of 2026-11-20, 1 day older than the live publication of 2026-11-21 (GUARD_MAX_DAYS_OLDER=0).',
    ]);
    const files = candidateFiles({ today: LATER });
    expect(guardFiles(files, baselineWith({ date: '2026-11-30' }), [], CONFIG)).toEqual([
      expect.stringContaining('10 days older'),
    ]);
  });

  test('are never too old without a live publication', () => {
    expect(guardFiles(candidateFiles({ date: '1999-01-01' }), undefined, [], CONFIG)).toEqual([]);
  });
});

describe('a date in the future', () => {
  test.each<[string, string[]]>([
    ['2026-11-20', []],
    ['2026-11-21', []],
    ['2026-11-22', ['future']],
    ['2062-11-20', ['future']],
  ])('%s, if today is 2026-11-20: %j', (date, names) => {
    const files = candidateFiles({ date, sources: sourcesOf(date, date) });
    expect(namesOf(guardFiles(files, undefined, [], CONFIG))).toEqual(names);
    expect(namesOf(guardFiles(files, baselineWith(), [], CONFIG))).toEqual(names);
  });

  test("gives a reason with today's date", () => {
    expect(guardFiles(candidateFiles({ date: '2062-01-01' }), undefined, [], CONFIG)).toEqual([
      'future: The files are of 2062-01-01, but today is 2026-11-20 in Ohio.',
    ]);
  });

  test('of the live publication, which was forced, does not stop the next files', () => {
    expect(guardFiles(candidateFiles(), baselineWith({ date: '2062-11-20' }), [], CONFIG)).toEqual([]);
  });
});

describe('files of a publication that was rolled back', () => {
  function rolledBack(sha256: PublicationSummary['sha256']): PublicationSummary {
    return { publication: 'regretted', state: 'rolled_back', at: '2026-11-20T06:00:00.000Z', sha256 };
  }

  test.each<[string, PublicationSummary['sha256'], string[]]>([
    ['both the same', HASHES, ['rolled_back']],
    ['the individual file alone the same', { ...HASHES, business: 'c'.repeat(64) }, []],
    ['the business file alone the same', { ...HASHES, individual: 'c'.repeat(64) }, []],
    ['unknown', undefined, []],
  ])('are refused if both are the same; %s: %j', (_which, sha256, names) => {
    expect(namesOf(guardFiles(candidateFiles(), undefined, [rolledBack(sha256)], CONFIG))).toEqual(names);
  });

  test('are found among several rollbacks, and the reason names the publication', () => {
    const others = [rolledBack(undefined), rolledBack({ individual: 'c', business: 'd' })];
    expect(guardFiles(candidateFiles(), undefined, [...others, rolledBack(HASHES)], CONFIG)).toEqual([
      'rolled_back: Publication regretted had the same files and was rolled back.',
    ]);
  });
});

describe('fewer licenses than the live publication has', () => {
  test.each<[number, number, string, string[]]>([
    [10_000, 9700, '97', []],
    [10_000, 9699, '97', ['fewer_rows']],
    [10_000, 12_000, '97', []],
    [10_000, 0, '97', ['fewer_rows']],
    [10_000, 0, '0', []],
    [10_000, 9999, '100', ['fewer_rows']],
    [10_000, 10_000, '100', []],
    // 97 % of 33 are 32.01.
    [33, 33, '97', []],
    [33, 32, '97', ['fewer_rows']],
    [1000, 995, '99.5', []],
    [1000, 994, '99.5', ['fewer_rows']],
  ])('from %d to %d (GUARD_MIN_ROWS_PERCENT=%s): %j', (before, now, least, names) => {
    const counts = { rows: before, licenses: before, endorsements: 0, rejected: 0 };
    const config = configOf({ GUARD_MIN_ROWS_PERCENT: least });
    const reasons = guardLicenses(loaded({ counts: { licenses: now } }), baselineWith({ counts }), config);
    expect(namesOf(reasons)).toEqual(names);
  });

  test('give a reason with both counts and the setting', () => {
    expect(guardLicenses(loaded({ counts: { licenses: 9699 } }), baselineWith(), CONFIG)).toEqual([
      'fewer_rows: 9699 rows give a license, the live publication has 10000; fewer than 97 % (GUARD_MIN_ROWS_PERCENT).',
    ]);
  });

  test('are accepted if nothing is live, or if the live publication has no counts', () => {
    const nothing = loaded({ counts: { licenses: 0 } });
    expect(guardLicenses(nothing, undefined, CONFIG)).toEqual([]);
    const { counts: _none, ...withoutCounts } = baselineWith({ boards: { [NURSING]: 9000 } });
    expect(guardLicenses(nothing, withoutCounts, CONFIG)).toEqual([]);
  });
});

describe('fewer licenses at one board', () => {
  test.each<[string, number, number | undefined, Record<string, string>, string[]]>([
    ['as many', 1000, 1000, {}, []],
    ['50 fewer, under 97 %', 1000, 950, {}, []],
    ['51 fewer, under 97 %', 1000, 949, {}, ['fewer_rows_at_board']],
    ['exactly 97 %, more than 50 fewer', 10_000, 9700, {}, []],
    ['one under 97 %, more than 50 fewer', 10_000, 9699, {}, ['fewer_rows_at_board']],
    ['a small board that is gone', 50, undefined, {}, []],
    ['a board of 51 that is gone', 51, undefined, {}, ['fewer_rows_at_board']],
    ['a large board that is gone', 9000, undefined, {}, ['fewer_rows_at_board']],
    ['one fewer, where none may be', 10, 9, { GUARD_BOARD_ROWS_FEWER: '0' }, ['fewer_rows_at_board']],
    ['100 fewer, where 100 never matter', 1000, 900, { GUARD_BOARD_ROWS_FEWER: '100' }, []],
    ['101 fewer', 1000, 899, { GUARD_BOARD_ROWS_FEWER: '100' }, ['fewer_rows_at_board']],
    ['half, where half is enough', 1000, 500, { GUARD_MIN_ROWS_PERCENT: '50' }, []],
  ])('%s (%d, now %s) with %j: %j', (_what, before, now, settings, names) => {
    const boards: Record<string, number> = now === undefined ? {} : { [NURSING]: now };
    const baseline = baselineWith({ boards: { [NURSING]: before } });
    expect(namesOf(guardLicenses(loaded({ boards }), baseline, configOf(settings)))).toEqual(names);
  });

  test('give a reason with the board, both counts and both settings', () => {
    const baseline = baselineWith({ boards: { [NURSING]: 1000 } });
    expect(guardLicenses(loaded({ boards: { [NURSING]: 900 } }), baseline, CONFIG)).toEqual([
      'fewer_rows_at_board: Nursing Board has 900 licenses, in the live publication 1000; fewer than 97 % ' +
        '(GUARD_MIN_ROWS_PERCENT) and more than 50 fewer (GUARD_BOARD_ROWS_FEWER).',
    ]);
  });

  test('give a reason for each board, in the order of the catalog', () => {
    const baseline = baselineWith({ boards: { [DENTAL]: 1000, [NURSING]: 1000 } });
    const [first, second] = guardLicenses(loaded(), baseline, CONFIG);
    expect(first).toContain(NURSING);
    expect(second).toContain(DENTAL);
  });

  test('are not reported for a new or growing board', () => {
    const baseline = baselineWith({ boards: { [NURSING]: 1000 } });
    expect(guardLicenses(loaded({ boards: { [NURSING]: 5000, [DENTAL]: 5 } }), baseline, CONFIG)).toEqual([]);
  });
});

describe('rows', () => {
  test.each<[number, string, string[]]>([
    [0, '0.5', []],
    [50, '0.5', []],
    [51, '0.5', ['rejected']],
    [1, '0', ['rejected']],
    [10_000, '100', []],
  ])('%d of 10,000 rejected (GUARD_MAX_REJECTED_PERCENT=%s): %j', (rejected, most, names) => {
    const config = configOf({ GUARD_MAX_REJECTED_PERCENT: most });
    expect(namesOf(guardLicenses(loaded({ counts: { rejected } }), undefined, config))).toEqual(names);
  });

  test.each<[number, string, string[]]>([
    [0, '0', []],
    [1, '0', ['duplicates']],
    [5, '5', []],
    [6, '5', ['duplicates']],
  ])('%d duplicates (GUARD_MAX_DUPLICATES=%s): %j', (duplicates, most, names) => {
    const config = configOf({ GUARD_MAX_DUPLICATES: most });
    expect(namesOf(guardLicenses(loaded({ duplicates }), undefined, config))).toEqual(names);
  });

  test.each<[number, string, string[]]>([
    [0, '1', []],
    [100, '1', []],
    [101, '1', ['unknown_labels']],
    [1, '0', ['unknown_labels']],
    [10_000, '100', []],
  ])('%d of 10,000 with unknown labels (GUARD_MAX_UNKNOWN_PERCENT=%s): %j', (unknownRows, most, names) => {
    const config = configOf({ GUARD_MAX_UNKNOWN_PERCENT: most });
    expect(namesOf(guardLicenses(loaded({ unknownRows }), undefined, config))).toEqual(names);
  });

  test.each<[DatasetFile[], string[]]>([
    [[], []],
    [['business'], ['truncated: The business file ends inside a row; it was cut off on its way.']],
    [
      ['individual', 'business'],
      [
        'truncated: The individual file ends inside a row; it was cut off on its way.',
        'truncated: The business file ends inside a row; it was cut off on its way.',
      ],
    ],
  ])('cut off in %j: %j', (files, reasons) => {
    expect(guardLicenses(loaded({ cutOff: new Set(files) }), undefined, CONFIG)).toEqual(reasons);
  });
});

test('all faults are reported at once, and each with a threshold names its setting', () => {
  const bad = loaded({
    counts: { licenses: 5000, rejected: 5000 },
    boards: { [NURSING]: 1 },
    duplicates: 3,
    unknownRows: 400,
    cutOff: new Set<DatasetFile>(['individual']),
  });
  const reasons = guardLicenses(bad, baselineWith({ boards: { [NURSING]: 9000 } }), CONFIG);
  expect(namesOf(reasons)).toEqual([
    'truncated',
    'fewer_rows',
    'fewer_rows_at_board',
    'rejected',
    'duplicates',
    'unknown_labels',
  ]);
  expect(reasons.map((reason) => reason.match(/GUARD_\w+/g) ?? [])).toEqual([
    [],
    ['GUARD_MIN_ROWS_PERCENT'],
    ['GUARD_MIN_ROWS_PERCENT', 'GUARD_BOARD_ROWS_FEWER'],
    ['GUARD_MAX_REJECTED_PERCENT'],
    ['GUARD_MAX_DUPLICATES'],
    ['GUARD_MAX_UNKNOWN_PERCENT'],
  ]);
});
