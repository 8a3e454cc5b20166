import { describe, expect, test } from '@jest/globals';
import type { StoredLicense } from '../../src/licenses/document.ts';
import { type LookupRequest, lookUp } from '../../src/licenses/lookup.ts';
import { businessQuery, numberQuery, personQuery, type SearchBody } from '../../src/licenses/queries.ts';
import { boardOfCode } from '../support/boards.ts';
import { storedLicense } from '../support/records.ts';

const NURSING = boardOfCode('NUR');
const PHARMACY = boardOfCode('PRX');

/** A publication that answers every search with these licences, and notes what it was asked. */
function publicationWith(...licenses: StoredLicense[]) {
  const asked: SearchBody[] = [];
  const search = async (body: SearchBody): Promise<readonly StoredLicense[]> => {
    asked.push(body);
    return licenses;
  };
  return { asked, search };
}

function byNumber(
  number: string,
  rest: { board?: typeof NURSING; businessOnly?: boolean } = {},
): LookupRequest {
  return { by: 'number', number, board: rest.board, businessOnly: rest.businessOnly ?? false };
}

function byPerson(lastName: string): LookupRequest {
  return { by: 'person', board: NURSING, lastName, firstName: 'Ann', narrowing: { city: 'Lima' } };
}

describe('a lookup by number', () => {
  test('asks once, for the key of the number', async () => {
    const { asked, search } = publicationWith();
    await lookUp(byNumber('rn 123456'), search);
    expect(asked).toEqual([numberQuery('RN.123456')]);
  });

  test('answers the one licence whose number it is, with any board or its own', async () => {
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

  test('does not choose between two licences that a written form fits', async () => {
    const { search } = publicationWith(
      storedLicense({ license_number: 'DC-01234' }),
      storedLicense({ license_number: 'DC.01234' }),
    );
    expect(await lookUp(byNumber('DC01234'), search)).toEqual({
      outcome: 'number_not_found',
      miss: 'ambiguous',
      didYouMean: ['DC-01234', 'DC.01234'],
    });
  });

  test('does not choose between two boards that have the same number', async () => {
    const speech = storedLicense({ license_number: 'SP.1234', board: boardOfCode('SHP').name });
    const psychology = storedLicense({ license_number: 'SP.1234', board: boardOfCode('PSY').name });
    const { search } = publicationWith(speech, psychology);
    expect(await lookUp(byNumber('SP.1234'), search)).toMatchObject({ miss: 'ambiguous' });
    expect(await lookUp(byNumber('SP.1234', { board: boardOfCode('PSY') }), search)).toEqual({
      outcome: 'record',
      record: psychology,
    });
  });

  test('names at most three numbers that exist', async () => {
    const numbers = ['A.1-2', 'A.12', 'A1.2', 'A1-2', 'A-12'];
    const { search } = publicationWith(...numbers.map((number) => storedLicense({ license_number: number })));
    expect(await lookUp(byNumber('A12'), search)).toMatchObject({
      miss: 'ambiguous',
      didYouMean: ['A.1-2', 'A.12', 'A1.2'],
    });
  });

  test('of another board than the one asked says where it is, never whose', async () => {
    const { search } = publicationWith(storedLicense({ license_number: 'RN.123456' }));
    const outcome = await lookUp(byNumber('RN.123456', { board: PHARMACY }), search);
    expect(outcome).toEqual({
      outcome: 'number_not_found',
      miss: 'other_board',
      didYouMean: ['RN.123456'],
      board: 'Nursing Board',
    });
  });

  test('that stands exactly at another board is not answered by one at this board that merely shares its key', async () => {
    const { search } = publicationWith(
      storedLicense({ license_number: 'SP.1234', board: boardOfCode('SHP').name }),
      storedLicense({ license_number: 'SP-1234', board: boardOfCode('PSY').name }),
    );
    expect(await lookUp(byNumber('SP.1234', { board: boardOfCode('PSY') }), search)).toMatchObject({
      miss: 'other_board',
      board: boardOfCode('SHP').name,
    });
  });

  test('that nobody has is unknown', async () => {
    const { search } = publicationWith();
    const unknown = { outcome: 'number_not_found', miss: 'unknown', didYouMean: [] };
    expect(await lookUp(byNumber('RN.000000'), search)).toEqual(unknown);
    expect(await lookUp(byNumber('RN.000000', { board: NURSING }), search)).toEqual(unknown);
    expect(await lookUp(byNumber('RN.000000', { businessOnly: true }), search)).toEqual(unknown);
  });

  test('among businesses does not answer a person', async () => {
    const { search } = publicationWith(storedLicense({ license_number: '03123456', board: PHARMACY.name }));
    expect(await lookUp(byNumber('03123456', { board: PHARMACY, businessOnly: true }), search)).toEqual({
      outcome: 'number_not_found',
      miss: 'not_a_business',
      didYouMean: [],
    });
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
      miss: 'ambiguous',
    });
  });
});

describe('a lookup by person', () => {
  test('asks once, with everything that was given', async () => {
    const { asked, search } = publicationWith();
    await lookUp(byPerson('Smith'), search);
    expect(asked).toEqual([personQuery(NURSING, 'Smith', 'Ann', { city: 'Lima' })]);
  });

  test.each(['-', "'", '***', ' '])('asks nothing for the surname %j and matches nobody', async (surname) => {
    const { asked, search } = publicationWith(storedLicense());
    expect(await lookUp(byPerson(surname), search)).toEqual({ outcome: 'no_match' });
    expect(asked).toEqual([]);
  });

  test('without a match is no error', async () => {
    expect(await lookUp(byPerson('Smith'), publicationWith().search)).toEqual({ outcome: 'no_match' });
  });

  test('with one match answers that record', async () => {
    const license = storedLicense();
    expect(await lookUp(byPerson('Smith'), publicationWith(license).search)).toEqual({
      outcome: 'record',
      record: license,
    });
  });

  test.each([
    [2, 2, false],
    [99, 99, false],
    [100, 100, false],
    [101, 100, true],
  ])('with %d hits answers %d records in their order; truncated: %s', async (hits, answered, truncated) => {
    const licenses = Array.from({ length: hits }, (_, at) => storedLicense({ license_number: `RN.${at}` }));
    expect(await lookUp(byPerson('Smith'), publicationWith(...licenses).search)).toEqual({
      outcome: 'matches',
      records: licenses.slice(0, answered),
      truncated,
    });
  });
});

describe('a lookup by business', () => {
  test.each([
    ['at its board', PHARMACY],
    ['over all boards', undefined],
  ])('asks once, %s', async (_where, board) => {
    const { asked, search } = publicationWith();
    const request: LookupRequest = { by: 'business', board, name: 'Acme', narrowing: { county: 'Allen' } };
    expect(await lookUp(request, search)).toEqual({ outcome: 'no_match' });
    expect(asked).toEqual([businessQuery(board, 'Acme', { county: 'Allen' })]);
  });

  test('asks nothing for a name without letter or digit', async () => {
    const { asked, search } = publicationWith(storedLicense({}, 'business'));
    const request: LookupRequest = { by: 'business', name: '&', narrowing: {} };
    expect(await lookUp(request, search)).toEqual({ outcome: 'no_match' });
    expect(asked).toEqual([]);
  });
});

test.each<LookupRequest>([
  byNumber('RN.1'),
  byPerson('Smith'),
  { by: 'business', name: 'Acme', narrowing: {} },
])('a search that fails is an error, never a miss: %j', async (request) => {
  const failure = new Error('OpenSearch is away');
  await expect(lookUp(request, () => Promise.reject(failure))).rejects.toBe(failure);
});
