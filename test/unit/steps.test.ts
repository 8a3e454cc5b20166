import { describe, expect, test } from '@jest/globals';
import type { Board } from '../../src/licenses/boards.ts';
import type { StoredLicense } from '../../src/licenses/license.ts';
import { type LookupRequest, MAX_MATCHES, type TypedName } from '../../src/licenses/lookup.ts';
import {
  businessQuery,
  businessWordsQuery,
  commonNumberQuery,
  type NearSurnamesQuery,
  nearNumberQuery,
  nearSurnamesQuery,
  numberQuery,
  personQuery,
  writtenNumberQuery,
} from '../../src/lookup/queries.ts';
import type { LicenseQuery, PublicationSearch, SearchResult } from '../../src/lookup/search.ts';
import { lookUp as lookUpRequest } from '../../src/lookup/steps.ts';
import { boardOfCode } from '../support/boards.ts';
import { storedLicense } from '../support/records.ts';

type Search = PublicationSearch['search'];
type NearSurnames = PublicationSearch['nearSurnames'];

const NURSING = boardOfCode('NUR');
const PHARMACY = boardOfCode('PRX');
const SPEECH = boardOfCode('SHP');
const PSYCHOLOGY = boardOfCode('PSY');

/** What a query's own search finds: one license more than a lookup returns shows that there are more. */
function result(licenses: readonly StoredLicense[]): SearchResult {
  return { licenses, isComplete: licenses.length <= MAX_MATCHES };
}

/** A publication that returns the next of these lists for each query, and records the queries. */
function publicationAnswering(...lists: StoredLicense[][]) {
  const queries: LicenseQuery[] = [];
  const search: Search = async (query) => {
    const list = lists[queries.length];
    queries.push(query);
    if (list === undefined) throw new Error('One query more than expected.');
    return result(list);
  };
  return { queries, search };
}

/** Surnames with a similar spelling, by `BOARD/SURNAME`; records the queries. */
function surnamesNear(near: Readonly<Record<string, string[]>> = {}) {
  const nearQueries: NearSurnamesQuery[] = [];
  const nearSurnames: NearSurnames = async (query) => {
    nearQueries.push(query);
    return query.boards.flatMap(({ code }) => near[`${code}/${query.surname}`] ?? []);
  };
  return { nearQueries, nearSurnames };
}

function numbered(...numbers: string[]): StoredLicense[] {
  return numbers.map((number) => storedLicense({ license_number: number }));
}

function byNumber(
  number: string,
  rest: { board?: typeof NURSING | undefined; businessOnly?: boolean } = {},
): LookupRequest {
  return { by: 'number', number, board: rest.board, businessOnly: rest.businessOnly ?? false };
}

function bySurname(lastName: string) {
  return { by: 'person', board: NURSING, lastName, filters: {} } as const;
}

function byPerson(lastName: string): LookupRequest {
  return { ...bySurname(lastName), firstName: 'Ann', filters: { city: 'Lima' } };
}

/**
 * The outcome; of a miss without the request, which it repeats.
 *
 * @param nearSurnames without it, no suggestions are asked for
 */
async function lookUp(asked: LookupRequest, search: Search, nearSurnames?: NearSurnames) {
  const publication = { search, nearSurnames: nearSurnames ?? surnamesNear().nearSurnames };
  const outcome = await lookUpRequest(asked, publication, nearSurnames !== undefined);
  if (outcome.outcome !== 'none') return outcome;
  const { request, ...rest } = outcome;
  expect(request).toBe(asked);
  return rest;
}

