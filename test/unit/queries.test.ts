import { describe, expect, test } from '@jest/globals';
import { licenseId } from '../../src/licenses/license.ts';
import { foldPersonName, readTypedPerson } from '../../src/licenses/names.ts';
import {
  businessQuery,
  businessWordsQuery,
  commonNumberQuery,
  likelyPersonsQuery,
  matchesOfPersons,
  nearGivenNameQuery,
  nearNumberQuery,
  nearSurnamesBody,
  numberQuery,
  numbersBody,
  personQuery,
  personsBody,
  type SearchBody,
  similarWordsQuery,
} from '../../src/lookup/queries.ts';
import { bodyOf as bodyOfQuery, type LicenseQuery, listQuery } from '../../src/lookup/search.ts';
import { boardOfCode } from '../support/boards.ts';
import { times } from '../support/fixtures.ts';
import { storedLicense } from '../support/records.ts';

// What searches find is tested over HTTP (matching.test.ts). These tests are about what no answer shows: the bounds on their cost.

const NURSING = boardOfCode('NUR');
const PHARMACY = boardOfCode('PRX');
const SMITHS = [{ surname: 'SMITH', given: 'ANN' }];
const likeGiven = (given: string) => nearGivenNameQuery({ board: NURSING }, { surname: 'SMITH', given });

function numberAtNursing(number: string) {
  return { by: 'number', number, board: NURSING, businessOnly: false } as const;
}

function bodyOf(query: LicenseQuery | undefined): SearchBody {
  if (query === undefined) throw new Error('Nothing is searched.');
  return bodyOfQuery(query);
}

test('a license with several keys that match is found once', () => {
  const license = storedLicense({ full_name: 'QZKLEIN V, ODA' });
  const keys = { ...license.keys, holder: ['NUR/QZKLEIN/ODA', 'NUR/QZKLEIN/ODAV', 'NUR/QZKLEINV/ODA'] };
  const query = personQuery({ board: NURSING }, 'Qzklein V', 'Oda');
  expect(query && matchesOfPersons([{ ...license, keys }])(query)).toHaveLength(1);
});

test('each of several persons gets its own licenses in the order of names and numbers, whatever was found first', () => {
  const found = [
    ['SMITH, BOB', 'RN.1'],
    ['SMITH, ANN', 'RN.3'],
    ['SMITH, ANNE', 'RN.4'],
    ['DOE-SMITH, AN', 'RN.5'],
    ['SMITH, ANN', 'rn-2'],
  ].map(([full_name = '', license_number = '']) => {
    const { surnameForms, surname, given } = foldPersonName(full_name);
    const keys = {
      kind: 'person',
      name: `NUR/${surname}/${given}`,
      holder: surnameForms.map((form) => `NUR/${form}/${given}`),
    } as const;
    return { ...storedLicense({ full_name, license_number }), keys };
  });
  const query = personQuery({ board: NURSING }, 'Smith', 'An');
  const matches = query === undefined ? [] : matchesOfPersons(found)(query);
  expect(matches.map((license) => license.license_number)).toEqual(['RN.5', 'rn-2', 'RN.3', 'RN.4']);
});

