import { describe, expect, test } from '@jest/globals';
import { BOARDS, type Board } from '../../src/licenses/boards.ts';
import type { Filters } from '../../src/licenses/filters.ts';
import type { StoredLicense } from '../../src/licenses/license-document.ts';
import { misreadNumberKeys } from '../../src/licenses/misreadings.ts';
import {
  businessQuery,
  businessWordsQuery,
  hasExactName,
  type LicenseQuery,
  nearNumberQuery,
  nearSurnamesQuery,
  numberQuery,
  personQuery,
  writtenNumberQuery,
} from '../../src/lookup/license-query.ts';
import {
  nearNumbersBody,
  nearSurnamesBody,
  numbersBody,
  personsBody,
  type SearchBody,
  searchBody,
} from '../../src/lookup/search-bodies.ts';
import { boardOfCode } from '../support/boards.ts';
import { storedLicense } from '../support/records.ts';

const NURSING = boardOfCode('NUR');
const PHARMACY = boardOfCode('PRX');
const NAME_THEN_NUMBER = [{ 'keys.name': 'asc' }, { 'keys.number': 'asc' }];
const EXACT_THEN_NAME_THEN_NUMBER = [{ _score: 'desc' }, ...NAME_THEN_NUMBER];

function bodyOf(query: LicenseQuery | undefined): SearchBody | undefined {
  return query && searchBody(query);
}

function numberSearch(written: string) {
  return bodyOf(numberQuery(written));
}

function writtenNumberSearch(board: Board, written: string) {
  return bodyOf(writtenNumberQuery(board, written));
}

function nearNumberSearch(board: Board | undefined, written: string, businessOnly: boolean) {
  return bodyOf(nearNumberQuery(board, written, businessOnly));
}

function wordsSearch(board: Board | undefined, name: string, filtersAsked: Filters) {
  return bodyOf(businessWordsQuery(board, name, filtersAsked, false));
}

function fuzzyWordsSearch(board: Board | undefined, name: string, filtersAsked: Filters) {
  return bodyOf(businessWordsQuery(board, name, filtersAsked, true));
}

/** The searches for all matches and for exact ones. */
function searchesOf(query: ReturnType<typeof personQuery> | ReturnType<typeof businessQuery>) {
  return (
    query && {
      all: searchBody(query),
      exact: searchBody({ ...query, select: 'exact' }),
      isExact: (license: StoredLicense) => hasExactName(query, license),
    }
  );
}

function personSearches(...parameters: Parameters<typeof personQuery>) {
  return searchesOf(personQuery(...parameters));
}

function businessSearches(...parameters: Parameters<typeof businessQuery>) {
  return searchesOf(businessQuery(...parameters));
}

function nearSurnamesSearch(board: Board | undefined, lastName: string) {
  const query = nearSurnamesQuery(board, lastName);
  return query && nearSurnamesBody(query, 5);
}

function namesBody(clause: object): object {
  return {
    size: 101,
    track_total_hits: false,
    query: { bool: { filter: [clause] } },
    sort: NAME_THEN_NUMBER,
  };
}

function filters(body: SearchBody | undefined): unknown {
  return body?.query.bool.filter;
}

describe('numberQuery', () => {
  test('asks for the one key that all written forms share, as a term', () => {
    expect(numberSearch(' rn/123456 ')).toEqual({
      size: 10,
      track_total_hits: false,
      query: { bool: { filter: [{ terms: { 'keys.number': ['RN123456'] } }] } },
      sort: ['_doc'],
    });
  });

  test.each(['RN.1234*', 'RN.123?', 'RN.1234"', 'RN.[0-9]+', 'RN.1234 OR 1:1', '{"match_all":{}}'])(
    'gives the characters of %j no power: they stay part of a term',
    (written) => {
      const [clause] = numberSearch(written)?.query.bool.filter ?? [];
      const key = written.toUpperCase().replace(/[ .-]/g, '');
      expect(clause).toEqual({ terms: { 'keys.number': [key] } });
    },
  );
});

test('a number without letters and digits is not searched', () => {
  expect(numberSearch(' .-/ ')).toBeUndefined();
});

describe('writtenNumberQuery', () => {
  test('asks for the one document that a board has of a number, written so', () => {
    expect(writtenNumberSearch(NURSING, 'Rn 1/2*')).toEqual({
      size: 1,
      track_total_hits: false,
      query: { bool: { filter: [{ ids: { values: ['NUR/Rn 1/2*'] } }] } },
    });
    expect(writtenNumberSearch(NURSING, ' .-/ ')).toBeUndefined();
  });
});