describe('a lookup by number', () => {
  test('without a board searches once, for all forms of the number', async () => {
    const { queries, search } = publicationAnswering([]);
    await lookUp(byNumber('rn 123456'), search);
    expect(queries).toEqual([numberQuery('RN.123456')]);
  });

  test('at a board searches for the number as typed, then for its other forms if the board has none like it', async () => {
    const license = storedLicense({ license_number: 'RN.123456' });
    const request = byNumber('RN.123456', { board: NURSING });
    const written = publicationAnswering([license]);
    expect(await lookUp(request, written.search)).toEqual({ outcome: 'found', record: license });
    expect(written.queries).toEqual([writtenNumberQuery(NURSING, 'RN.123456')]);
    const other = storedLicense({ license_number: 'RN-123456' });
    const inOtherForm = publicationAnswering([], [other]);
    expect(await lookUp(request, inOtherForm.search)).toEqual({ outcome: 'found', record: other });
    expect(inOtherForm.queries).toEqual([writtenNumberQuery(NURSING, 'RN.123456'), numberQuery('RN.123456')]);
  });

  test('returns no license of another number or board that a search for the number as typed returns', async () => {
    for (const stranger of [
      storedLicense({ license_number: 'RN.999999' }),
      storedLicense({ license_number: 'RN.123456', board: PHARMACY.name }),
    ]) {
      const { search } = publicationAnswering([stranger], []);
      expect(await lookUp(byNumber('RN.123456', { board: NURSING }), search)).toMatchObject({
        outcome: 'none',
      });
    }
  });

  test('searches at the board asked if more licenses have the number than a search returns', async () => {
    const others = numbered(...Array.from({ length: 10 }, (_, at) => `PENDING${'.'.repeat(at)}`));
    const atBoard = storedLicense({ license_number: 'PENDING', board: PSYCHOLOGY.name });
    const queries: LicenseQuery[] = [];
    const search: Search = async (query) => {
      queries.push(query);
      if (query.by === 'other') return result([atBoard]);
      return query.by === 'number' ? { licenses: others, isComplete: false } : result([]);
    };
    expect(await lookUp(byNumber('pending', { board: PSYCHOLOGY }), search)).toEqual({
      outcome: 'found',
      record: atBoard,
    });
    expect(queries.at(-1)).toEqual(commonNumberQuery({ by: 'number', numberKey: 'PENDING' }, PSYCHOLOGY));
  });
});

