import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { detailIn, matchesIn, noMatchIn, numbersIn, recordIn } from '../support/answers.ts';
import type { ApiClient } from '../support/api.ts';
import { fixturesAnd, nurseRow, times } from '../support/fixtures.ts';
import { startService, type TestService } from '../support/service.ts';
import { verifies } from '../support/verifies.ts';

const NURSING = 'Nursing Board';
const MEDICAL = 'Medical Board';

let service: TestService;
let rest: ApiClient;

beforeAll(async () => {
  service = await startService({
    files: (folder) =>
      fixturesAnd(folder, {
        individual: [
          ...times(119, (number) =>
            nurseRow(`CROWD, GIVEN${String(number).padStart(3, '0')}`, `RN.${810_000 + number}`),
          ),
          nurseRow('CROWD, ZOE', 'RN.810000', { PARCEL_CITY: 'AKRON', PARCEL_COUNTY: 'Summit' }),
          ...times(100, (number) => nurseRow(`HUNDRED, H${number}`, `RN.${820_000 + number}`)),
          nurseRow('ORDER, ANNA', 'RN.830003'),
          nurseRow('ORDER, ANN', 'RN.830002'),
          nurseRow('ORDER, ANN', 'RN.830001'),
          nurseRow('ORDER-BOOK, AARON', 'RN.830000'),
          nurseRow('ST. JOHN, "JACK" A', 'RN.840000'),
          nurseRow('NARROW, NED', 'PN.850001', {
            TYPE: 'Licensed Practical Nurse (LPN)',
            STATUS: 'Inactive',
            SUB_STATUS: 'Lapsed',
            PARCEL_CITY: 'ST. MARYS',
            PARCEL_COUNTY: 'Van Wert',
          }),
          nurseRow('NARROW, NORA', 'RN.850002'),
          nurseRow('BLANK, PLACE', 'RN.860000', { PARCEL_CITY: '', PARCEL_COUNTY: '' }),
        ],
      }),
  });
  rest = service.rest;
});
afterAll(() => service.stop());

function byName(last_name: string, first_name?: string, filters: Record<string, string> = {}) {
  return rest.verify({ board: NURSING, last_name, first_name, ...filters });
}

async function numbers(last_name: string, first_name?: string, filters?: Record<string, string>) {
  return numbersIn(await byName(last_name, first_name, filters));
}

const CRUZ = ['APRN.CNP.0070001', 'RN.700001', 'RN.700002'];

describe('the number of matches:', () => {
  verifies(['LOOKUP-04', 'LOOKUP-10', 'SEARCH-03', 'SERVICE-01'], 'one match gives its record', async () => {
    expect(recordIn(await byName('Twice'))).toMatchObject({ full_name: 'TWICE, ONE' });
    expect(recordIn(await byName('de la cruz', 'mario')).license_number).toBe('RN.700002');
  });

  verifies(
    ['SEARCH-01', 'LOOKUP-11', 'SEARCH-04'],
    'several matches give full records in the array multiple, with count and date',
    async () => {
      const answer = matchesIn(await byName('Smith'));
      expect(answer).toMatchObject({
        found: true,
        count: 3,
        truncated: false,
        source: 'dataset',
        last_scraped: '2026-11-20T00:00:00',
      });
      expect(answer.multiple).toHaveLength(3);
      expect(answer).not.toHaveProperty('message');
    },
  );

  verifies('SEARCH-02', 'no match gives 200 with found false and the date', async () => {
    expect(noMatchIn(await byName('Nobody'))).toEqual({
      found: false,
      count: 0,
      message: expect.stringContaining('dataset of 2026-11-20'),
      did_you_mean: [],
      source: 'dataset',
      last_scraped: '2026-11-20T00:00:00',
    });
  });

  verifies(
    'SEARCH-05',
    '120 matches give the first 100 by name, truncated, with advice to use filters',
    async () => {
      const answer = matchesIn(await byName('Crowd'));
      expect(answer).toMatchObject({ count: 100, truncated: true });
      expect(answer.message).toMatch(/first_name.*license_type.*status.*city.*county/);
      expect(answer.multiple.map(({ full_name }) => full_name)).toEqual(
        times(100, (number) => `CROWD, GIVEN${String(number).padStart(3, '0')}`),
      );
      expect(await numbers('Crowd', 'given11')).toHaveLength(10);
    },
  );

  verifies('SEARCH-05', '100 matches give all of them, not truncated', async () => {
    expect(matchesIn(await byName('Hundred'))).toMatchObject({ count: 100, truncated: false });
  });
});

