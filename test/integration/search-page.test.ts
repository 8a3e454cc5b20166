import { beforeAll, describe, expect, test } from '@jest/globals';
import { fixturesAnd, nurseRow, pharmacyRow, times } from '../support/fixtures.ts';
import { startService, type TestService } from '../support/service.ts';

const HTML = { accept: 'text/html' };

const QUILLS = [
  nurseRow('QUILL, MARIA', 'RN.881001', { STATUS: 'Inactive', SUB_STATUS: 'Expired', PARCEL_CITY: 'TOLEDO' }),
  nurseRow('QUILL, MARIA', 'PN.881002', { TYPE: 'Quill Nurse (QN)', BOARD_ACTION: 'Yes' }),
  nurseRow('QUILL, MARIA ANN', 'RN.881003', { TYPE: 'Quill Nurse' }),
  nurseRow('QUILL, MARIA BEA', 'RN.881004', { STATUS: 'Closed' }),
  nurseRow('QUILL-REED, MARIA', 'RN.881005', { BOARD: 'Board of Pharmacy', PARCEL_CITY: 'TOLEDO' }),
  nurseRow('REED QUILL, MARIA', 'RN.881006'),
  nurseRow('MARIA, QUILL', 'RN.881007'),
  nurseRow('QUILL, ZOE', '1QUILLX7'),
];

const DODGES = [
  pharmacyRow('DODGEN DRUGS', '02881001'),
  pharmacyRow('DODGE VETERINARY', '02881002'),
  pharmacyRow('THE DODGE CO', '02881003', { license_status: 'Closed' }),
  pharmacyRow('DODGE ALLEY PHARMACY', '02881004', { license_status: 'Inactive' }),
  pharmacyRow('1ST CHOICE HOME CARE', '02881005'),
  pharmacyRow('SMALL DODGE', '02881006'),
];