describe('of the licenses whose numbers differ only in case and separators, a lookup chooses', () => {
  const [speech, psychology] = [SPEECH, PSYCHOLOGY].map(({ name }) => name);
  const license = (license_number: string, board = NURSING.name) => storedLicense({ license_number, board });
  const business = (license_number: string, board = NURSING.name) =>
    storedLicense({ license_number, board }, 'business');

  test.each<[string, LookupRequest, readonly StoredLicense[], StoredLicense]>([
    ['the only one', byNumber('rn/123456'), [], license('RN.123456')],
    [
      'the one written as typed, whatever the case and blanks around it',
      byNumber(' dc-01234 '),
      [license('DC.01234')],
      license('DC-01234'),
    ],
    [
      'the one of the board asked, if two boards have the number',
      byNumber('SP.1234', { board: PSYCHOLOGY }),
      [license('SP.1234', speech)],
      license('SP.1234', psychology),
    ],
    [
      'the one of the board asked, if another board has it as typed',
      byNumber('sp.1234', { board: PSYCHOLOGY }),
      [license('SP.1234', speech)],
      license('SP-1234', psychology),
    ],
    [
      'the business, if only businesses are asked for and a person has it as typed',
      byNumber('sp.1234', { board: SPEECH, businessOnly: true }),
      [license('SP.1234', speech)],
      business('SP-1234', speech),
    ],
  ])('%s', async (_which, request, others, record) => {
    for (const sameKey of [
      [record, ...others],
      [...others, record],
    ]) {
      expect(await chosen(request, sameKey)).toEqual({ outcome: 'found', record });
    }
  });

  test.each<[string, LookupRequest, readonly StoredLicense[], object]>([
    [
      'none of two that are not written as typed',
      byNumber('DC01234'),
      [license('DC.01234'), license('DC-01234')],
      { outcome: 'none', reason: 'ambiguous', didYouMean: ['DC-01234', 'DC.01234'], boards: [NURSING.name] },
    ],
    [
      'none of two boards, if no board is asked for',
      byNumber('SP.1234'),
      [license('SP.1234', speech), license('SP.1234', psychology)],
      { outcome: 'none', reason: 'ambiguous', didYouMean: ['SP.1234'], boards: [psychology, speech] },
    ],
    [
      'none of a person and a business, if either may be meant',
      byNumber('02123456'),
      [license('02.123456'), business('02-123456')],
      {
        outcome: 'none',
        reason: 'ambiguous',
        didYouMean: ['02-123456', '02.123456'],
        boards: [NURSING.name],
      },
    ],
    [
      'none of many, and offers three of them, each once',
      byNumber('A12'),
      ['A.1-2', 'A.12', 'A1.2', 'A1-2', 'A-12', 'A-12'].map((number) => license(number)),
      { outcome: 'none', reason: 'ambiguous', didYouMean: ['A-12', 'A.12', 'A1-2'], boards: [NURSING.name] },
    ],
    [
      'none of a person, if only businesses are asked for',
      byNumber('RN.1', { board: NURSING, businessOnly: true }),
      [license('RN.1')],
      { outcome: 'none', reason: 'not_a_business', didYouMean: [] },
    ],
    [
      'none of another board, and names that board',
      byNumber('SP 1234', { board: NURSING }),
      [license('SP.1234', speech), license('SP-1234', speech)],
      { outcome: 'none', reason: 'other_board', didYouMean: ['SP-1234', 'SP.1234'], boards: [speech] },
    ],
    [
      'none of two other boards, and names both',
      byNumber('SP 1234', { board: NURSING }),
      [license('SP.1234', speech), license('SP-1234', psychology)],
      {
        outcome: 'none',
        reason: 'other_board',
        didYouMean: ['SP-1234', 'SP.1234'],
        boards: [psychology, speech],
      },
    ],
    [
      'none of two other boards, and names only the one that has it as typed',
      byNumber('SP.1234', { board: NURSING }),
      [license('SP.1234', speech), license('SP-1234', psychology)],
      { outcome: 'none', reason: 'other_board', didYouMean: ['SP.1234', 'SP-1234'], boards: [speech] },
    ],
    [
      'none of another board, and offers only businesses if only they are asked for',
      byNumber('02123456', { board: PSYCHOLOGY, businessOnly: true }),
      [license('02.123456'), business('02-123456', PHARMACY.name)],
      {
        outcome: 'none',
        reason: 'other_board',
        didYouMean: ['02-123456'],
        boards: [PHARMACY.name, NURSING.name],
      },
    ],
    ['none of none', byNumber('RN.000000'), [], { outcome: 'none', reason: 'unknown', didYouMean: [] }],
  ])('%s', async (_which, request, sameKey, outcome) => {
    for (const found of [sameKey, sameKey.toReversed()]) {
      expect(await chosen(request, found)).toEqual(outcome);
    }
  });

  /** The outcome if no license is written exactly as typed at the board. One more search would fail. */
  async function chosen(request: LookupRequest, sameKey: readonly StoredLicense[]) {
    const asTyped = request.board === undefined ? [] : [[]];
    const suggesting = sameKey.length === 0 ? undefined : surnamesNear().nearSurnames;
    return lookUp(request, publicationAnswering(...asTyped, [...sameKey]).search, suggesting);
  }
});

