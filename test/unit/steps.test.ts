import { describe, expect, test } from '@jest/globals';
import type { StoredChange } from '../../src/changes/change.ts';
import { boardByName } from '../../src/licenses/boards.ts';
import type { StoredLicense } from '../../src/licenses/license.ts';
import { type LookupRequest, MAX_MATCHES, type TypedName } from '../../src/licenses/lookup.ts';
import { leftBy } from '../../src/lookup/left-licenses.ts';
import { commonNumberQuery, type NearSurnamesBody, numberQuery } from '../../src/lookup/queries.ts';
import { type LicenseQuery, NOTHING, type SearchResult } from '../../src/lookup/search.ts';
import { lookUp as lookUpRequest } from '../../src/lookup/steps.ts';
import { boardOfCode } from '../support/boards.ts';
import { storedLicense } from '../support/records.ts';
import { cellsOf } from '../support/tables.ts';
import { verifies } from '../support/verifies.ts';

// What is found and offered, test/integration/matching.test.ts proves; with how many requests, cost.test.ts.

type Search = (query: LicenseQuery) => SearchResult;
/** Surnames with a similar spelling, by `BOARD/SURNAME`. */
type Near = Readonly<Record<string, string[]>>;

const [NURSING, PHARMACY, PSYCHOLOGY] = [boardOfCode('NUR'), boardOfCode('PRX'), boardOfCode('PSY')];
const UNKNOWN = { outcome: 'none', reason: 'unknown', didYouMean: [] };
/** No surname is similar. */
const NONE_NEAR: Near = {};

/** What a query's own search finds: one license more than a lookup returns shows that there are more. */
function result(licenses: readonly StoredLicense[]): SearchResult {
  return { licenses, isComplete: licenses.length <= MAX_MATCHES };
}

/** A search that returns the next of these lists for each query, and records the queries. */
function answering(...lists: StoredLicense[][]) {
  const queries: LicenseQuery[] = [];
  const search: Search = (query) => {
    const list = lists[queries.length];
    queries.push(query);
    if (list === undefined) throw new Error('One query more than expected.');
    return result(list);
  };
  return { queries, search };
}

/** The outcome; of a miss without the request, which it repeats. @param near without it, no suggestions are asked for */
async function lookUp(
  asked: LookupRequest,
  search: Search,
  near?: Near,
  nearQueries: NearSurnamesBody[] = [],
) {
  const publication = {
    search: async (query: LicenseQuery | undefined) => (query === undefined ? NOTHING : search(query)),
    nearSurnames: async (body: NearSurnamesBody | undefined) => {
      if (body !== undefined) nearQueries.push(body);
      return Object.values(body?.suggest ?? {}).flatMap(({ text }) => near?.[text] ?? []);
    },
  };
  const outcome = await lookUpRequest(asked, publication, near !== undefined);
  if (outcome.outcome !== 'none') return outcome;
  const { request, ...rest } = outcome;
  expect(request).toBe(asked);
  return rest;
}

function byNumber(number: string, board = '', businessOnly = false): LookupRequest {
  return { by: 'number', number, board: board === '' ? undefined : boardOfCode(board), businessOnly };
}

function byPerson(lastName: string, more: object = { firstName: 'Ann', filters: { city: 'Lima' } }) {
  return { by: 'person', board: NURSING, lastName, filters: {}, ...more } as const;
}

/** Persons, or businesses, of these names. */
const named = (names: readonly string[], kind?: 'business') =>
  names.map((full_name, at) => storedLicense({ license_number: `RN.${at}`, full_name }, kind));

/** `NUR RN.1, PRX 02-123456 business` as licenses. */
const licensesOf = (text: string) =>
  text.split(', ').flatMap((each) => {
    const [code = '', license_number = '', kind] = each.split(' ');
    if (code === '') return [];
    return storedLicense(
      { license_number, board: boardOfCode(code).name },
      kind === 'business' ? kind : 'person',
    );
  });

test('a lookup by number without a board searches once, for all forms of the number', async () => {
  const { queries, search } = answering([]);
  await lookUp(byNumber('rn 123456'), search);
  expect(queries).toEqual([numberQuery('RN.123456')]);
});

test.each(['NUR RN.999999', 'PRX RN.123456'])(
  'a lookup by number never returns what was not asked for: %s',
  async (stranger) => {
    const { search } = answering(licensesOf(stranger), []);
    expect(await lookUp(byNumber('RN.123456', 'NUR'), search)).toEqual(UNKNOWN);
  },
);

