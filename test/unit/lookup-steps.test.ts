import { describe, expect, test } from '@jest/globals';
import type { Board } from '../../src/licenses/boards.ts';
import { fold } from '../../src/licenses/fold.ts';
import type { StoredLicense } from '../../src/licenses/license-document.ts';
import { MAX_MATCHES, type NumberNotFoundReason } from '../../src/licenses/lookup-outcome.ts';
import type { LookupRequest, TypedName } from '../../src/licenses/lookup-request.ts';
import {
  businessQuery,
  businessWordsQuery,
  type LicenseQuery,
  type NearSurnames,
  type NearSurnamesQuery,
  nearNumberQuery,
  nearSurnamesQuery,
  numberQuery,
  personQuery,
  type Search,
  type SearchResult,
  writtenNumberQuery,
} from '../../src/lookup/license-query.ts';
import { lookUp as lookUpRequest } from '../../src/lookup/lookup-steps.ts';
import { boardOfCode } from '../support/boards.ts';
import { storedLicense } from '../support/records.ts';

const NURSING = boardOfCode('NUR');
const PHARMACY = boardOfCode('PRX');
const SPEECH = boardOfCode('SHP');
const PSYCHOLOGY = boardOfCode('PSY');

/** What a query's own search finds: one license more than a lookup returns shows that there are more. */
function result(licenses: readonly StoredLicense[]): SearchResult {
  return { licenses, isComplete: licenses.length <= MAX_MATCHES };
}