describe('a lookup by person', () => {
  test('searches once, with everything that was given', async () => {
    const { queries, search } = publicationAnswering([]);
    expect(await lookUp(byPerson('Smith'), search)).toEqual({
      outcome: 'none',
      reason: 'unknown',
      didYouMean: [],
    });
    expect(queries).toEqual([personQuery(NURSING, 'Smith', 'Ann', { city: 'Lima' })]);
  });

  test('returns the record of the only match', async () => {
    const license = storedLicense();
    expect(await lookUp(byPerson('Smith'), publicationAnswering([license]).search)).toEqual({
      outcome: 'found',
      record: license,
    });
  });

  /** So many licenses of persons of one name, in the order of an index. */
  function licensesOf(fullName: string, count: number): StoredLicense[] {
    return Array.from({ length: count }, (_, at) =>
      storedLicense({ license_number: `RN.${at}`, full_name: fullName }),
    );
  }

  test.each([
    [2, 2, false, 1],
    [100, 100, false, 1],
    [101, 100, true, 2],
  ])(
    'with %d matches returns %d in their order (truncated: %s, searches: %d)',
    async (hits, answered, truncated, searches) => {
      const licenses = licensesOf('SMITH, ANNA', hits);
      const { queries, search } = publicationAnswering(licenses, []);
      expect(await lookUp(byPerson('Smith'), search)).toEqual({
        outcome: 'several',
        records: licenses.slice(0, answered),
        truncated,
      });
      expect(queries).toHaveLength(searches);
    },
  );

  test('returns exact names first, the others in their order', async () => {
    const half = storedLicense({ full_name: 'JONES-SMITH, ANN' });
    const [exact, alike] = [licensesOf('SMITH, ANN', 2), licensesOf('SMITH, ANNA', 2)];
    const { queries, search } = publicationAnswering([half, ...exact, ...alike]);
    expect(await lookUp(byPerson('Smith'), search)).toMatchObject({ records: [...exact, half, ...alike] });
    expect(queries).toHaveLength(1);
  });

  test('searches for exact names as well if not all matches were returned', async () => {
    const halves = licensesOf('JONES-SMITH, ANN', 101);
    const exact = licensesOf('SMITH, ANN', 3);
    const { queries, search } = publicationAnswering(halves, exact);
    expect(await lookUp(byPerson('Smith'), search)).toEqual({
      outcome: 'several',
      records: [...exact, ...halves.slice(0, 97)],
      truncated: true,
    });
    const query = personQuery(NURSING, 'Smith', 'Ann', { city: 'Lima' });
    expect(queries).toEqual([query, { ...query, select: 'exact' }]);
  });

  test('does not search again if a batch returned all matches, even more than an answer lists', async () => {
    const [exact, alike] = [licensesOf('SMITH, ANN', 2), licensesOf('SMITH, ANNA', 120)];
    const search: Search = async ({ by, ...query }) => {
      expect([by, query]).toEqual(['person', expect.objectContaining({ select: 'all' })]);
      return { licenses: [...alike, ...exact], isComplete: true };
    };
    expect(await lookUp(byPerson('Smith'), search)).toEqual({
      outcome: 'several',
      records: [...exact, ...alike.slice(0, 98)],
      truncated: true,
    });
  });
});