test('a lookup by number searches at the board asked if more licenses have the number than a search returns', async () => {
  const [others, atBoard] = [licensesOf('NUR PENDING, NUR PEN.DING'), licensesOf('PSY PENDING')];
  const queries: LicenseQuery[] = [];
  const search: Search = (query) => {
    queries.push(query);
    if (query.by === 'other') return result(atBoard);
    return query.by === 'number' ? { licenses: others, isComplete: false } : NOTHING;
  };
  const found = { outcome: 'found', record: atBoard[0] };
  expect(await lookUp(byNumber('pending', 'PSY'), search)).toEqual(found);
  expect(queries.at(-1)).toEqual(commonNumberQuery({ by: 'number', numberKey: 'PENDING' }, PSYCHOLOGY));
});

// What was typed, the board, the licenses whose numbers differ only in case and separators, and the answer.
const SAME_KEY = cellsOf(`
\u0020dc-01234  |  | NUR DC.01234, NUR DC-01234 | NUR DC-01234
sp.1234 | PSY | SHP SP.1234, PSY SP-1234 | PSY SP-1234
sp.1234 | SHP business | SHP SP.1234, SHP SP-1234 business | SHP SP-1234
02123456 |  | NUR 02.123456, NUR 02-123456 business | ambiguous at NUR: 02-123456, 02.123456
A12 |  | NUR A.1-2, NUR A.12, NUR A1.2, NUR A1-2, NUR A-12, NUR A-12 | ambiguous at NUR: A-12, A.12, A1-2
SP 1234 | NUR | SHP SP.1234, SHP SP-1234 | other_board at SHP: SP-1234, SP.1234
SP 1234 | NUR | SHP SP.1234, PSY SP-1234 | other_board at PSY SHP: SP-1234, SP.1234
SP.1234 | NUR | SHP SP.1234, PSY SP-1234 | other_board at SHP: SP.1234, SP-1234
02123456 | PSY business | NUR 02.123456, PRX 02-123456 business | other_board at PRX NUR: 02-123456
`);
test.each(SAME_KEY)(
  'a lookup by number %j at %j, where there are %s, is %s',
  async (typed = '', at = '', sameKey = '', expected = '') => {
    const [board = '', businessOnly] = at.split(' ');
    const found = licensesOf(sameKey);
    for (const licenses of [found, found.toReversed()]) {
      const asTyped = board === '' ? [] : [[]];
      // One more search would fail, so nothing is suggested.
      const request = byNumber(typed, board, businessOnly !== undefined);
      expect(inShort(await lookUp(request, answering(...asTyped, licenses).search, NONE_NEAR))).toBe(
        expected,
      );
    }
  },
);

function inShort(outcome: Awaited<ReturnType<typeof lookUp>>): string {
  const codes = (boards: readonly string[]) =>
    boards.map((name) => boardByName(name)?.code ?? name).join(' ');
  if (outcome.outcome === 'several') throw new Error('A number never finds several licenses.');
  if (outcome.outcome === 'found') return `${codes([outcome.record.board])} ${outcome.record.license_number}`;
  const at = outcome.boards === undefined ? '' : ` at ${codes(outcome.boards)}`;
  return `${outcome.reason}${at}: ${outcome.didYouMean.join(', ')}`.trimEnd();
}

const many = (name: string, count: number) => named(Array(count).fill(name));

test('a lookup by person of many says that there are more than the few that were searched for', async () => {
  const found = many('SMITH, ANN', 21);
  const search: Search = () => ({ licenses: found, isComplete: false });
  expect(await lookUp(byPerson('Smith'), search)).toMatchObject({ truncated: true });
});

test('a lookup by person does not search again if a batch returned all matches, even more than an answer lists', async () => {
  const [exact, alike] = [many('SMITH, ANN', 2), many('SMITH, ANNA', 120)];
  const search: Search = (query) => {
    expect(query).toMatchObject({ by: 'person', select: 'all' });
    return { licenses: [...alike, ...exact], isComplete: true };
  };
  const records = [...exact, ...alike.slice(0, 98)];
  expect(await lookUp(byPerson('Smith'), search)).toEqual({ outcome: 'several', records, truncated: true });
});

test.each([
  ['has no digits', 'NURSE*', NONE_NEAR, 1],
  ['has no letter and no digit', ' .-/', NONE_NEAR, 0],
  ['is looked up while the service is busy', 'APRN.CNP.14484', undefined, 1],
])('a number that nobody has gets no suggestions if it %s', async (_when, number, near, searches) => {
  const { queries, search } = answering([]);
  expect([await lookUp(byNumber(number), search, near), queries.length]).toEqual([UNKNOWN, searches]);
});

