import { describe, expect, test } from '@jest/globals';
import { businessQuery, numberQuery, personQuery, type SearchBody } from '../../src/licenses/queries.ts';
import { boardOfCode } from '../support/boards.ts';

const NURSING = boardOfCode('NUR');
const PHARMACY = boardOfCode('PRX');
const EXACT_THEN_NAME_THEN_NUMBER = [{ _score: 'desc' }, { 'keys.name': 'asc' }, { 'keys.number': 'asc' }];

function filters(body: SearchBody | undefined): unknown {
  return body?.query.bool.filter;
}

describe('numberQuery', () => {
  test('asks for the one key that all written forms share, as a term', () => {
    expect(numberQuery(' rn/123456 ')).toEqual({
      size: 10,
      track_total_hits: false,
      query: { bool: { filter: [{ term: { 'keys.number': 'RN123456' } }] } },
    });
  });

  test.each(['RN.1234*', 'RN.123?', 'RN.1234"', 'RN.[0-9]+', 'RN.1234 OR 1:1', '{"match_all":{}}'])(
    'gives the characters of %j no power: they stay part of a term',
    (written) => {
      const [clause] = numberQuery(written)?.query.bool.filter ?? [];
      const key = written.toUpperCase().replace(/[ .-]/g, '');
      expect(clause).toEqual({ term: { 'keys.number': key } });
    },
  );
});

test('a number of separators alone is not asked for: it is the key of none', () => {
  expect(numberQuery(' .-/ ')).toBeUndefined();
});

describe('personQuery', () => {
  test('asks for the whole surname at the board and ranks those first whose name it is', () => {
    expect(personQuery(NURSING, "O'Brien Jr", undefined, {})).toEqual({
      size: 101,
      track_total_hits: false,
      query: {
        bool: {
          filter: [{ prefix: { 'keys.holder': 'NUR/OBRIEN/' } }],
          should: [{ constant_score: { filter: { prefix: { 'keys.name': 'NUR/OBRIEN/' } } } }],
        },
      },
      sort: EXACT_THEN_NAME_THEN_NUMBER,
    });
  });

  test('asks for the beginning of the given names and ranks those first whose given names it is', () => {
    expect(personQuery(NURSING, 'de la Cruz', 'Mary Ann', {})).toEqual({
      size: 101,
      track_total_hits: false,
      query: {
        bool: {
          filter: [{ prefix: { 'keys.holder': 'NUR/DELACRUZ/MARYANN' } }],
          should: [{ constant_score: { filter: { term: { 'keys.name': 'NUR/DELACRUZ/MARYANN' } } } }],
        },
      },
      sort: EXACT_THEN_NAME_THEN_NUMBER,
    });
  });

  test.each(['', ' ', '*', '?', '"', '-', "'"])('asks nothing for the surname %j', (lastName) => {
    expect(personQuery(NURSING, lastName, 'Ann', {})).toBeUndefined();
  });

  test.each([
    ['Sm*', 'J?', 'NUR/SM/J'],
    ['Smith"', 'Jo"hn', 'NUR/SMITH/JOHN'],
    ['Smith|Jones', undefined, 'NUR/SMITHJONES/'],
    ['Smith', 'Jo|hn', 'NUR/SMITH/JOHN'],
    ['Smith\\', '.j*', 'NUR/SMITH/J'],
  ])('gives the punctuation of %j, %j no power', (lastName, firstName, key) => {
    expect(filters(personQuery(NURSING, lastName, firstName, {}))).toEqual([
      { prefix: { 'keys.holder': key } },
    ]);
  });

  test("asks nobody for a given name without letters: it is nobody's, not everybody's", () => {
    expect(personQuery(NURSING, 'Smith', '*', {})).toBeUndefined();
  });

  test('narrows by each condition given, whole and folded', () => {
    const narrowing = {
      license_type: 'Registered Nurse (RN)',
      status: 'In Review',
      city: 'St. Clairsville',
      county: 'van wert',
    };
    expect(filters(personQuery(NURSING, 'Smith', undefined, narrowing))).toEqual([
      { prefix: { 'keys.holder': 'NUR/SMITH/' } },
      { term: { 'keys.license_type': 'REGISTEREDNURSERN' } },
      { term: { 'keys.status': 'INREVIEW' } },
      { term: { 'keys.city': 'STCLAIRSVILLE' } },
      { term: { 'keys.county': 'VANWERT' } },
    ]);
  });

  test('does not narrow by conditions that are absent', () => {
    const narrowing = { license_type: undefined, city: 'Dayton' };
    expect(filters(personQuery(NURSING, 'Smith', undefined, narrowing))).toEqual([
      { prefix: { 'keys.holder': 'NUR/SMITH/' } },
      { term: { 'keys.city': 'DAYTON' } },
    ]);
  });
});

describe('businessQuery', () => {
  test('asks for the beginning of a trade name at the board and ranks those first whose name it is', () => {
    expect(businessQuery(PHARMACY, 'The Acme & Sons, LLC', {})).toEqual({
      size: 101,
      track_total_hits: false,
      query: {
        bool: {
          filter: [{ prefix: { 'keys.business': 'PRX/ACMESONS' } }],
          should: [{ constant_score: { filter: { term: { 'keys.business': 'PRX/ACMESONS' } } } }],
        },
      },
      sort: EXACT_THEN_NAME_THEN_NUMBER,
    });
  });

  test('asks over all boards without one', () => {
    expect(filters(businessQuery(undefined, 'Acme', {}))).toEqual([{ prefix: { 'keys.business': '/ACME' } }]);
  });

  test('narrows like a search for a person', () => {
    expect(filters(businessQuery(PHARMACY, 'Acme', { city: 'Lima', status: 'Active' }))).toEqual([
      { prefix: { 'keys.business': 'PRX/ACME' } },
      { term: { 'keys.status': 'ACTIVE' } },
      { term: { 'keys.city': 'LIMA' } },
    ]);
  });

  test.each(['', '*', '&', '...', '"'])('asks nothing for the name %j', (name) => {
    expect(businessQuery(PHARMACY, name, {})).toBeUndefined();
  });

  test.each([
    ['Ac*e', 'PRX/ACE'],
    ['Acme?', 'PRX/ACME'],
    ['"Acme"', 'PRX/ACME'],
    ['/Acme', 'PRX/ACME'],
  ])('gives the punctuation of %j no power', (name, key) => {
    expect(filters(businessQuery(PHARMACY, name, {}))).toEqual([{ prefix: { 'keys.business': key } }]);
  });
});