describe('a number that nobody has', () => {
  const unknown = { outcome: 'none', reason: 'unknown', didYouMean: [] };

  test('gets the three nearest numbers from one more search, each once and without holders', async () => {
    const { queries, search } = publicationAnswering(
      [],
      [],
      numbered('RN.0014484', 'APRN.CNP.014484', 'PN.14484', 'APRN.CNP.0014484', 'APRN.CNP.014484'),
    );
    const { nearQueries, nearSurnames } = surnamesNear();
    const outcome = await lookUp(byNumber('aprn.cnp.14484', { board: NURSING }), search, nearSurnames);
    expect(outcome).toEqual({
      ...unknown,
      didYouMean: ['APRN.CNP.014484', 'APRN.CNP.0014484', 'PN.14484'],
    });
    expect(queries).toEqual([
      writtenNumberQuery(NURSING, 'aprn.cnp.14484'),
      numberQuery('aprn.cnp.14484'),
      nearNumberQuery(NURSING, 'aprn.cnp.14484', false),
    ]);
    expect(nearQueries).toEqual([]);
  });

  test('gets only numbers of businesses if only they are asked for', async () => {
    const { queries, search } = publicationAnswering([], []);
    const request = byNumber('RN.000001', { businessOnly: true });
    expect(await lookUp(request, search, surnamesNear().nearSurnames)).toEqual(unknown);
    expect(queries.at(-1)).toEqual(nearNumberQuery(undefined, 'RN.000001', true));
  });

  test.each<[string, Board | undefined, readonly [string, Board][], string[]]>([
    [
      'only those of the requested board, though others are nearer',
      NURSING,
      [
        ['A.123', PHARMACY],
        ['ABC.0123', NURSING],
        ['AB.123', SPEECH],
      ],
      ['ABC.0123'],
    ],
    [
      'those of other boards when the requested board has none',
      NURSING,
      [
        ['AB.0123', SPEECH],
        ['AB.123', PHARMACY],
      ],
      ['AB.0123', 'AB.123'],
    ],
    [
      'those of all boards, nearest first, when no board was requested',
      undefined,
      [
        ['ABC.0123', NURSING],
        ['AB.123', SPEECH],
      ],
      ['AB.123', 'ABC.0123'],
    ],
  ])('gets, of similar numbers, %s', async (_which, board, near, didYouMean) => {
    const licenses = near.map(([license_number, { name }]) => storedLicense({ license_number, board: name }));
    for (const found of [licenses, licenses.toReversed()]) {
      const { search } = publicationAnswering(...(board ? [[]] : []), [], found);
      const outcome = await lookUp(byNumber('A.0123', { board }), search, surnamesNear().nearSurnames);
      expect(outcome).toEqual({ ...unknown, didYouMean });
    }
  });

  test.each([
    ['has no digits', 'NURSE*', true, 1],
    ['has no letter and no digit', ' .-/', true, 0],
    ['is looked up while the service is busy', 'APRN.CNP.14484', false, 1],
  ])('gets no suggestions if it %s', async (_when, number, suggesting, searches) => {
    const { queries, search } = publicationAnswering([]);
    const outcome = await lookUp(
      byNumber(number),
      search,
      suggesting ? surnamesNear().nearSurnames : undefined,
    );
    expect([outcome, queries.length]).toEqual([unknown, searches]);
  });
});

describe('a name that is sent along with a number', () => {
  const person = storedLicense({ full_name: 'DE LA CRUZ JR, MARIA ELENA' });
  const business = storedLicense({ full_name: "ACME & SONS LLC D.B.A JOE'S DRUGS" }, 'business');

  test.each<[string, StoredLicense, TypedName, boolean]>([
    ["the holder's", person, { lastName: 'de la Cruz', firstName: 'mar' }, true],
    ["another person's", person, { lastName: 'Smith', firstName: 'Maria' }, false],
    ["the holder's given name", person, { firstName: 'mar' }, true],
    ["the holder's surname as a business's name", person, { businessName: 'de la Cruz' }, false],
    ["the business's", business, { businessName: 'acme and' }, true],
    ["another business's", business, { businessName: 'Best' }, false],
    ["the business's as a surname", business, { lastName: "Acme & Sons LLC D.B.A Joe's Drugs" }, true],
    ["the business's second name as a surname", business, { lastName: "Joe's drugs" }, true],
    ["another business's as a surname", business, { lastName: 'Best LLC' }, false],
    ["the business's in both fields", business, { lastName: 'Drugs', firstName: "Joe's" }, true],
    ["the business's with another given name", business, { lastName: 'Acme', firstName: 'Ann' }, false],
    ["the business's as a given name", business, { firstName: 'Acme' }, false],
    [
      "the holder's with credentials",
      person,
      { lastName: 'de la Cruz, RN', firstName: 'Ms. Maria BSN' },
      true,
    ],
    ["the holder's as a whole, with credentials", person, { wholeName: 'Maria de la Cruz, RN' }, true],
    ["the business's as a whole", business, { wholeName: 'Acme & Sons' }, true],
  ])('is compared with the holder: %s', async (_what, record, name, nameMatch) => {
    const { search } = publicationAnswering([record]);
    const request = { by: 'number', number: 'RN.123456', businessOnly: false, name } as const;
    expect(await lookUp(request, search)).toEqual({ outcome: 'found', record, nameMatch });
  });

  test('does not decide which of two licenses is meant', async () => {
    const { search } = publicationAnswering([
      storedLicense({ license_number: 'DC-01234', full_name: 'SMITH, ANN' }),
      storedLicense({ license_number: 'DC.01234', full_name: 'JONES, BEA' }),
    ]);
    const name = { lastName: 'Smith' };
    const outcome = await lookUp({ by: 'number', number: 'DC01234', businessOnly: false, name }, search);
    expect(outcome).toMatchObject({ outcome: 'none', reason: 'ambiguous', ofTheName: ['DC-01234'] });
    expect(outcome).not.toHaveProperty('nameMatch');
  });
});