describe('a name that is sent along with a number', () => {
  const withName = (name: TypedName, number = 'RN.123456') =>
    ({ by: 'number', number, businessOnly: false, name }) as const;

  test('offers numbers with at most two differences whose holder has it, in place of others', async () => {
    const near = licensesOf('NUR RN.0123456, NUR RN.123499, NUR RN.123999');
    const { search } = answering([], near.slice(0, 1), near.slice(1));
    const didYouMean = ['RN.123499'];
    const outcome = await lookUp(withName({ lastName: 'Example' }), search, NONE_NEAR);
    expect(outcome).toMatchObject({ didYouMean, ofTheName: didYouMean });
  });

  const MISMATCH = { nameMatch: false };
  const THERE = { ...MISMATCH, isNameAtBoard: true };
  test.each<[string, TypedName, StoredLicense[][], object]>([
    ['is that of the holder, so nobody looks', { lastName: 'Example' }, [], { nameMatch: true }],
    ['is a person’s', { lastName: 'Smith' }, [[storedLicense()]], THERE],
    ['is a business’s', { lastName: 'Acme', firstName: 'Drugs' }, [[], [storedLicense()]], THERE],
    ['has words of a business’s', { businessName: 'Acme' }, [[], [storedLicense()]], THERE],
    ['is nobody’s', { lastName: 'Smith' }, [[], [], []], { ...MISMATCH, isNameAtBoard: false }],
    ['is a given name alone, which is not searched', { firstName: 'Zoe' }, [], MISMATCH],
    ['has no letter and no digit', { wholeName: '*' }, [], MISMATCH],
    ['folds to more than 200 characters', { lastName: '\ufdfa'.repeat(14) }, [], MISMATCH],
  ])('and is looked for at the board if it is not the holder’s: it %s', async (_how, name, found, said) => {
    const { queries, search } = answering([storedLicense()], ...found);
    const record = storedLicense();
    expect(await lookUp(withName(name), search, NONE_NEAR)).toEqual({ outcome: 'found', record, ...said });
    expect(queries).toHaveLength(found.length + 1);
  });

  test('as a whole is looked for with the surname first and last', async () => {
    const { queries, search } = answering([storedLicense()], [storedLicense()]);
    await lookUp(withName({ wholeName: 'Smith Ann' }), search, NONE_NEAR);
    expect(queries[1]).toMatchObject({ names: ['NUR/ANN/SMITH', 'NUR/SMITH/ANN'], select: 1 });
  });

  test('does not decide which of two licenses is meant', async () => {
    const { search } = answering([
      storedLicense({ license_number: 'DC-01234', full_name: 'SMITH, ANN' }),
      storedLicense({ license_number: 'DC.01234', full_name: 'JONES, BEA' }),
    ]);
    const outcome = await lookUp(withName({ lastName: 'Smith' }, 'DC01234'), search);
    expect(outcome).toMatchObject({ outcome: 'none', reason: 'ambiguous', ofTheName: ['DC-01234'] });
    expect(outcome).not.toHaveProperty('nameMatch');
  });
});

const smiths = { 'NUR/SMITH': ['SMIT', 'SMYTH'] };

test('a person whom nobody matches gets the surnames of which its own is half before similar ones', async () => {
  const { search } = answering([], named(['SMITH QZMORA, ANN', 'DE LA CRUZ SMITH, ANN LEE']));
  const didYouMean = ['SMITHQZMORA', 'DELACRUZSMITH', 'SMIT', 'SMYTH'];
  expect(await lookUp(byPerson('Smith', {}), search, smiths)).toEqual({ ...UNKNOWN, didYouMean });
});

test('a person whom nobody matches gets the holders of double surnames before other given names of the surname', async () => {
  const search: Search = (query) => {
    if ('select' in query && query.select === 1) return result(named(['VEGA, ANNA']));
    if ('names' in query && query.names.includes('NUR/VEGA-/ANN'))
      return result(named(['VEGAS, ANN', 'VEGA QZMORA, ANN', 'DE LA CRUZ VEGA, ANN LEE']));
    return result(query.by === 'other' ? named(['VEGA, ANA', 'VEGA, LEE ANN']) : []);
  };
  expect(await lookUp(byPerson('Vega', { firstName: 'Ann' }), search, NONE_NEAR)).toEqual({
    ...UNKNOWN,
    surnameExists: true,
    didYouMean: ['VEGA QZMORA, ANN', 'DE LA CRUZ VEGA, ANN', 'VEGA, ANA', 'VEGA, LEE', 'VEGAS, ANN'],
  });
});

test.each<[string, LookupRequest]>([
  ['a given name and a filter', byPerson('Smith')],
  ['a given name', byPerson('Smith', { firstName: 'Ann' })],
  ['a filter', byPerson('Smith', { filters: { county: 'Allen' } })],
])(
  'a person whom nobody matches gets none, but learns that its surname exists, if only this excludes all: %s',
  async (what, request) => {
    const search: Search = (query) =>
      result('select' in query && query.select === 1 ? named(['SMITH, ZOE']) : []);
    const exists = { ...(what.includes('filter') && { nameExists: true }), surnameExists: true };
    expect(await lookUp(request, search, smiths)).toEqual({ ...UNKNOWN, ...exists });
  },
);