describe('several numbers', () => {
  test('share one search, with the same number of licenses for each', () => {
    expect(numbersBody(['RN1', 'RN2', 'RN3'])).toEqual({
      size: 30,
      track_total_hits: false,
      query: { bool: { filter: [{ terms: { 'keys.number': ['RN1', 'RN2', 'RN3'] } }] } },
      sort: ['_doc'],
    });
  });
});

describe('what is near to several numbers', () => {
  test('share one search, by digits and, if there is one, by beginning', () => {
    const numbers = [
      { digits: '123456', beginning: 'RN123456', misread: ['RN123465'] },
      { digits: '7', beginning: undefined, misread: [] },
    ];
    expect(nearNumbersBody(numbers)).toEqual({
      size: 1000,
      track_total_hits: false,
      query: {
        bool: {
          filter: [
            {
              bool: {
                should: [
                  { term: { 'keys.digits': '123456' } },
                  { prefix: { 'keys.number': 'RN123456' } },
                  { terms: { 'keys.number': ['RN123465'] } },
                  { term: { 'keys.digits': '7' } },
                ],
              },
            },
          ],
        },
      },
      sort: ['_doc'],
    });
  });
});

describe('several names', () => {
  test('share one search, by name and number', () => {
    expect(personsBody(['NUR/SMITH/JO', 'PRX/DOE/A'], 1000)).toEqual({
      ...namesBody({
        bool: {
          should: [{ prefix: { 'keys.holder': 'NUR/SMITH/JO' } }, { prefix: { 'keys.holder': 'PRX/DOE/A' } }],
        },
      }),
      size: 1000,
    });
  });
});

describe('personQuery', () => {
  test('asks for the whole surname at the board; exact are those whose name it is', () => {
    expect(personSearches(NURSING, "O'Brien Jr", undefined, {})).toMatchObject({
      all: namesBody({ prefix: { 'keys.holder': 'NUR/OBRIEN/' } }),
      exact: namesBody({ prefix: { 'keys.name': 'NUR/OBRIEN/' } }),
    });
  });

  test('asks at every board when none is given; exact are the names of any board', () => {
    const searches = personSearches(undefined, 'Smith', 'Ann', {});
    const everyBoard = (field: string, kind: string) => ({
      bool: { should: BOARDS.map(({ code }) => ({ [kind]: { [field]: `${code}/SMITH/ANN` } })) },
    });
    expect(searches?.all).toEqual(namesBody(everyBoard('keys.holder', 'prefix')));
    expect(searches?.exact).toEqual(namesBody(everyBoard('keys.name', 'term')));
    const isExact = (full_name: string, board: string) =>
      searches?.isExact(storedLicense({ full_name, board }));
    expect(isExact('SMITH, ANN', 'Medical Board')).toBe(true);
    expect(isExact('SMITH, ANN', 'Nursing Board')).toBe(true);
    expect(isExact('SMITH, ANNA', 'Nursing Board')).toBe(false);
  });

  test('asks for the beginning of the given names; exact are those whose given names it is', () => {
    expect(personSearches(NURSING, 'de la Cruz', 'Mary Ann', {})).toMatchObject({
      all: namesBody({ prefix: { 'keys.holder': 'NUR/DELACRUZ/MARYANN' } }),
      exact: namesBody({ term: { 'keys.name': 'NUR/DELACRUZ/MARYANN' } }),
    });
  });

  test.each<[string, string | undefined, string, boolean]>([
    ['Smith', 'Ann', 'SMITH, ANN', true],
    ['Smith', 'Ann', 'SMITH, ANNA', false],
    ['Smith', 'Ann', 'SMITH-JONES, ANN', false],
    ['Smith', undefined, 'SMITH, ANNA', true],
    ['Smith', undefined, 'SMITH-JONES, ANN', false],
    ['Smith Jones', 'Ann', 'SMITH-JONES, ANN', true],
  ])('takes for %s, %s the name %s as exact: %s', (lastName, firstName, fullName, isExact) => {
    const query = personSearches(NURSING, lastName, firstName, {});
    expect(query?.isExact(storedLicense({ full_name: fullName }))).toBe(isExact);
  });

  test.each(['', ' ', '*', '?', '"', '-', "'"])('asks nothing for the surname %j', (lastName) => {
    expect(personSearches(NURSING, lastName, 'Ann', {})).toBeUndefined();
  });

  test.each([
    ['Sm*', 'J?', 'NUR/SM/J'],
    ['Smith"', 'Jo"hn', 'NUR/SMITH/JOHN'],
    ['Smith|Jones', undefined, 'NUR/SMITHJONES/'],
    ['Smith', 'Jo|hn', 'NUR/SMITH/JOHN'],
    ['Smith\\', '.j*', 'NUR/SMITH/J'],
  ])('gives the punctuation of %j, %j no power', (lastName, firstName, key) => {
    expect(filters(personSearches(NURSING, lastName, firstName, {})?.all)).toEqual([
      { prefix: { 'keys.holder': key } },
    ]);
  });

  test("asks nobody for a given name without letters: it is nobody's, not everybody's", () => {
    expect(personSearches(NURSING, 'Smith', '*', {})).toBeUndefined();
  });

  test('narrows by each condition given, whole and folded', () => {
    const narrowing = {
      license_type: 'Registered Nurse (RN)',
      status: 'In Review',
      city: 'St. Clairsville',
      county: 'van wert',
    };
    expect(filters(personSearches(NURSING, 'Smith', undefined, narrowing)?.all)).toEqual([
      { prefix: { 'keys.holder': 'NUR/SMITH/' } },
      { term: { 'keys.license_type': 'REGISTEREDNURSERN' } },
      { term: { 'keys.status': 'INREVIEW' } },
      { term: { 'keys.city': 'STCLAIRSVILLE' } },
      { term: { 'keys.county': 'VANWERT' } },
    ]);
  });

  test('does not narrow by conditions that are absent', () => {
    const narrowing = { license_type: undefined, city: 'Dayton' };
    expect(filters(personSearches(NURSING, 'Smith', undefined, narrowing)?.all)).toEqual([
      { prefix: { 'keys.holder': 'NUR/SMITH/' } },
      { term: { 'keys.city': 'DAYTON' } },
    ]);
  });
});