describe('a search returns a bounded number of licenses, and OpenSearch does not count the others', () => {
  test.each<[string, SearchBody, number]>([
    ['a number as typed', bodyOf({ by: 'id', id: licenseId(NURSING.name, 'RN.1') }), 1],
    ['a number in any form', bodyOf(numberQuery('RN.1')), 10],
    ['three numbers', numbersBody(['RN1', 'RN2', 'RN3']), 30],
    ['a common number', bodyOf(commonNumberQuery({ by: 'number', numberKey: 'X' }, NURSING)), 250],
    ['similar numbers', bodyOf(nearNumberQuery(numberAtNursing('RN.1'))), 50],
    ['a person', bodyOf(personQuery({ board: NURSING }, 'Smith', 'Ann')), 101],
    ['several persons', personsBody(['NUR/SMITH/A', 'NUR/DOE/B'], 1000), 1000],
    ['persons to suggest', bodyOf(likelyPersonsQuery({ board: NURSING }, SMITHS)), 50],
    ['whether there is any person', bodyOf(likelyPersonsQuery({ board: NURSING, select: 1 }, SMITHS)), 1],
    ['similar given names', bodyOf(likeGiven('ANN')), 50],
    ['a business', bodyOf(businessQuery({ board: PHARMACY }, 'Acme')), 101],
    ['words of a business', bodyOf(businessWordsQuery({ board: PHARMACY }, 'Acme')), 101],
    ['words like those of a business', bodyOf(similarWordsQuery({ board: PHARMACY }, 'Acme')), 101],
  ])('%s', (_what, body, size) => {
    expect(body).toMatchObject({ size, track_total_hits: false });
  });

  test('for several persons, no pattern is longer than OpenSearch takes, and each name is in one', () => {
    const names = times(250, (number) => `NUR/${'S'.repeat(number)}/${'G'.repeat(200)}`);
    const found = JSON.stringify(personsBody(names, 5000)).matchAll(/"regexp":\{"keys.holder":"([^"]+)"\}/g);
    const patterns = [...found].map(([, pattern = '']) => pattern);
    expect(patterns.filter(({ length }) => length > 1000)).toEqual([]);
    expect(patterns.map((pattern) => pattern.replace(/^\((.+)\)\.\*$/, '$1')).join('|')).toBe(
      names.join('|'),
    );
  });

  test('the worst name at all boards takes few of the 1,024 clauses that OpenSearch takes', () => {
    const readings = readTypedPerson('Dr. Ann St. John Saint Mary Jr RN BSN').readings;
    const queries = readings.flatMap(({ lastName, firstName }) => {
      const query = personQuery({}, lastName, firstName);
      return query === undefined ? [] : [query];
    });
    expect(queries.flatMap(({ names }) => names).length).toBeGreaterThan(600);
    const list = JSON.stringify(listQuery(queries, 1)?.body.query);
    expect(list.match(/"(prefix|terms?|regexp)":/g)?.length).toBeLessThan(100);
  });

  test('a search for any one license does not sort all that match', () => {
    expect(bodyOf(likelyPersonsQuery({ board: NURSING, select: 1 }, SMITHS)).sort).toEqual(['_doc']);
  });

  test('of more similar numbers than are returned, those of the board come first, then those with the same digits', () => {
    const { query, sort } = bodyOf(nearNumberQuery(numberAtNursing('RN.123456')));
    expect(query.bool.should).toEqual([
      { constant_score: { filter: { term: { 'keys.digits': '123456' } } } },
      { constant_score: { filter: { term: { board: 'Nursing Board' } }, boost: 2 } },
    ]);
    expect(sort).toEqual([{ _score: 'desc' }, { 'keys.number': 'asc' }]);
  });

  test('similar surnames are five of each board, the best of 100 that each shard compares', () => {
    const { suggest = {} } = nearSurnamesBody(undefined, 'Smith') ?? {};
    const board = { term: { size: 5, shard_size: 100, prefix_length: 'NUR/'.length } };
    expect(Object.values(suggest)).toMatchObject(Array(24).fill(board));
  });
});

test('nothing is searched for a text without a letter or digit, which would match everything', () => {
  expect([
    numberQuery(' .-/ '),
    personQuery({ board: NURSING }, '*'),
    personQuery({ board: NURSING }, 'Smith', '*'),
    businessQuery({ board: PHARMACY }, '&'),
    similarWordsQuery({ board: PHARMACY }, 'D.B.A'),
    nearSurnamesBody(NURSING, "'"),
  ]).toEqual(Array(6).fill(undefined));
});

test('no similar numbers are searched for one without digits', () => {
  expect(nearNumberQuery(numberAtNursing('APRN.CNP'))).toBeUndefined();
});

test.each([
  ['RN.12', []],
  ['RN.123', ['RN123']],
  ['00012', ['00012']],
])(
  'nothing is searched with the beginning of %s when it has fewer than five characters, as very many have it',
  (typed, beginnings) => {
    const body = JSON.stringify(bodyOf(nearNumberQuery(numberAtNursing(typed))));
    const prefixes = body.matchAll(/"prefix":\{"keys.number":"(\w+)"\}/g);
    expect(Array.from(prefixes, ([, prefix]) => prefix)).toEqual(beginnings);
  },
);

test('no similar surnames are searched for one of more than 40 letters', () => {
  expect(nearSurnamesBody(NURSING, 'x'.repeat(40))).toBeDefined();
  expect(nearSurnamesBody(NURSING, 'x'.repeat(41))).toBeUndefined();
});

test('no similar given names are searched for one of fewer than 3 or more than 12 letters', () => {
  const searched = ['ALI', 'A'.repeat(12)];
  const names = ['AL', ...searched, 'A'.repeat(13)];
  expect(names.filter((given) => likeGiven(given) !== undefined)).toEqual(searched);
});