describe('suggested surnames', () => {
  async function suggested(last_name: string, board = NURSING) {
    return noMatchIn(await rest.verify({ board, last_name })).did_you_mean;
  }

  test('differ in one or two letters, depending on the length, and exist at the board', async () => {
    expect(await suggested('Smiht')).toEqual(['SMITH']);
    expect(await suggested('Jomes')).toEqual(['JONES']);
    expect(await suggested('Dela Cruc')).toEqual(['DELACRUZ']);
    expect(await suggested('de la Krus')).toEqual(['DELACRUZ']);
    expect(await suggested('Jomis')).toEqual([]);
    expect(await suggested('munos', MEDICAL)).toEqual(['MUNOZ']);
    expect(await suggested('Smiht', MEDICAL)).toEqual([]);
  });

  test('are not given if the surname exists and a given name or a filter excluded all holders', async () => {
    for (const [narrowed, excluded] of [
      [{ first_name: 'Zebedee' }, 'none of the name "Smith, Zebedee"'],
      [{ city: 'Nowhere' }, 'none with city "Nowhere"'],
      [{ status: 'Closed', city: 'Lima' }, 'none with status "Closed" and city "Lima"'],
    ] as const) {
      const missed = noMatchIn(await rest.verify({ board: NURSING, last_name: 'Smith', ...narrowed }));
      expect(missed.did_you_mean).toEqual([]);
      expect(missed.message).toMatch(/^The Nursing Board has licenses of the (sur)?name "Smith" /);
      expect(missed.message).toContain(excluded);
      const misspelled = noMatchIn(await rest.verify({ board: NURSING, last_name: 'Smiht', ...narrowed }));
      expect(misspelled.did_you_mean).toEqual(['SMITH']);
      expect(misspelled.message).toMatch(/^No license of the Nursing Board matches the name "Smiht/);
    }
  });

  test('come without holders, in a response without a match', async () => {
    const answer = await byName('Smiht');
    expect(noMatchIn(answer)).toMatchObject({ found: false, count: 0 });
    expect(answer.text).not.toMatch(/mary|RN\.|PN\./i);
  });
});

describe('the order of matches', () => {
  verifies('SEARCH-06', 'is exact surnames first, then by name, then by number', async () => {
    expect(await numbers('Order')).toEqual(['RN.830001', 'RN.830002', 'RN.830003', 'RN.830000']);
    expect(await numbers('Order', 'Anna')).toEqual(['RN.830003']);
    expect(await numbers('Order', 'Ann')).toEqual(['RN.830001', 'RN.830002', 'RN.830003']);
    expect(await numbers('Smith')).toEqual(['RN.700005', 'PN.700004', 'RN.700003']);
  });

  test('is the same every time', async () => {
    const first = await byName('Crowd');
    for (const again of await Promise.all(times(5, () => byName('Crowd')))) {
      expect(again.text).toBe(first.text);
    }
  });
});

describe('last_name', () => {
  verifies(
    'PERSON-01',
    'matches regardless of case, accents, apostrophes, periods, spaces and hyphens',
    async () => {
      for (const written of [
        'de la cruz',
        'DE LA CRUZ',
        'Delacruz',
        'DeLa-Cruz',
        "d'e la cruz.",
        ' dela cruz ',
      ]) {
        expect([written, (await numbers(written)).sort()]).toEqual([written, CRUZ]);
      }
      for (const written of ['obrien', "O'Brien", 'O’BRIEN', 'o brien', 'Ó Brién']) {
        const answer = await rest.verify({ board: MEDICAL, last_name: written });
        expect([written, recordIn(answer).license_number]).toEqual([written, '35.700006']);
      }
      for (const written of ['munoz', 'MUÑOZ', 'Mun\u0303oz']) {
        const answer = await rest.verify({ board: MEDICAL, last_name: written });
        expect(recordIn(answer).full_name).toBe('MUÑOZ, JOSÉ');
      }
      for (const written of ['st john', 'St. John', 'ST.JOHN', 'stjohn']) {
        expect([written, await numbers(written)]).toEqual([written, ['RN.840000']]);
      }
    },
  );

  verifies('PERSON-01', 'must be a whole surname: a part of it finds nobody', async () => {
    for (const written of ['Smi', 'mith', 'de la', 'Cruz', 'Smithers', 'Crowdg', 'Crowdgiven001']) {
      expect([written, await numbers(written)]).toEqual([written, []]);
    }
  });

  verifies('PERSON-02', 'matches with and without a generational suffix', async () => {
    expect(await numbers('Smith', 'Mary')).toContain('RN.700005');
    expect(await numbers('Smith Jr', 'Mary')).toContain('RN.700005');
    const written = await rest.verify({ board: MEDICAL, last_name: "O'Brien III" });
    expect(recordIn(written).license_number).toBe('35.700006');
    expect(await numbers('Jr')).toEqual([]);
  });

  verifies('PERSON-03', 'may be either half of a hyphenated surname, or all of it', async () => {
    expect(await numbers('Jones')).toEqual(['RN.700003']);
    expect(await numbers('Smith')).toContain('RN.700003');
    expect(await numbers('smith jones')).toEqual(['RN.700003']);
    expect(await numbers('Smith-Jones')).toEqual(['RN.700003']);
    expect(await numbers('Jones-Smith')).toEqual([]);
  });

  test('finds a holder whose name has no comma', async () => {
    expect(recordIn(await rest.verify({ board: MEDICAL, last_name: 'madonna' })).full_name).toBe('MADONNA');
  });

  test('finds only holders at the given board, and never a business', async () => {
    expect(noMatchIn(await rest.verify({ board: MEDICAL, last_name: 'Smith' })).count).toBe(0);
    const board = 'Embalmers and Funeral Directors Board';
    expect(noMatchIn(await rest.verify({ board, last_name: 'Smith Funeral Home' })).count).toBe(0);
    expect(noMatchIn(await rest.verify({ board, last_name: 'Smith' })).count).toBe(0);
  });
});

describe('first_name', () => {
  verifies(['LOOKUP-05', 'PERSON-04'], 'is optional and matches by prefix', async () => {
    expect(await numbers('de la cruz')).toHaveLength(3);
    expect((await numbers('de la cruz', 'mar')).sort()).toEqual(CRUZ);
    expect(await numbers('de la cruz', 'mari')).toHaveLength(3);
    expect(await numbers('de la cruz', 'maria')).toHaveLength(2);
    expect(await numbers('de la cruz', 'aria')).toEqual([]);
    expect(await numbers('de la cruz', 'elena')).toEqual([]);
  });

  verifies('PERSON-04', 'may span several given names and is folded like surnames', async () => {
    expect(await numbers('Smith', 'maryann')).toEqual(['PN.700004', 'RN.700003']);
    expect(await numbers('Smith', 'Mary Ann')).toEqual(['PN.700004', 'RN.700003']);
    expect(await numbers('Smith', 'mary-a')).toEqual(['PN.700004', 'RN.700003']);
    expect(await numbers('de la cruz', 'María E')).toHaveLength(2);
    const answer = await rest.verify({ board: MEDICAL, last_name: 'muñoz', first_name: 'jose' });
    expect(recordIn(answer).full_name).toBe('MUÑOZ, JOSÉ');
  });
});

describe('input', () => {
  verifies('INPUT-01', 'is never a wildcard, a query or a pattern', async () => {
    for (const written of ['S*', '?mith', 'S.*', 'SM*', 'Smit?', '"S"', '{"match_all":{}}', 'NUR|', '|S']) {
      expect([written, await numbers(written)]).toEqual([written, []]);
    }
    for (const written of ['*', '?', '.*', '"', '|']) {
      const answer = await rest.verify({ board: NURSING, last_name: written });
      expect([written, detailIn(answer, 400)]).toEqual([written, 'last_name must have a letter or a digit.']);
    }
    expect(await numbers('Smith', 'M*N')).toEqual([]);
    expect(await numbers('Smith', '?ary')).toEqual([]);
    expect(await numbers('Smith OR Crowd')).toEqual([]);
    expect(await numbers('"Smith*"')).toEqual(await numbers('Smith'));
  });

  verifies('INPUT-01', 'in a filter is not a wildcard, a query or a pattern either', async () => {
    expect(await numbers('Blank')).toEqual(['RN.860000']);
    for (const field of ['status', 'city', 'county']) {
      for (const written of ['L*', 'L?', 'L"']) {
        expect([field, written, await numbers('Blank', undefined, { [field]: written })]).toEqual([
          field,
          written,
          [],
        ]);
      }
    }
  });

  verifies('INPUT-02', 'that is blank counts as absent', async () => {
    const blanks = { license_number: ' ', search_type: '', business_name: '\t', city: '  ', status: '' };
    const answer = await rest.verify({ board: NURSING, last_name: 'Twice', first_name: ' ', ...blanks });
    expect(recordIn(answer).license_number).toBe('RN.700015');
  });
});

describe('the filters', () => {
  verifies('FILTERS-01', 'license_type, status, city and county compare whole, folded values', async () => {
    const fits: [string, string][] = [
      ['license_type', 'licensed practical nurse (lpn)'],
      ['license_type', 'LPN'],
      ['status', 'inactive'],
      ['status', 'Inactive - Lapsed'],
      ['city', 'St Marys'],
      ['county', 'VAN WERT'],
    ];
    for (const [field, value] of fits) {
      expect([field, await numbers('Narrow', undefined, { [field]: value })]).toEqual([field, ['PN.850001']]);
    }
    for (const [field, value] of [
      ['license_type', 'APRN - Certified Nurse Practitioner (CNP)'],
      ['status', 'act'],
      ['city', 'St'],
      ['county', 'Van'],
    ] as const) {
      expect([field, await numbers('Narrow', undefined, { [field]: value })]).toEqual([field, []]);
    }
  });

  verifies('FILTERS-01', 'can be combined with each other and with first_name', async () => {
    expect(await numbers('Narrow', 'n', { status: 'active', city: 'Lima' })).toEqual(['RN.850002']);
    expect(await numbers('Narrow', 'ned', { status: 'active' })).toEqual([]);
    expect(await numbers('Crowd', undefined, { city: 'akron', county: 'summit' })).toEqual(['RN.810000']);
  });
});
