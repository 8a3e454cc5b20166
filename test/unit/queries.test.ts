import { describe, expect, test } from '@jest/globals';
import {
  businessQuery,
  businessWordsQuery,
  nearNumbersQuery,
  nearSurnamesBody,
  nearWordsBody,
  numberQuery,
  personQuery,
  type SearchBody,
} from '../../src/licenses/queries.ts';
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

describe('nearNumbersQuery', () => {
  test('asks for the same digits, and for what the form is the beginning of, at the board', () => {
    expect(nearNumbersQuery(NURSING, 'aprn/cnp 014484')).toEqual({
      size: 50,
      track_total_hits: false,
      query: {
        bool: {
          filter: [{ term: { board: 'Nursing Board' } }],
          should: [{ term: { 'keys.digits': '14484' } }, { prefix: { 'keys.number': 'APRNCNP014484' } }],
          minimum_should_match: 1,
        },
      },
    });
  });

  test('asks over all boards without one', () => {
    expect(filters(nearNumbersQuery(undefined, 'RN.123456'))).toEqual([]);
  });

  test.each([
    ['RN.12', '12', undefined],
    ['1234', '1234', undefined],
    ['0 0-1.2', '2', undefined],
    ['RN.123', '123', 'RN123'],
    ['12345', '12345', '12345'],
    ['00012', '12', '00012'],
    ['E.1234567-SUPV', '1234567', 'E1234567SUPV'],
    ['RN.7000*', '7000', 'RN7000'],
    ['RN.7000[1-9]', '9', 'RN700019'],
    ['{"RN":1234}', '1234', 'RN1234'],
  ])('of %j asks for the digits %s and the beginning %s', (written, digits, beginning) => {
    expect(nearNumbersQuery(undefined, written)?.query.bool.should).toEqual([
      { term: { 'keys.digits': digits } },
      ...(beginning === undefined ? [] : [{ prefix: { 'keys.number': beginning } }]),
    ]);
  });

  test.each(['', ' ', 'RN', 'APRN.CNP', '*', '.-/', 'NURSES'])(
    'asks nothing for %j, without digits',
    (written) => {
      expect(nearNumbersQuery(NURSING, written)).toBeUndefined();
    },
  );
});

describe('businessWordsQuery', () => {
  test('asks for every word as the beginning of one, at the board, by name and number', () => {
    expect(businessWordsQuery(PHARMACY, 'The Drugs & Joe\u2019s, LLC', {})).toEqual({
      size: 101,
      track_total_hits: false,
      query: {
        bool: {
          filter: [{ prefix: { 'keys.words': 'PRX/DRUGS' } }, { prefix: { 'keys.words': 'PRX/JOES' } }],
        },
      },
      sort: [{ 'keys.name': 'asc' }, { 'keys.number': 'asc' }],
    });
  });

  test('asks over all boards without one', () => {
    expect(filters(businessWordsQuery(undefined, 'Acme', {}))).toEqual([
      { prefix: { 'keys.words': '/ACME' } },
    ]);
  });

  test('narrows like a search by prefix', () => {
    expect(filters(businessWordsQuery(PHARMACY, 'Acme', { city: 'St. Marys', status: 'Active' }))).toEqual([
      { prefix: { 'keys.words': 'PRX/ACME' } },
      { term: { 'keys.status': 'ACTIVE' } },
      { term: { 'keys.city': 'STMARYS' } },
    ]);
  });

  test('looks at ten words at most', () => {
    const words = Array.from({ length: 12 }, (_, at) => `WORD${at}`);
    expect(filters(businessWordsQuery(undefined, words.join(' '), {}))).toEqual(
      words.slice(0, 10).map((word) => ({ prefix: { 'keys.words': `/${word}` } })),
    );
  });

  test.each(['', ' ', '*', '&', '...', '"'])('asks nothing for the name %j', (name) => {
    expect(businessWordsQuery(PHARMACY, name, {})).toBeUndefined();
  });

  test('gives punctuation no power: it stands between words', () => {
    expect(filters(businessWordsQuery(PHARMACY, 'B*st/"Drugs"?', {}))).toEqual([
      { prefix: { 'keys.words': 'PRX/B' } },
      { prefix: { 'keys.words': 'PRX/ST' } },
      { prefix: { 'keys.words': 'PRX/DRUGS' } },
    ]);
  });
});

describe('nearSurnamesBody', () => {
  test.each([
    ['Li', 'LI', 1],
    ['Smith', 'SMITH', 1],
    ["O'Dea Jr", 'ODEA', 1],
    ['Smithe', 'SMITHE', 2],
    ['de la Cruz', 'DELACRUZ', 2],
    ['Mu\u00f1oz', 'MUNOZ', 1],
  ])('of %j asks for surnames at the board like %s, with %d edits', (lastName, surname, edits) => {
    expect(nearSurnamesBody(NURSING, lastName)).toEqual({
      size: 0,
      suggest: {
        '0': {
          text: `NUR/${surname}`,
          term: {
            field: 'keys.surname',
            suggest_mode: 'always',
            max_edits: edits,
            prefix_length: 4,
            size: 5,
          },
        },
      },
    });
  });

  test.each(['', ' ', '*', '-', "'"])('asks nothing for the surname %j', (lastName) => {
    expect(nearSurnamesBody(NURSING, lastName)).toBeUndefined();
  });
});

describe('nearWordsBody', () => {
  function nearWord(text: string, edits: number, prefixLength: number) {
    return {
      text,
      term: {
        field: 'keys.words',
        suggest_mode: 'missing',
        max_edits: edits,
        prefix_length: prefixLength,
        size: 1,
      },
    };
  }

  test('asks for each word at the board, in its order, for the one most like it where none has it', () => {
    const body = nearWordsBody(PHARMACY, 'The Littel Farm & Pharmcy Inc');
    expect(body).toEqual({
      size: 0,
      suggest: {
        '0': nearWord('PRX/LITTEL', 2, 4),
        '1': nearWord('PRX/FARM', 1, 4),
        '2': nearWord('PRX/PHARMCY', 2, 4),
      },
    });
    expect(Object.keys(body?.suggest ?? {})).toEqual(['0', '1', '2']);
  });

  test('asks over all boards without one', () => {
    expect(nearWordsBody(undefined, 'Acme')).toEqual({ size: 0, suggest: { '0': nearWord('/ACME', 1, 1) } });
  });

  test('looks at ten words at most', () => {
    const name = Array.from({ length: 12 }, (_, at) => `W${at}`).join(' ');
    expect(Object.keys(nearWordsBody(PHARMACY, name)?.suggest ?? {})).toHaveLength(10);
  });

  test.each(['', ' ', '*', '&', '...'])('asks nothing for the name %j', (name) => {
    expect(nearWordsBody(PHARMACY, name)).toBeUndefined();
  });
});