describe('businessQuery', () => {
  test('asks for the beginning of a trade name at the board; exact are those whose name it is', () => {
    expect(businessSearches(PHARMACY, 'The Acme & Sons, LLC', {})).toMatchObject({
      all: namesBody({ prefix: { 'keys.business': 'PRX/ACMESONS' } }),
      exact: namesBody({ term: { 'keys.business': 'PRX/ACMESONS' } }),
    });
  });

  test.each([
    ['THE ACME & SONS LLC', true],
    ['Widgets Inc D.B.A. Acme and Sons', true],
    ['ACME & SONS DRUGS', false],
  ])('takes for Acme & Sons the business %s as exact: %s', (fullName, isExact) => {
    const query = businessSearches(PHARMACY, 'Acme & Sons', {});
    expect(query?.isExact(storedLicense({ full_name: fullName }, 'business'))).toBe(isExact);
  });

  test('asks over all boards without one', () => {
    expect(filters(businessSearches(undefined, 'Acme', {})?.all)).toEqual([
      { prefix: { 'keys.business': '/ACME' } },
    ]);
  });

  test('narrows like a search for a person', () => {
    expect(filters(businessSearches(PHARMACY, 'Acme', { city: 'Lima', status: 'Active' })?.all)).toEqual([
      { prefix: { 'keys.business': 'PRX/ACME' } },
      { term: { 'keys.status': 'ACTIVE' } },
      { term: { 'keys.city': 'LIMA' } },
    ]);
  });

  test.each(['', '*', '&', '...', '"'])('asks nothing for the name %j', (name) => {
    expect(businessSearches(PHARMACY, name, {})).toBeUndefined();
  });

  test.each([
    ['Ac*e', 'PRX/ACE'],
    ['Acme?', 'PRX/ACME'],
    ['"Acme"', 'PRX/ACME'],
    ['/Acme', 'PRX/ACME'],
  ])('gives the punctuation of %j no power', (name, key) => {
    expect(filters(businessSearches(PHARMACY, name, {})?.all)).toEqual([
      { prefix: { 'keys.business': key } },
    ]);
  });
});