/** A publication that returns these licenses for every query, and records the queries. */
function publicationWith(...licenses: StoredLicense[]) {
  const queries: LicenseQuery[] = [];
  const search: Search = async (query) => {
    queries.push(query);
    return result(licenses);
  };
  return { queries, search };
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

function byPerson(lastName: string): LookupRequest {
  return { by: 'person', board: NURSING, lastName, firstName: 'Ann', filters: { city: 'Lima' } };
}

function bySurname(lastName: string): LookupRequest {
  return { by: 'person', board: NURSING, lastName, filters: {} };
}

function labeled(request: LookupRequest): [string, LookupRequest] {
  return [JSON.stringify({ ...request, board: undefined }), request];
}

/** The outcome; of a miss without the request, which it repeats. */
async function lookUp(...asked: Parameters<typeof lookUpRequest>) {
  const outcome = await lookUpRequest(...asked);
  if (!('request' in outcome)) return outcome;
  const { request, ...rest } = outcome;
  expect(request).toBe(asked[0]);
  return rest;
}

describe('a lookup by number', () => {
  test('asks once, for the key of the number', async () => {
    const { queries, search } = publicationWith();
    await lookUp(byNumber('rn 123456'), search);
    expect(queries).toEqual([numberQuery('RN.123456')]);
  });

  test('of a board asks for it as typed first, and for its other forms only where the board has none so', async () => {
    const license = storedLicense({ license_number: 'RN.123456' });
    const request = byNumber('RN.123456', { board: NURSING });
    const written = publicationAnswering([license]);
    expect(await lookUp(request, written.search)).toEqual({ outcome: 'record', record: license });
    expect(written.queries).toEqual([writtenNumberQuery(NURSING, 'RN.123456')]);
    const other = storedLicense({ license_number: 'RN-123456' });
    const inOtherForm = publicationAnswering([], [other]);
    expect(await lookUp(request, inOtherForm.search)).toEqual({ outcome: 'record', record: other });
    expect(inOtherForm.queries).toEqual([writtenNumberQuery(NURSING, 'RN.123456'), numberQuery('RN.123456')]);
  });

  test('never returns a license of another number or board, whatever the search returns', async () => {
    for (const stranger of [
      storedLicense({ license_number: 'RN.999999' }),
      storedLicense({ license_number: 'RN.123456', board: PHARMACY.name }),
    ]) {
      const { search } = publicationAnswering([stranger], []);
      expect(await lookUp(byNumber('RN.123456', { board: NURSING }), search)).toMatchObject({
        reason: 'unknown',
      });
    }
  });

  test('answers the one license whose number it is, with any board or its own', async () => {
    const license = storedLicense({ license_number: 'RN.123456' });
    const { search } = publicationWith(license);
    const found = { outcome: 'record', record: license };
    expect(await lookUp(byNumber('RN.123456'), search)).toEqual(found);
    expect(await lookUp(byNumber('rn/123456', { board: NURSING }), search)).toEqual(found);
  });

  test('prefers the number as the board writes it to another with the same key', async () => {
    const exact = storedLicense({ license_number: 'DC-01234' });
    const same = storedLicense({ license_number: 'DC.01234' });
    for (const search of [publicationWith(same, exact).search, publicationWith(exact, same).search]) {
      expect(await lookUp(byNumber(' dc-01234 '), search)).toEqual({ outcome: 'record', record: exact });
    }
  });

  test('does not choose between two licenses that a written form fits', async () => {
    const { search } = publicationWith(
      storedLicense({ license_number: 'DC-01234' }),
      storedLicense({ license_number: 'DC.01234' }),
    );
    expect(await lookUp(byNumber('DC01234'), search)).toEqual({
      outcome: 'number_not_found',
      reason: 'ambiguous',
      didYouMean: ['DC-01234', 'DC.01234'],
      boards: ['Nursing Board'],
    });
  });

  test('does not choose between two boards that have the same number', async () => {
    const speech = storedLicense({ license_number: 'SP.1234', board: SPEECH.name });
    const psychology = storedLicense({ license_number: 'SP.1234', board: PSYCHOLOGY.name });
    const { search } = publicationWith(speech, psychology);
    expect(await lookUp(byNumber('SP.1234'), search)).toMatchObject({ reason: 'ambiguous' });
    expect(await lookUp(byNumber('SP.1234', { board: PSYCHOLOGY }), search)).toEqual({
      outcome: 'record',
      record: psychology,
    });
  });

  test('names at most three numbers that exist, the same whatever their order, each once', async () => {
    const numbers = ['A.1-2', 'A.12', 'A1.2', 'A1-2', 'A-12', 'A-12'];
    for (const existing of [numbers, [...numbers].reverse()]) {
      expect(await lookUp(byNumber('A12'), publicationWith(...numbered(...existing)).search)).toMatchObject({
        reason: 'ambiguous',
        didYouMean: ['A-12', 'A.12', 'A1-2'],
      });
    }
  });

  test('of another board than the requested one names that board, never the holder', async () => {
    const { search } = publicationWith(storedLicense({ license_number: 'RN.123456' }));
    const outcome = await lookUp(byNumber('RN.123456', { board: PHARMACY }), search);
    expect(outcome).toEqual({
      outcome: 'number_not_found',
      reason: 'other_board',
      didYouMean: ['RN.123456'],
      boards: ['Nursing Board'],
    });
  });

  test('that stands exactly at another board is answered by the one at the board asked that shares its key', async () => {
    const speech = storedLicense({ license_number: 'SP.1234', board: SPEECH.name });
    const psychology = storedLicense({ license_number: 'SP-1234', board: PSYCHOLOGY.name });
    for (const same of [
      [speech, psychology],
      [psychology, speech],
    ]) {
      const { search } = publicationWith(...same);
      for (const typed of ['SP.1234', 'sp.1234', 'SP-1234', 'SP 1234']) {
        expect(await lookUp(byNumber(typed, { board: PSYCHOLOGY }), search)).toEqual({
          outcome: 'record',
          record: psychology,
        });
      }
    }
  });

  test('of a person at the board asked does not hide the business there that shares its key', async () => {
    const person = storedLicense({ license_number: 'SP.1234', board: SPEECH.name });
    const business = storedLicense({ license_number: 'SP-1234', board: SPEECH.name }, 'business');
    const { search } = publicationWith(person, business);
    const request = byNumber('sp.1234', { board: SPEECH, businessOnly: true });
    expect(await lookUp(request, search)).toEqual({ outcome: 'record', record: business });
  });

  test('whose key more licenses have than a search returns is searched at the board asked', async () => {
    const others = numbered(...Array.from({ length: 10 }, (_, at) => `PENDING${'.'.repeat(at)}`));
    const atBoard = storedLicense({ license_number: 'PENDING', board: PSYCHOLOGY.name });
    const queries: LicenseQuery[] = [];
    const search: Search = async (query) => {
      queries.push(query);
      if (query.by === 'common_number') return result([atBoard]);
      return query.by === 'number' ? { licenses: others, isComplete: false } : result([]);
    };
    expect(await lookUp(byNumber('pending', { board: PSYCHOLOGY }), search)).toEqual({
      outcome: 'record',
      record: atBoard,
    });
    expect(queries.at(-1)).toEqual({ by: 'common_number', numberKey: 'PENDING', board: PSYCHOLOGY });
  });

  test.each<[string, string, readonly [string, string][], string[], string[]]>([
    [
      'both, where each has a form of it',
      'SP 1234',
      [
        ['SP.1234', SPEECH.name],
        ['SP-1234', PSYCHOLOGY.name],
      ],
      [PSYCHOLOGY.name, SPEECH.name],
      ['SP-1234', 'SP.1234'],
    ],
    [
      'both, where each has it exactly',
      'SP.1234',
      [
        ['SP.1234', SPEECH.name],
        ['SP.1234', PSYCHOLOGY.name],
      ],
      [PSYCHOLOGY.name, SPEECH.name],
      ['SP.1234'],
    ],
    [
      'one, once, where it has two forms of it',
      'SP 1234',
      [
        ['SP.1234', SPEECH.name],
        ['SP-1234', SPEECH.name],
      ],
      [SPEECH.name],
      ['SP-1234', 'SP.1234'],
    ],
    [
      'that where it stands exactly, not the third that has another form of it, which is offered',
      'SP.1234',
      [
        ['SP.1234', SPEECH.name],
        ['SP-1234', PSYCHOLOGY.name],
      ],
      [SPEECH.name],
      ['SP.1234', 'SP-1234'],
    ],
  ])('of other boards than the requested one names %s', async (_which, typed, same, boards, didYouMean) => {
    const licenses = same.map(([license_number, board]) => storedLicense({ license_number, board }));
    for (const found of [licenses, licenses.toReversed()]) {
      const outcome = await lookUp(byNumber(typed, { board: NURSING }), publicationWith(...found).search);
      expect(outcome).toEqual({ outcome: 'number_not_found', reason: 'other_board', didYouMean, boards });
    }
  });

  test('that nobody has is unknown', async () => {
    const { search } = publicationWith();
    const unknown = { outcome: 'number_not_found', reason: 'unknown', didYouMean: [] };
    expect(await lookUp(byNumber('RN.000000'), search)).toEqual(unknown);
    expect(await lookUp(byNumber('RN.000000', { board: NURSING }), search)).toEqual(unknown);
    expect(await lookUp(byNumber('RN.000000', { businessOnly: true }), search)).toEqual(unknown);
  });

  test('among businesses does not answer a person', async () => {
    const { search } = publicationWith(storedLicense({ license_number: '03123456', board: PHARMACY.name }));
    expect(await lookUp(byNumber('03123456', { board: PHARMACY, businessOnly: true }), search)).toEqual({
      outcome: 'number_not_found',
      reason: 'not_a_business',
      didYouMean: [],
    });
  });

  test('among businesses of another board offers the forms that businesses have, not those of persons', async () => {
    const person = storedLicense({ license_number: '02.123456' });
    const business = storedLicense({ license_number: '02-123456', board: PHARMACY.name }, 'business');
    for (const found of [
      [person, business],
      [business, person],
    ]) {
      const request = byNumber('02123456', { board: PSYCHOLOGY, businessOnly: true });
      expect(await lookUp(request, publicationWith(...found).search)).toMatchObject({
        reason: 'other_board',
        didYouMean: ['02-123456'],
      });
    }
  });

  test('among businesses answers a business, even beside a person with the same key', async () => {
    const business = storedLicense({ license_number: '02-123456', board: PHARMACY.name }, 'business');
    const person = storedLicense({ license_number: '02.123456', board: PHARMACY.name });
    const { search } = publicationWith(person, business);
    expect(await lookUp(byNumber('02123456', { board: PHARMACY, businessOnly: true }), search)).toEqual({
      outcome: 'record',
      record: business,
    });
    expect(await lookUp(byNumber('02123456', { board: PHARMACY }), search)).toMatchObject({
      reason: 'ambiguous',
    });
  });
});

describe('a lookup by person', () => {
  test('asks once, with everything that was given', async () => {
    const { queries, search } = publicationWith();
    await lookUp(byPerson('Smith'), search);
    expect(queries).toEqual([personQuery(NURSING, 'Smith', 'Ann', { city: 'Lima' })]);
  });

  test.each(['-', "'", '***', ' '])('asks nothing for the surname %j and matches nobody', async (surname) => {
    const { queries, search } = publicationWith(storedLicense());
    expect(await lookUp(byPerson(surname), search)).toEqual({ outcome: 'no_match', didYouMean: [] });
    expect(queries).toEqual([]);
  });

  test('without a match is no error', async () => {
    expect(await lookUp(byPerson('Smith'), publicationWith().search)).toEqual({
      outcome: 'no_match',
      didYouMean: [],
    });
  });

  test('with one match answers that record', async () => {
    const license = storedLicense();
    expect(await lookUp(byPerson('Smith'), publicationWith(license).search)).toEqual({
      outcome: 'record',
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
    [99, 99, false, 1],
    [100, 100, false, 1],
    [101, 100, true, 2],
  ])(
    'with %d hits answers %d records in their order; truncated: %s; searches: %d',
    async (hits, answered, truncated, searches) => {
      const licenses = licensesOf('SMITH, ANNA', hits);
      const { queries, search } = publicationAnswering(licenses, []);
      expect(await lookUp(byPerson('Smith'), search)).toEqual({
        outcome: 'matches',
        records: licenses.slice(0, answered),
        truncated,
      });
      expect(queries).toHaveLength(searches);
    },
  );

  test('with all of more matches than are answered in hand asks no second time', async () => {
    const [exact, alike] = [licensesOf('SMITH, ANN', 2), licensesOf('SMITH, ANNA', 120)];
    const search: Search = async ({ by, ...query }) => {
      expect([by, query]).toEqual(['person', expect.objectContaining({ select: 'all' })]);
      return { licenses: [...alike, ...exact], isComplete: true };
    };
    expect(await lookUp(byPerson('Smith'), search)).toEqual({
      outcome: 'matches',
      records: [...exact, ...alike.slice(0, 98)],
      truncated: true,
    });
  });

  test('answers those of exactly the name first, each part in its order', async () => {
    const half = storedLicense({ full_name: 'JONES-SMITH, ANN' });
    const [exact, alike] = [licensesOf('SMITH, ANN', 2), licensesOf('SMITH, ANNA', 2)];
    const { queries, search } = publicationWith(half, ...exact, ...alike);
    expect(await lookUp(byPerson('Smith'), search)).toMatchObject({ records: [...exact, half, ...alike] });
    expect(queries).toHaveLength(1);
  });

  test('with more matches than are answered asks for those of exactly the name, which may be among the rest', async () => {
    const halves = licensesOf('JONES-SMITH, ANN', 101);
    const exact = licensesOf('SMITH, ANN', 3);
    const { queries, search } = publicationAnswering(halves, exact);
    expect(await lookUp(byPerson('Smith'), search)).toEqual({
      outcome: 'matches',
      records: [...exact, ...halves.slice(0, 97)],
      truncated: true,
    });
    const query = personQuery(NURSING, 'Smith', 'Ann', { city: 'Lima' });
    expect(queries).toEqual([query, { ...query, select: 'exact' }]);
  });
});

describe('a lookup by business', () => {
  test.each([
    ['at its board', PHARMACY],
    ['over all boards', undefined],
  ])(
    'that has no match asks by prefix, then by words, %s, and for no suggestions where none are wanted',
    async (_where, board) => {
      const { queries, search } = publicationWith();
      const request: LookupRequest = { by: 'business', board, name: 'Acme', filters: { county: 'Allen' } };
      expect(await lookUp(request, search)).toEqual({ outcome: 'no_match', didYouMean: [] });
      expect(queries).toEqual([
        businessQuery(board, 'Acme', { county: 'Allen' }),
        businessWordsQuery(board, 'Acme', { county: 'Allen' }, false),
      ]);
    },
  );

  test('asks nothing for a name without letter or digit', async () => {
    const { queries, search } = publicationWith(storedLicense({}, 'business'));
    const request: LookupRequest = { by: 'business', name: '&', filters: {} };
    expect(await lookUp(request, search)).toEqual({ outcome: 'no_match', didYouMean: [] });
    expect(queries).toEqual([]);
  });
});

describe('a number that nobody has', () => {
  test('is searched once more, by digits and beginning; the three nearest numbers are suggested, never holders', async () => {
    const { queries, search } = publicationAnswering(
      [],
      [],
      numbered('RN.0014484', 'APRN.CNP.014484', 'PN.14484', 'APRN.CNP.0014484', 'APRN.CNP.014484'),
    );
    const { nearQueries, nearSurnames } = surnamesNear();
    const outcome = await lookUp(byNumber('aprn.cnp.14484', { board: NURSING }), search, nearSurnames);
    expect(outcome).toEqual({
      outcome: 'number_not_found',
      reason: 'unknown',
      didYouMean: ['APRN.CNP.014484', 'APRN.CNP.0014484', 'PN.14484'],
    });
    expect(JSON.stringify(outcome)).not.toMatch(/EXAMPLE|JANE/);
    expect(queries).toEqual([
      writtenNumberQuery(NURSING, 'aprn.cnp.14484'),
      numberQuery('aprn.cnp.14484'),
      nearNumberQuery(NURSING, 'aprn.cnp.14484', false),
    ]);
    expect(nearQueries).toEqual([]);
  });

  test.each([
    ['with no board', undefined, false],
    ['with its board', PHARMACY, false],
    ['among businesses, with no board', undefined, true],
    ['among businesses, with its board', PHARMACY, true],
  ])(
    'is searched once more %s, and nothing is suggested when no number is similar',
    async (_how, board, businessOnly) => {
      const written = board && writtenNumberQuery(board, 'RN.000001');
      const { queries, search } = publicationAnswering([], [], ...(written ? [[]] : []));
      const request = byNumber('RN.000001', { board, businessOnly });
      expect(await lookUp(request, search, surnamesNear().nearSurnames)).toEqual({
        outcome: 'number_not_found',
        reason: 'unknown',
        didYouMean: [],
      });
      expect(queries).toEqual([
        ...(written ? [written] : []),
        numberQuery('RN.000001'),
        nearNumberQuery(board, 'RN.000001', businessOnly),
      ]);
    },
  );

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
  ])('is offered %s', async (_which, board, near, didYouMean) => {
    const licenses = near.map(([license_number, { name }]) => storedLicense({ license_number, board: name }));
    for (const found of [licenses, licenses.toReversed()]) {
      const { search } = publicationAnswering(...(board ? [[]] : []), [], found);
      const outcome = await lookUp(byNumber('A.0123', { board }), search, surnamesNear().nearSurnames);
      expect(outcome).toEqual({ outcome: 'number_not_found', reason: 'unknown', didYouMean });
    }
  });

  test('is not searched again without digits, and not at all without a key', async () => {
    const unknown = { outcome: 'number_not_found', reason: 'unknown', didYouMean: [] };
    const letters = publicationAnswering([]);
    expect(await lookUp(byNumber('NURSE*'), letters.search, surnamesNear().nearSurnames)).toEqual(unknown);
    expect(letters.queries).toHaveLength(1);
    const separators = publicationAnswering();
    expect(await lookUp(byNumber(' .-/'), separators.search, surnamesNear().nearSurnames)).toEqual(unknown);
    expect(separators.queries).toEqual([]);
  });

  test('is searched once, without suggestions, when nearSurnames is missing because the service is busy', async () => {
    const { queries, search } = publicationAnswering([]);
    expect(await lookUp(byNumber('APRN.CNP.14484'), search)).toMatchObject({ didYouMean: [] });
    expect(queries).toHaveLength(1);
  });
});

describe('a number is not searched again, with or without suggestions,', () => {
  test.each<[string, LookupRequest, StoredLicense[], 'record' | NumberNotFoundReason]>([
    ['when it is found', byNumber('RN.1'), numbered('RN.1'), 'record'],
    ['when it is ambiguous', byNumber('DC01234'), numbered('DC-01234', 'DC.01234'), 'ambiguous'],
    ['when it is at another board', byNumber('RN.1', { board: PHARMACY }), numbered('RN.1'), 'other_board'],
    ['when it is a person’s', byNumber('RN.1', { businessOnly: true }), numbered('RN.1'), 'not_a_business'],
  ])('%s', async (_when, request, same, expected) => {
    const { nearQueries, nearSurnames } = surnamesNear();
    const { search } = publicationAnswering(...('board' in request && request.board ? [[]] : []), same);
    const outcome = await lookUp(request, search, nearSurnames);
    expect('reason' in outcome ? outcome.reason : outcome.outcome).toBe(expected);
    expect(nearQueries).toEqual([]);
  });
});

describe('the name sent along with a number', () => {
  const person = storedLicense({ full_name: 'DE LA CRUZ JR, MARIA ELENA' });
  const hyphenated = storedLicense({ full_name: 'SMITH-JONES, MARY ANN III' });
  const business = storedLicense({ full_name: "ACME & SONS LLC D.B.A JOE'S DRUGS" }, 'business');

  test.each<[string, StoredLicense, TypedName, boolean]>([
    ['a surname', person, { lastName: 'de la Cruz' }, true],
    ['a surname with a suffix', person, { lastName: 'Delacruz III' }, true],
    ['the beginning of the given names', person, { lastName: 'de la cruz', firstName: 'mar' }, true],
    ['a given name with a suffix', person, { lastName: 'de la cruz', firstName: 'Maria E Jr.' }, true],
    ['another surname', person, { lastName: 'Smith', firstName: 'Maria' }, false],
    ['part of a surname', person, { lastName: 'Cruz' }, false],
    ['the middle name', person, { lastName: 'de la cruz', firstName: 'Elena' }, false],
    ['the beginning of the given names alone', person, { firstName: 'mar' }, true],
    ['first and middle name alone', person, { firstName: 'maria elena' }, true],
    ['another given name alone', person, { firstName: 'Ana' }, false],
    ['the middle name alone', person, { firstName: 'Elena' }, false],
    ['the surname in place of the given name', person, { firstName: 'de la Cruz' }, false],
    ['a pattern for the given name alone', person, { firstName: '*' }, false],
    ['a pattern', person, { lastName: '*' }, false],
    ['a pattern for the given name', person, { lastName: 'de la cruz', firstName: '*' }, false],
    ["a business's name", person, { businessName: 'de la Cruz' }, false],
    ['a hyphenated surname', hyphenated, { lastName: 'smith jones', firstName: 'maryann' }, true],
    ['the first half', hyphenated, { lastName: 'Smith', firstName: 'Mary' }, true],
    ['the other half', hyphenated, { lastName: 'JONES' }, true],
    ['halves the other way round', hyphenated, { lastName: 'Jones-Smith' }, false],
    ['the beginning of a trade name', business, { businessName: 'acme and' }, true],
    ['the other trade name', business, { businessName: 'Joe’s Drugs, Inc.' }, true],
    ['the whole name', business, { businessName: "Acme & Sons LLC D.B.A Joe's Drugs" }, true],
    ['the end of a trade name', business, { businessName: 'Drugs' }, true],
    ['words of a trade name in other order', business, { businessName: 'Sons Acme' }, true],
    ['both trade names without the legal form', business, { businessName: 'Acme & Sons Joe’s Drugs' }, true],
    ['beginnings of words of both trade names', business, { businessName: 'dru ac' }, true],
    ['words of which one is none of its own', business, { businessName: 'Acme Shoes' }, false],
    ['a word spelled nearly as one of its own', business, { businessName: 'Acne Sons' }, false],
    ['the end of a word', business, { businessName: 'rugs' }, false],
    ['another name', business, { businessName: 'Best' }, false],
    ['a sign alone', business, { businessName: '&' }, false],
    ["a person's name", business, { lastName: 'Acme' }, false],
    ["the whole name as a person's", business, { lastName: "Acme & Sons LLC D.B.A Joe's Drugs" }, false],
    ["a person's given name", business, { firstName: 'Acme' }, false],
  ])('is compared with the holder’s: %s', async (_what, record, holder, nameMatch) => {
    const { search } = publicationAnswering([record]);
    expect(
      await lookUp({ by: 'number', number: 'RN.123456', businessOnly: false, name: holder }, search),
    ).toEqual({
      outcome: 'record',
      record,
      nameMatch,
    });
  });

  test('does not choose between two licenses that the number fits', async () => {
    const { search } = publicationAnswering([
      storedLicense({ license_number: 'DC-01234', full_name: 'SMITH, ANN' }),
      storedLicense({ license_number: 'DC.01234', full_name: 'JONES, BEA' }),
    ]);
    const holder = { lastName: 'Smith' };
    const outcome = await lookUp(
      { by: 'number', number: 'DC01234', businessOnly: false, name: holder },
      search,
    );
    expect(outcome).toMatchObject({ outcome: 'number_not_found', reason: 'ambiguous' });
    expect(outcome).not.toHaveProperty('nameMatch');
  });

  test('is absent from the outcome where none was sent', async () => {
    const { search } = publicationAnswering([person]);
    expect(await lookUp(byNumber('RN.123456'), search)).not.toHaveProperty('nameMatch');
  });
});

describe('a person whom nobody matches', () => {
  test('is offered the surnames that are spelled nearly alike, in their order', async () => {
    const { queries, search } = publicationAnswering([]);
    const { nearQueries, nearSurnames } = surnamesNear({ 'NUR/SMIHT': ['NUR/SMITH', 'NUR/SMIT'] });
    expect(await lookUp(bySurname('Smiht'), search, nearSurnames)).toEqual({
      outcome: 'no_match',
      didYouMean: ['SMITH', 'SMIT'],
    });
    expect(queries).toHaveLength(1);
    expect(nearQueries).toEqual([nearSurnamesQuery(NURSING, 'Smiht')]);
  });

  /** Requests that a given name or filters narrow, and the searches that are made of each: `select` of each query. */
  const NARROWED: (readonly [LookupRequest, readonly string[]])[] = [
    [byPerson('Smith'), ['all', 'any', 'few', 'any']],
    [
      { by: 'person', board: NURSING, lastName: 'Smith', firstName: 'Ann', filters: {} },
      ['all', 'any', 'few'],
    ],
    [
      { by: 'person', board: NURSING, lastName: 'Smith', filters: { county: 'Allen' } },
      ['all', 'any', 'any'],
    ],
  ];

  function hasFilters(request: LookupRequest): boolean {
    return request.by !== 'number' && Object.keys(request.filters).length > 0;
  }

  test.each(NARROWED.map(([request]) => labeled(request)))(
    'is offered no other surname where the surname exists: %s',
    async (_what, request) => {
      const smith = [storedLicense({ full_name: 'SMITH, ZOE' })];
      const search: Search = async (query) =>
        result('select' in query && query.select === 'any' ? smith : []);
      const { nearSurnames } = surnamesNear({ 'NUR/SMITH': ['NUR/SMIT'] });
      expect(await lookUp(request, search, nearSurnames)).toEqual({
        outcome: 'no_match',
        ...(hasFilters(request) && { nameExists: true }),
        surnameExists: true,
        didYouMean: [],
      });
    },
  );

  test.each(NARROWED.map(([request, selects]) => [...labeled(request), selects] as const))(
    'is offered other surnames where the surname does not exist: %s',
    async (_what, request, selects) => {
      const { queries, search } = publicationAnswering([], [], [], []);
      const { nearSurnames } = surnamesNear({ 'NUR/SMITH': ['NUR/SMIT'] });
      const outcome = await lookUp(request, search, nearSurnames);
      expect(outcome).toEqual({ outcome: 'no_match', didYouMean: ['SMIT'] });
      expect(queries.map((query) => ('select' in query ? query.select : query.by))).toEqual(selects);
    },
  );

  test.each([1, 2])('is offered nothing where there are matches: %d', async (hits) => {
    const { search } = publicationAnswering(numbered(...['RN.1', 'RN.2'].slice(0, hits)));
    const { nearQueries, nearSurnames } = surnamesNear({ 'NUR/SMITH': ['NUR/SMIT'] });
    expect(await lookUp(byPerson('Smith'), search, nearSurnames)).not.toHaveProperty('didYouMean');
    expect(nearQueries).toEqual([]);
  });

  test('is offered nothing for a surname without letters, or where no surname is near', async () => {
    const none = { outcome: 'no_match', didYouMean: [] };
    const { nearQueries, nearSurnames } = surnamesNear();
    expect(await lookUp(bySurname('***'), publicationAnswering().search, nearSurnames)).toEqual(none);
    expect(nearQueries).toEqual([]);
    expect(await lookUp(bySurname('Zzyzx'), publicationAnswering([]).search, nearSurnames)).toEqual(none);
  });
});

describe('a business that no prefix matches', () => {
  function named(...names: string[]): StoredLicense[] {
    return names.map((name, at) => storedLicense({ license_number: `02${at}`, full_name: name }, 'business'));
  }
  function byBusiness(name: string): LookupRequest {
    return { by: 'business', board: PHARMACY, name, filters: { city: 'Lima' } };
  }
  /** The searches that tell whether the filters alone exclude all. */
  function withoutFilters(board: Board | undefined, name: string) {
    const queries = [businessQuery(board, name, {}), businessWordsQuery(board, name, {}, false)];
    return queries.map((query) => ({ ...query, select: 'any' }));
  }

  test.each([
    ['at its board', PHARMACY],
    ['over all boards', undefined],
  ])(
    'is searched once more %s, by words as typed or similar, with the same filters',
    async (_where, board) => {
      const { queries, search } = publicationAnswering([], [], [], []);
      const { nearQueries, nearSurnames } = surnamesNear();
      const request: LookupRequest = { by: 'business', board, name: 'Acme', filters: { county: 'Allen' } };
      expect(await lookUp(request, search, nearSurnames)).toEqual({ outcome: 'no_match', didYouMean: [] });
      expect(queries).toEqual([
        businessQuery(board, 'Acme', { county: 'Allen' }),
        businessWordsQuery(board, 'Acme', { county: 'Allen' }, true),
        ...withoutFilters(board, 'Acme'),
      ]);
      expect(nearQueries).toEqual([]);
    },
  );

  test.each([
    ['with suggestions', true, 1, 'record'],
    ['with suggestions', true, 2, 'matches'],
    ['without, as when the service is busy', false, 1, 'record'],
    ['without, as when the service is busy', false, 2, 'matches'],
  ])('is found by its words, %s (%s): %d hits', async (_how, suggesting, hits, outcome) => {
    const { queries, search } = publicationAnswering([], named('ACME DRUGS', 'BEST DRUGS').slice(0, hits));
    const { nearQueries, nearSurnames } = surnamesNear();
    const found = await lookUp(byBusiness('drugs'), search, suggesting ? nearSurnames : undefined);
    expect(found).toMatchObject({ outcome });
    expect(queries).toEqual([
      businessQuery(PHARMACY, 'drugs', { city: 'Lima' }),
      businessWordsQuery(PHARMACY, 'drugs', { city: 'Lima' }, suggesting),
    ]);
    expect(nearQueries).toEqual([]);
  });

  test('is not looked for by its words where a prefix matches', async () => {
    const { queries, search } = publicationAnswering(named('ACME DRUGS'));
    await lookUp(byBusiness('acme'), search, surnamesNear().nearSurnames);
    expect(queries).toHaveLength(1);
  });

  test.each([
    ['one', ['LITTLE BEST DRUGS'], 'record'],
    ['two', ['LITTLE BEST DRUGS', 'SALON LLC D.B.A LITTLE BESTS'], 'matches'],
  ])(
    'is %s of those that have every word typed, never one spelled nearly so',
    async (_how, worded, outcome) => {
      const found = named(...worded, 'BEST LITTEL DRUGS', 'BEST DRUGS');
      const answer = await lookUp(
        byBusiness('best little'),
        publicationAnswering([], found).search,
        surnamesNear().nearSurnames,
      );
      const records = found.slice(0, worded.length);
      expect(answer).toEqual(
        outcome === 'record' ? { outcome, record: records[0] } : { outcome, records, truncated: false },
      );
    },
  );

  test('nor its words as typed is offered the names that have them nearly so, nearest first, each once', async () => {
    const names = ['BEST LITTLE PHARMACY OF LIMA', 'BEST LITTLE PHARMACY', 'THE BEST LITTLE PHARMACY'];
    const { queries, search } = publicationAnswering([], named(...names, ...names), [], []);
    const { nearQueries, nearSurnames } = surnamesNear();
    expect(await lookUp(byBusiness('Best Littel Pharmcy'), search, nearSurnames)).toEqual({
      outcome: 'no_match',
      didYouMean: ['BEST LITTLE PHARMACY', 'THE BEST LITTLE PHARMACY', 'BEST LITTLE PHARMACY OF LIMA'],
    });
    expect(queries).toHaveLength(4);
    expect(nearQueries).toEqual([]);
  });

  test('but one spelled nearly so is offered it, never answered with it', async () => {
    const { search } = publicationAnswering([], named('ACME DRUGS'), [], []);
    expect(await lookUp(byBusiness('Acmee'), search, surnamesNear().nearSurnames)).toEqual({
      outcome: 'no_match',
      didYouMean: ['ACME DRUGS'],
    });
  });

  test('says so where the filters alone exclude all', async () => {
    const found: [StoredLicense[], StoredLicense[]][] = [
      [named('ACME'), []],
      [[], named('ACME')],
    ];
    for (const [prefixed, worded] of found) {
      const { search } = publicationAnswering([], [], prefixed, worded);
      const { nearSurnames } = surnamesNear();
      expect(await lookUp(byBusiness('Acme'), search, nearSurnames)).toEqual({
        outcome: 'no_match',
        nameExists: true,
        didYouMean: [],
      });
    }
  });

  test('is offered at most five names', async () => {
    const many = named(...Array.from({ length: 9 }, (_, at) => `ACME ${at}`));
    const { search } = publicationAnswering([], many, [], []);
    expect(await lookUp(byBusiness('Acmee'), search, surnamesNear().nearSurnames)).toEqual({
      outcome: 'no_match',
      didYouMean: ['ACME 0', 'ACME 1', 'ACME 2', 'ACME 3', 'ACME 4'],
    });
  });

  test('is offered nothing without nearSurnames, at two searches, nor for a name without letters, at none', async () => {
    const none = { outcome: 'no_match', didYouMean: [] };
    expect(await lookUp(byBusiness('Acmee'), publicationAnswering([], []).search)).toEqual(none);
    const { nearQueries, nearSurnames } = surnamesNear();
    expect(await lookUp(byBusiness('&'), publicationAnswering().search, nearSurnames)).toEqual(none);
    expect(nearQueries).toEqual([]);
  });
});

test('suggestions that fail are an error, never a miss', async () => {
  const failure = new Error('OpenSearch is away');
  const away: NearSurnames = () => Promise.reject(failure);
  await expect(lookUp(bySurname('Smith'), publicationAnswering([]).search, away)).rejects.toBe(failure);
});

describe('a value whose folded form is longer than 200 characters', () => {
  const LONG = '\ufdfa'.repeat(14);
  const requests: LookupRequest[] = [
    byNumber(LONG),
    bySurname(LONG),
    { by: 'person', board: NURSING, lastName: 'Smith', firstName: LONG, filters: {} },
    { by: 'business', name: LONG, filters: {} },
    ...(['license_type', 'status', 'city', 'county'] as const).flatMap((field): LookupRequest[] => [
      { by: 'person', board: NURSING, lastName: 'Smith', filters: { [field]: LONG } },
      { by: 'business', name: 'Acme', filters: { [field]: LONG } },
    ]),
  ];

  test.each(requests.map(labeled))(
    'matches nothing, without a request to OpenSearch: %s',
    async (_what, request) => {
      const { queries, search } = publicationAnswering();
      const { nearQueries, nearSurnames } = surnamesNear();
      const miss =
        request.by === 'number'
          ? { outcome: 'number_not_found', reason: 'unknown', didYouMean: [] }
          : { outcome: 'no_match', didYouMean: [] };
      expect(await lookUp(request, search, nearSurnames)).toEqual(miss);
      expect([queries, nearQueries]).toEqual([[], []]);
    },
  );

  test('is searched when it has exactly 200', async () => {
    const { queries, search } = publicationAnswering([]);
    await lookUp(bySurname(`${'\ufdfa'.repeat(13)}abcde`), search);
    expect(queries).toHaveLength(1);
  });

  test('is noticed for every character of Unicode that grows when it is folded', async () => {
    const growing: string[] = [];
    for (let code = 0; code <= 0x10ffff; code += 1) {
      const character = String.fromCodePoint(code);
      if (fold(character).length > character.length) growing.push(character);
    }
    expect(growing).toContain('\ufdfa');
    expect(growing.length).toBeGreaterThan(500);
    for (const character of growing) {
      const longest = character.repeat(200 / character.length);
      const { queries, search } = publicationAnswering();
      await lookUp(bySurname(longest), search, surnamesNear().nearSurnames);
      expect([character, queries]).toEqual([character, []]);
    }
  });
});

test.each<LookupRequest>([
  byNumber('RN.1'),
  byPerson('Smith'),
  { by: 'business', name: 'Acme', filters: {} },
])('a search that fails is an error, never a miss: %j', async (request) => {
  const failure = new Error('OpenSearch is away');
  await expect(lookUp(request, () => Promise.reject(failure))).rejects.toBe(failure);
});