describe('a person whom nobody matches', () => {
  const smiths = { 'NUR/SMITH': ['NUR/SMIT', 'NUR/SMYTH'] };

  /** Requests that a given name or filters narrow, and the searches that follow: `select` of each. */
  const NARROWED: readonly (readonly [string, LookupRequest, readonly string[]])[] = [
    ['a given name and a filter', byPerson('Smith'), ['all', 'any_one', 'first_50', 'any_one']],
    ['a given name', { ...bySurname('Smith'), firstName: 'Ann' }, ['all', 'any_one', 'first_50']],
    [
      'a filter',
      { ...bySurname('Smith'), filters: { county: 'Allen' } },
      ['all', 'any_one', 'first_50', 'any_one'],
    ],
  ];

  test('gets similar surnames, in their order, if only a surname was asked for', async () => {
    const { queries, search } = publicationAnswering([], []);
    const { nearQueries, nearSurnames } = surnamesNear(smiths);
    expect(await lookUp(bySurname('Smith'), search, nearSurnames)).toEqual({
      outcome: 'none',
      reason: 'unknown',
      didYouMean: ['SMIT', 'SMYTH'],
    });
    expect(queries.map((query) => 'names' in query && query.names)).toEqual([
      ['NUR/SMITH/'],
      ['NUR/SMITH-/'],
    ]);
    expect(nearQueries).toEqual([nearSurnamesQuery(NURSING, 'Smith')]);
  });

  const vegas = ['VEGA QZMORA, ANN', 'DE LA CRUZ VEGA, ANN LEE'].map((full_name) =>
    storedLicense({ full_name }),
  );

  test('gets the double surnames of which it is half before similar ones', async () => {
    const { search } = publicationAnswering([], vegas);
    const near = surnamesNear({ 'NUR/VEGA': ['NUR/VEGAS'] });
    expect(await lookUp(bySurname('Vega'), search, near.nearSurnames)).toEqual({
      outcome: 'none',
      reason: 'unknown',
      didYouMean: ['VEGAQZMORA', 'DELACRUZVEGA', 'VEGAS'],
    });
  });

  test('gets the holders of double surnames before other given names of the surname', async () => {
    const search: Search = async ({ by, ...query }) => {
      if ('select' in query && query.select === 'any_one')
        return result([storedLicense({ full_name: 'VEGA, ANNA' })]);
      if ('names' in query && query.names.includes('NUR/VEGA-/ANN'))
        return result([storedLicense({ full_name: 'VEGAS, ANN' }), ...vegas]);
      return result(
        by === 'other' ? ['VEGA, ANA', 'VEGA, LEE ANN'].map((full_name) => storedLicense({ full_name })) : [],
      );
    };
    const request = { ...bySurname('Vega'), firstName: 'Ann' };
    expect(await lookUp(request, search, surnamesNear().nearSurnames)).toEqual({
      outcome: 'none',
      reason: 'unknown',
      surnameExists: true,
      didYouMean: ['VEGA QZMORA, ANN', 'DE LA CRUZ VEGA, ANN', 'VEGA, ANA', 'VEGA, LEE', 'VEGAS, ANN'],
    });
  });

  test.each(NARROWED)(
    'gets similar surnames if the surname does not exist, whatever excludes others: %s',
    async (_what, request, selects) => {
      const { queries, search } = publicationAnswering([], [], [], []);
      const outcome = await lookUp(request, search, surnamesNear(smiths).nearSurnames);
      expect(outcome).toEqual({ outcome: 'none', reason: 'unknown', didYouMean: ['SMIT', 'SMYTH'] });
      expect(queries.map((query) => ('select' in query ? query.select : query.by))).toEqual(selects);
    },
  );

  test.each(NARROWED)(
    'gets no similar surname, but learns that its own exists, if only this excludes all: %s',
    async (what, request) => {
      const smith = [storedLicense({ full_name: 'SMITH, ZOE' })];
      const search: Search = async (query) =>
        result('select' in query && query.select === 'any_one' ? smith : []);
      expect(await lookUp(request, search, surnamesNear(smiths).nearSurnames)).toEqual({
        outcome: 'none',
        reason: 'unknown',
        ...(what.includes('filter') && { nameExists: true }),
        surnameExists: true,
        didYouMean: [],
      });
    },
  );

  test('gets nothing if no surname is similar', async () => {
    const outcome = await lookUp(
      bySurname('Zzyzx'),
      publicationAnswering([], []).search,
      surnamesNear().nearSurnames,
    );
    expect(outcome).toEqual({ outcome: 'none', reason: 'unknown', didYouMean: [] });
  });
});