describe('nearNumberQuery', () => {
  const sameDigits = (digits: string) => ({ term: { 'keys.digits': digits } });
  const misreadAs = (written: string) => ({ terms: { 'keys.number': misreadNumberKeys(written) } });

  test('asks for the same digits, for what the form is the beginning of, and for slips, everywhere; ranks the board first', () => {
    expect(nearNumberSearch(NURSING, 'aprn/cnp 014484', false)).toEqual({
      size: 50,
      track_total_hits: false,
      query: {
        bool: {
          filter: [
            {
              bool: {
                should: [
                  sameDigits('14484'),
                  { prefix: { 'keys.number': 'APRNCNP014484' } },
                  misreadAs('aprn/cnp 014484'),
                ],
              },
            },
          ],
          should: [
            { constant_score: { filter: sameDigits('14484') } },
            { constant_score: { filter: { term: { board: 'Nursing Board' } }, boost: 2 } },
          ],
        },
      },
      sort: [{ _score: 'desc' }, { 'keys.number': 'asc' }],
    });
  });

  test('without a board ranks by the digits alone', () => {
    expect(nearNumberSearch(undefined, 'RN.123456', false)?.query.bool.should).toEqual([
      { constant_score: { filter: sameDigits('123456') } },
    ]);
  });

  test.each([
    ['with a board', NURSING],
    ['without one', undefined],
  ])('among businesses asks for theirs only, %s', (_how, board) => {
    const all = nearNumberSearch(board, 'RN.123456', false);
    const businesses = nearNumberSearch(board, 'RN.123456', true);
    expect(filters(businesses)).toEqual([
      ...(all?.query.bool.filter ?? []),
      { term: { 'keys.kind': 'business' } },
    ]);
    expect(businesses?.query.bool.should).toEqual(all?.query.bool.should);
    expect(JSON.stringify(all)).not.toContain('keys.kind');
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
    expect(filters(nearNumberSearch(undefined, written, false))).toEqual([
      {
        bool: {
          should: [
            sameDigits(digits),
            ...(beginning === undefined ? [] : [{ prefix: { 'keys.number': beginning } }]),
            misreadAs(written),
          ],
        },
      },
    ]);
  });

  test.each(['', ' ', 'RN', 'APRN.CNP', '*', '.-/', 'NURSES'])(
    'asks nothing for %j, without digits',
    (written) => {
      expect(nearNumberSearch(NURSING, written, false)).toBeUndefined();
      expect(nearNumberSearch(undefined, written, true)).toBeUndefined();
    },
  );
});