test.each([
  [['ACME'], []],
  [[], ['ACME']],
])(
  'a business of which no trade name begins as typed learns that its name exists if only the filters exclude it',
  async (...unfiltered) => {
    const { search } = answering([], [], [], ...unfiltered.map((names) => named(names, 'business')));
    const request = { by: 'business', board: PHARMACY, name: 'Acme', filters: { city: 'Lima' } } as const;
    expect(await lookUp(request, search, NONE_NEAR)).toEqual({ ...UNKNOWN, nameExists: true });
  },
);

const change = (license_number: string, more: Partial<StoredChange> = {}): StoredChange => ({
  ...{ kind: 'removed', cause: 'data', board: NURSING.name, last_in_dataset: '2026-11-19' },
  fields: { raw_status: { before: 'Active', after: null } },
  ...{ license_number, publication: 'p', date: '2026-11-20' },
  ...{ feed: 'f', epoch: 1, position: 1, at: '2026-11-20T12:00:00Z', full_name: 'HOLDER, A' },
  ...{ license: `NUR/${license_number}`, number: 'RN1' },
  ...more,
});
const REMOVED = { reason: 'removed', left: { last_in_dataset: '2026-11-19', last_raw_status: 'Active' } };
const UNKNOWN_LEFT = { reason: 'removed', left: { last_in_dataset: null, last_raw_status: null } };

const unread = (more: Partial<StoredChange> = {}) => change('RN.1', { cause: 'rejected_row', ...more });
const renumbered = change('RN.1', {
  ...{ renumbered_to: 'RN-1', last_in_dataset: '2026-11-02' },
  fields: { raw_status: { before: 'Inactive', after: null } },
});
const EARLIER = { publication: 'earlier', date: '2026-11-15' };

test.each<[string, StoredChange[], object | undefined]>([
  ['exactly, not of another in its form', [change('RN-1', { cause: 'rollback' }), change('RN.1')], REMOVED],
  ['of two licenses, of which nothing is told', [change('RN-1'), change('RN 1')], UNKNOWN_LEFT],
  ['as the State wrote it last, not when its writing changed', [change('RN-1'), renumbered], REMOVED],
  [
    'as a row that could not be read on an earlier day',
    [unread(EARLIER)],
    { reason: 'unreadable', unreadableIn: EARLIER.date },
  ],
  ['by a rollback', [change('RN.1', { cause: 'rollback' })], undefined],
  ['by a release of the service', [change('RN.1', { cause: 'release' })], undefined],
  ['and is back', [change('RN.1', { kind: 'added' })], undefined],
])('a number that left the dataset %s', (_how, changes, miss) => {
  const left = leftBy({ by: 'number', number: 'RN.1', board: NURSING, businessOnly: false }, changes, 'p');
  if (miss === undefined) expect(left).toBeUndefined();
  else expect(left).toMatchObject({ outcome: 'none', didYouMean: [], ...miss });
});

describe('a text that cannot match causes no search', () => {
  /** 14 characters that fold to 210. */
  const LONG = '\ufdfa'.repeat(14);
  const byBusiness = (name: string, filters = {}) => ({ by: 'business', name, filters }) as const;

  verifies('INPUT-07', 'of each kind', async () => {
    for (const request of [
      byPerson('***', {}),
      byBusiness('&'),
      byNumber(LONG),
      byPerson(LONG, {}),
      byPerson('Smith', { firstName: LONG }),
      byBusiness(LONG),
      byBusiness('Acme', { county: LONG }),
    ]) {
      const nearQueries: NearSurnamesBody[] = [];
      const outcome = await lookUp(request, answering().search, NONE_NEAR, nearQueries);
      expect([outcome, nearQueries]).toMatchObject([{ outcome: 'none' }, []]);
    }
  });

  test('but a surname that folds to exactly 200 characters is searched', async () => {
    const { queries, search } = answering([]);
    await lookUp(byPerson(`${'\ufdfa'.repeat(13)}abcde`, {}), search);
    expect(queries).toHaveLength(1);
  });
});

const failing = (succeeding: number): Search => {
  const { queries, search } = answering([], []);
  return (query) => {
    if (queries.length === succeeding) throw new Error('OpenSearch is away');
    return search(query);
  };
};

test.each<[string, LookupRequest, number]>([
  ['by number', byNumber('RN.1'), 0],
  ['by person', byPerson('Smith'), 0],
  ['by person, when only the search for suggestions fails', byPerson('Smith'), 1],
  ['by business', { by: 'business', name: 'Acme', filters: {} }, 0],
])(
  'if OpenSearch fails, a lookup fails instead of finding nothing %s',
  async (_what, request, succeeding) => {
    await expect(lookUp(request, failing(succeeding), NONE_NEAR)).rejects.toThrow('OpenSearch is away');
  },
);