describe('a business of which no trade name begins as typed', () => {
  function named(...names: string[]): StoredLicense[] {
    return names.map((name, at) => storedLicense({ license_number: `02${at}`, full_name: name }, 'business'));
  }
  const filters = { city: 'Lima' };
  function byBusiness(name: string): LookupRequest {
    return { by: 'business', board: PHARMACY, name, filters };
  }

  test('is searched by its words, and similar ones if there may be suggestions, with the same filters', async () => {
    for (const suggesting of [true, false]) {
      const { queries, search } = publicationAnswering([], named('ACME DRUGS'));
      const { nearQueries, nearSurnames } = surnamesNear();
      const found = await lookUp(byBusiness('drugs'), search, suggesting ? nearSurnames : undefined);
      expect(found).toMatchObject({ outcome: 'found' });
      expect(queries).toEqual([
        businessQuery(PHARMACY, 'drugs', filters),
        businessWordsQuery(PHARMACY, 'drugs', filters, suggesting ? 'similar' : 'all'),
      ]);
      expect(nearQueries).toEqual([]);
    }
  });

  test('is not searched by its words if a trade name begins as typed', async () => {
    const { search } = publicationAnswering(named('ACME DRUGS'));
    const outcome = await lookUp(byBusiness('acme'), search, surnamesNear().nearSurnames);
    expect(outcome).toMatchObject({ outcome: 'found' });
  });

  test.each([
    ['one', ['LITTLE BEST DRUGS'], 'found'],
    ['two', ['LITTLE BEST DRUGS', 'SALON LLC D.B.A LITTLE BESTS'], 'several'],
  ])('is found if it has all words typed, not only similar ones: %s', async (_how, worded, outcome) => {
    const found = named(...worded, 'BEST LITTEL DRUGS', 'BEST DRUGS');
    const { search } = publicationAnswering([], found);
    const answer = await lookUp(byBusiness('best little'), search, surnamesNear().nearSurnames);
    const records = found.slice(0, worded.length);
    expect(answer).toEqual(
      outcome === 'found' ? { outcome, record: records[0] } : { outcome, records, truncated: false },
    );
  });

  test('gets the names with similar words, the nearest first and each once', async () => {
    const names = ['BEST LITTLE PHARMACY OF LIMA', 'BEST LITTLE PHARMACY', 'THE BEST LITTLE PHARMACY'];
    const { queries, search } = publicationAnswering([], named(...names, ...names), [], []);
    expect(await lookUp(byBusiness('Best Littel Pharmcy'), search, surnamesNear().nearSurnames)).toEqual({
      outcome: 'none',
      reason: 'unknown',
      didYouMean: ['BEST LITTLE PHARMACY', 'THE BEST LITTLE PHARMACY', 'BEST LITTLE PHARMACY OF LIMA'],
    });
    expect(queries.slice(2)).toEqual([
      { ...businessQuery(PHARMACY, 'Best Littel Pharmcy', {}), select: 'any_one' },
      businessWordsQuery(PHARMACY, 'Best Littel Pharmcy', {}, 'any_one'),
    ]);
  });

  test('gets at most five names', async () => {
    const many = named(...Array.from({ length: 9 }, (_, at) => `ACME ${at}`));
    const { search } = publicationAnswering([], many, [], []);
    expect(await lookUp(byBusiness('Acmee'), search, surnamesNear().nearSurnames)).toEqual({
      outcome: 'none',
      reason: 'unknown',
      didYouMean: ['ACME 0', 'ACME 1', 'ACME 2', 'ACME 3', 'ACME 4'],
    });
  });

  test('learns that its name exists if only the filters exclude it', async () => {
    const found: [StoredLicense[], StoredLicense[]][] = [
      [named('ACME'), []],
      [[], named('ACME')],
    ];
    for (const [prefixed, worded] of found) {
      const { search } = publicationAnswering([], [], prefixed, worded);
      expect(await lookUp(byBusiness('Acme'), search, surnamesNear().nearSurnames)).toEqual({
        outcome: 'none',
        reason: 'unknown',
        nameExists: true,
        didYouMean: [],
      });
    }
  });
});