describe('businessWordsQuery', () => {
  test('asks for every word as the beginning of one, at the board, by name and number', () => {
    expect(wordsSearch(PHARMACY, 'The Drugs & Joe\u2019s, LLC', {})).toEqual({
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
    expect(filters(wordsSearch(undefined, 'Acme', {}))).toEqual([{ prefix: { 'keys.words': '/ACME' } }]);
  });

  test('narrows like a search by prefix', () => {
    expect(filters(wordsSearch(PHARMACY, 'Acme', { city: 'St. Marys', status: 'Active' }))).toEqual([
      { prefix: { 'keys.words': 'PRX/ACME' } },
      { term: { 'keys.status': 'ACTIVE' } },
      { term: { 'keys.city': 'STMARYS' } },
    ]);
  });

  test('looks at ten words at most', () => {
    const words = Array.from({ length: 12 }, (_, at) => `WORD${at}`);
    expect(filters(wordsSearch(undefined, words.join(' '), {}))).toEqual(
      words.slice(0, 10).map((word) => ({ prefix: { 'keys.words': `/${word}` } })),
    );
  });

  test.each(['', ' ', '*', '&', '...', '"'])('asks nothing for the name %j', (name) => {
    expect(wordsSearch(PHARMACY, name, {})).toBeUndefined();
  });

  test('gives punctuation no power: it stands between words', () => {
    expect(filters(wordsSearch(PHARMACY, 'B*st/"Drugs"?', {}))).toEqual([
      { prefix: { 'keys.words': 'PRX/B' } },
      { prefix: { 'keys.words': 'PRX/ST' } },
      { prefix: { 'keys.words': 'PRX/DRUGS' } },
    ]);
  });
});

describe('businessWordsQuery, fuzzy', () => {
  const starts = (value: string) => ({ prefix: { 'keys.words': value } });

  /** The word as a beginning, or with one letter wrong; never another board's. */
  function nearly(value: string) {
    const fuzzy = {
      value,
      fuzziness: 1,
      prefix_length: value.indexOf('/') + 1,
      rewrite: 'constant_score',
    };
    return { bool: { should: [starts(value), { fuzzy: { 'keys.words': fuzzy } }] } };
  }

  test('asks for every word at the board as typed or nearly so; ranks those first that have all as typed', () => {
    expect(fuzzyWordsSearch(PHARMACY, 'The Drgus & Joe\u2019s, LLC', {})).toEqual({
      size: 101,
      track_total_hits: false,
      query: {
        bool: {
          filter: [nearly('PRX/DRGUS'), nearly('PRX/JOES')],
          should: [
            { constant_score: { filter: { bool: { filter: [starts('PRX/DRGUS'), starts('PRX/JOES')] } } } },
          ],
        },
      },
      sort: EXACT_THEN_NAME_THEN_NUMBER,
    });
  });

  test.each<[string, ReturnType<typeof starts | typeof nearly>[]]>([
    ['Acme', [nearly('/ACME')]],
    ['ABC', [nearly('/ABC')]],
    ['A.B.C.', [nearly('/ABC')]],
    ['AB', [starts('/AB')]],
    ['A & P', [starts('/A'), starts('/P')]],
    ['Best #1 Rx', [nearly('/BEST'), starts('/1'), starts('/RX')]],
    ['\u5c0f\u660e', [starts('/\u5c0f\u660e')]],
  ])('over all boards, of %j takes words of three letters and more for misspelled ones', (name, words) => {
    expect(filters(fuzzyWordsSearch(undefined, name, {}))).toEqual(words);
  });

  test.each([
    [PHARMACY, 'Rx', starts('PRX/RX')],
    [PHARMACY, 'Rxs', nearly('PRX/RXS')],
    [undefined, 'Rx', starts('/RX')],
    [undefined, 'Rxs', nearly('/RXS')],
  ])("counts a word's own letters, not its board's: %j, %j", (board, name, word) => {
    expect(filters(fuzzyWordsSearch(board, name, {}))).toEqual([word]);
  });

  test('narrows like a search by prefix, and narrowing does not rank', () => {
    const body = fuzzyWordsSearch(PHARMACY, 'Acme', { city: 'St. Marys', status: 'Active' });
    expect(filters(body)).toEqual([
      nearly('PRX/ACME'),
      { term: { 'keys.status': 'ACTIVE' } },
      { term: { 'keys.city': 'STMARYS' } },
    ]);
    expect(body?.query.bool.should).toEqual([
      { constant_score: { filter: { bool: { filter: [starts('PRX/ACME')] } } } },
    ]);
  });

  test('looks at ten words at most', () => {
    const words = Array.from({ length: 12 }, (_, at) => `WORD${at}`);
    const ten = words.slice(0, 10);
    const body = fuzzyWordsSearch(undefined, words.join(' '), {});
    expect(filters(body)).toEqual(ten.map((word) => nearly(`/${word}`)));
    expect(body?.query.bool.should).toEqual([
      { constant_score: { filter: { bool: { filter: ten.map((word) => starts(`/${word}`)) } } } },
    ]);
  });

  test.each(['', ' ', '*', '&', '...', '"', 'D.B.A'])('asks nothing for the name %j', (name) => {
    expect(fuzzyWordsSearch(PHARMACY, name, {})).toBeUndefined();
  });

  test('gives punctuation no power: it stands between words', () => {
    expect(filters(fuzzyWordsSearch(PHARMACY, 'B*st/"Drugs"?~2', {}))).toEqual([
      starts('PRX/B'),
      starts('PRX/ST'),
      nearly('PRX/DRUGS'),
      starts('PRX/2'),
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
    expect(nearSurnamesSearch(NURSING, lastName)).toEqual({
      size: 0,
      suggest: {
        NUR: {
          text: `NUR/${surname}`,
          term: {
            field: 'keys.surname',
            suggest_mode: 'always',
            max_edits: edits,
            prefix_length: 4,
            size: 5,
            shard_size: 100,
          },
        },
      },
    });
  });

  test('asks for the surnames of every board when none is given', () => {
    const { suggest } = nearSurnamesSearch(undefined, 'Smith') ?? {};
    expect(Object.keys(suggest ?? {})).toEqual(BOARDS.map(({ code }) => code));
    expect(suggest?.MED?.text).toBe('MED/SMITH');
  });

  test('asks for the longest surname, and nothing for a longer one', () => {
    expect(nearSurnamesSearch(NURSING, 'x'.repeat(60))).toBeDefined();
    expect(nearSurnamesSearch(NURSING, 'x'.repeat(61))).toBeUndefined();
  });

  test.each(['', ' ', '*', '-', "'"])('asks nothing for the surname %j', (lastName) => {
    expect(nearSurnamesSearch(NURSING, lastName)).toBeUndefined();
  });
});