describe('a search', () => {
  let service: TestService;
  let origin: string;
  beforeAll(async () => {
    service = await startService({
      files: (folder) =>
        fixturesAnd(folder, {
          individual: [
            ...QUILLS,
            ...times(110, (number) =>
              nurseRow(`BRANCH, ANN ${number}`, `RN.88${2000 + number}`, {
                STATUS: number % 3 === 0 ? 'Inactive' : 'Active',
                SUB_STATUS: number % 2 === 0 ? 'Probation' : '',
                BOARD: number % 5 === 0 ? 'Dental Board' : 'Nursing Board',
                TYPE: `Type ${number % 9}`,
              }),
            ),
          ],
          business: DODGES,
        }),
    });
    origin = `http://127.0.0.1:${service.environment.config.PORT}`;
  });

  const get = (path: string) => fetch(origin + path, { headers: HTML, redirect: 'manual' });
  const shown = async (path: string) => (await get(path)).text();

  test.each([
    ['/?q=Maria+Quill', '5 licenses for Maria Quill'],
    ['/?q=QUILL%2C+MARIA', '5 licenses for QUILL, MARIA'],
    ['/?q=maria+quill&board=PRX', '1 license for maria quill'],
    ['/?q=Quill', '6 licenses for Quill'],
    ['/?q=Maria+Reed+Quill', '1 license for Maria Reed Quill'],
    ['/?q=Dodge', '4 licenses for Dodge'],
    ['/?q=Dodge+Drugs', '1 license for Dodge Drugs'],
    ['/?q=1st+Choice+Home+Care', '1 license for 1st Choice Home Care'],
    ['/?q=Branch', '110 licenses for Branch'],
    ['/?last_name=Quill&first_name=Zoe', '1 license for Zoe Quill'],
    ['/?last_name=Quill&business_name=Dodge', '10 licenses for Quill and Dodge'],
    ['/?by=business&business_name=Dodge', '4 licenses for Dodge'],
    ['/?q=Quill&by=business', 'No license found for Quill'],
    ['/?q=RN.88100', 'No license found for RN.88100'],
  ])('%s has the title and the heading "%s"', async (path, title) => {
    const page = await shown(path);
    expect([titleOf(page), /<h1>(.*?)<\/h1>/.exec(page)?.[1]]).toEqual([title, title]);
  });

  test('a number leads to its license, whatever else it could be', async () => {
    for (const path of ['/?q=rn+881005', '/?q=RN.881005&board=PRX&status=Closed', '/?q=1quillx7']) {
      const response = await get(path);
      expect([response.status, response.headers.get('location')?.split('/').at(-1)]).toEqual([
        303,
        path.includes('quill') ? '1QUILLX7' : 'RN.881005',
      ]);
    }
  });

  test('a number with another name than the holder’s is shown with a warning, and leads nowhere', async () => {
    const wrong = await get('/?number=RN.881003&last_name=Smith');
    expect(wrong.status).toBe(200);
    const page = await wrong.text();
    expect(page).toContain('The name given is not the holder’s');
    expect(page).toContain('Name does not match');
    expect((await get('/?number=RN.881003&last_name=Quill')).status).toBe(303);
  });

  test('fields without a value are left out of the address', async () => {
    const response = await get('/?q=Maria+Quill&board=&number=&last_name=&city=&status=Active');
    expect([response.status, response.headers.get('location')]).toEqual([
      303,
      '/?q=Maria+Quill&status=Active',
    ]);
  });

  test('exact names come first, then active licenses', async () => {
    expect(namesIn(await shown('/?q=Maria+Quill'))).toEqual([
      'Quill, Maria',
      'Quill, Maria',
      'Quill, Maria Ann',
      'Quill-Reed, Maria',
      'Quill, Maria Bea',
    ]);
    const [first = ''] = rowsIn(await shown('/?q=Maria+Quill'));
    expect(first).toContain('PN.881002');
    expect(first).toContain('Board action');
    expect(namesIn(await shown('/?q=Dodge'))).toEqual([
      'The Dodge Co',
      'Dodge Veterinary',
      'Dodge Alley Pharmacy',
      'Dodgen Drugs',
    ]);
  });

  test.each([
    '/?q=Quill',
    '/?q=Branch',
    '/?q=Dodge',
    '/?q=Branch&status=Inactive',
    '/?last_name=Quill&business_name=Dodge',
  ])('every count of %s is what its link finds', async (path) => {
    const links = narrowingLinks(await shown(path));
    expect(links.length).toBeGreaterThan(1);
    for (const { address, count } of links) {
      const page = await shown(address);
      expect([address, titleOf(page).split(' ')[0]]).toEqual([address, count]);
    }
  });

  test('the first hundred are on four pages, each license once', async () => {
    const listed = new Set<string>();
    for (const page of [1, 2, 3, 4]) {
      const html = await shown(`/?q=Branch&by=person&page=${page}`);
      expect(rowsIn(html)).toHaveLength(25);
      for (const name of namesIn(html)) listed.add(name);
      expect(html).toContain(`aria-label="Page ${page}" aria-current="page"`);
      expect(html).toContain('Only the first 100 of 110 are listed.');
      expect(html.includes('rel="next"')).toBe(page < 4);
    }
    expect(listed.size).toBe(100);
    const beyond = await shown('/?q=Dodge&page=2');
    expect(beyond).toContain('There is no page 2.');
    expect(beyond).toContain('<a href="/?q=Dodge">Go to the first page</a>');
  });

  test('a miss names each filter with a link that removes it, and how many there are without it', async () => {
    const page = await shown('/?q=Maria+Quill&city=Tolede&status=Closed');
    expect(page).toContain(
      '<a href="/?q=Maria+Quill&amp;status=Closed">Remove city: Tolede</a> (1 license without it)',
    );
    expect(page).toContain(
      '<a href="/?q=Maria+Quill&amp;city=Tolede">Remove status: Closed</a> (none without it either)',
    );
    expect(page).toContain('A license that is missing here may still exist');
    expect(page).toContain('<a href="/?q=Maria+Quill">Remove all of these</a> (5 licenses without them)');
    const atBoard = await shown('/?q=Dodge&board=NUR');
    expect(atBoard).toContain('<a href="/?q=Dodge">Remove board: Nursing Board</a> (4 licenses without it)');
  });

  test('a name with its parts in another order is offered with the count of what it finds', async () => {
    const page = await shown('/?q=Quill+Maria');
    expect(titleOf(page)).toBe('1 license for Quill Maria');
    const [, address = '', count] = /<a href="([^"]*)">Quill, Maria<\/a> \((\d+) licenses\)/.exec(page) ?? [];
    expect(count).toBe('5');
    expect(titleOf(await shown(plain(address)))).toBe('5 licenses for Quill, Maria');
  });

  test('a number that nothing has is told after the names that have it, and alone where none has', async () => {
    const named = await shown('/?q=1st+Choice+Home+Care');
    expect(headingsIn(named)).toEqual([
      'Businesses: 1 license',
      'Number “1st Choice Home Care”',
      'Persons: no license',
    ]);
    expect(named).not.toContain('Similar numbers');
    const alone = await shown('/?q=RN.88100');
    expect(headingsIn(alone)).toEqual(['Similar numbers']);
    const elsewhere = await shown('/?q=RN.881005&board=NUR');
    expect(titleOf(elsewhere)).toBe('RN.881005 is a number of another board than the Nursing Board');
    expect(elsewhere).toContain('<a href="/licenses/PRX/RN.881005">Board of Pharmacy</a>');
  });

  test.each([
    ['/?q=Maria+Quill&board=NUR', 200],
    ['/?q=Nobody+Atall&board=NUR', 200],
    ['/?q=RN.99999999999&board=NUR', 200],
    ['/?q=Maria+Quill&board=NUR&license_type=Wizard', 400],
    ['/?q=Maria+Quill&board=NUR&last_name=Quill', 400],
    ['/?q=%3Cb%3E%22%27&board=NUR', 200],
  ])('what was typed stays in the box and the list of boards: %s', async (path, status) => {
    const response = await get(path);
    expect(response.status).toBe(status);
    const page = await response.text();
    const typed = new URL(path, origin).searchParams.get('q') ?? '';
    const [, value = ''] = /<input[^>]* name="q" value="([^"]*)"/.exec(page) ?? [];
    expect(plain(value)).toBe(typed);
    expect(page).toContain('<option value="NUR" selected>');
  });

  test('a license type that the board lacks is an error at its field, with the types that it has', async () => {
    const page = await shown('/?q=Quill&board=NUR&license_type=Wizard');
    expect(page).toContain(
      '<a href="#license_type">The Nursing Board has no license type “Wizard”. It has: ',
    );
    expect(page).toContain('<option value="Quill Nurse (QN)"></option>');
  });
});

function titleOf(html: string): string {
  return /<title>(.*?) \| /.exec(html)?.[1] ?? '';
}

function headingsIn(html: string): string[] {
  return [...html.matchAll(/<h2>([^<]*)<\/h2>/g)].map(([, heading = '']) => heading);
}

function rowsIn(html: string): string[] {
  return html.split('<tr>').filter((row) => row.includes('<th scope="row"'));
}

function namesIn(html: string): string[] {
  return rowsIn(html).map((row) => />([^<>]+)<\/a>/.exec(row)?.[1] ?? '');
}

function narrowingLinks(html: string): { address: string; count: string }[] {
  return [...html.matchAll(/<li><a href="([^"]*)">[^<]*<\/a> \(([\d,]+)\)<\/li>/g)].map(
    ([, address = '', count = '']) => ({ address: plain(address), count }),
  );
}

function plain(escaped: string): string {
  return escaped
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}