describe('a text that cannot match causes no search', () => {
  /** 14 characters that fold to 210. */
  const LONG = '\ufdfa'.repeat(14);

  test.each<[string, LookupRequest]>([
    ['a surname without a letter or digit', bySurname('***')],
    ['a business name without a letter or digit', { by: 'business', name: '&', filters: {} }],
    ['a number that folds to more than 200 characters', byNumber(LONG)],
    ['a surname that folds to more than 200 characters', bySurname(LONG)],
    ['a given name that folds to more than 200 characters', { ...bySurname('Smith'), firstName: LONG }],
    ['a business name that folds to more than 200 characters', { by: 'business', name: LONG, filters: {} }],
    [
      'a filter that folds to more than 200 characters',
      { by: 'business', name: 'Acme', filters: { county: LONG } },
    ],
  ])('%s', async (_what, request) => {
    const { nearQueries, nearSurnames } = surnamesNear();
    expect(await lookUp(request, publicationAnswering().search, nearSurnames)).toMatchObject({
      outcome: 'none',
    });
    expect(nearQueries).toEqual([]);
  });

  test('but a surname that folds to exactly 200 characters is searched', async () => {
    const { queries, search } = publicationAnswering([]);
    await lookUp(bySurname(`${'\ufdfa'.repeat(13)}abcde`), search);
    expect(queries).toHaveLength(1);
  });
});

describe('if OpenSearch fails, a lookup fails instead of finding nothing', () => {
  const failure = new Error('OpenSearch is away');

  test.each<[string, LookupRequest]>([
    ['by number', byNumber('RN.1')],
    ['by person', byPerson('Smith')],
    ['by business', { by: 'business', name: 'Acme', filters: {} }],
  ])('%s', async (_what, request) => {
    await expect(lookUp(request, () => Promise.reject(failure))).rejects.toBe(failure);
  });

  test('by person, if only the search for suggestions fails', async () => {
    const away: NearSurnames = () => Promise.reject(failure);
    await expect(lookUp(bySurname('Smith'), publicationAnswering([], []).search, away)).rejects.toBe(failure);
  });
});
