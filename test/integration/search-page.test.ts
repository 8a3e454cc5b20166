import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { unescaped } from '../support/common-answers.ts';
import { FIXTURES, fixturesAnd, nurseRow, pharmacyRow, times, withRows } from '../support/fixtures.ts';
import { startService } from '../support/service.ts';

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
  nurseRow('ABERNATHY JR, WILLIAM', 'RN.881008'),
  nurseRow('TWIN, DOT', 'RN.71.0001'),
  nurseRow('TWIN, NODOT', 'RN.710.001'),
];

const DODGES = [
  pharmacyRow('DODGEN DRUGS', '02881001'),
  pharmacyRow('DODGE VETERINARY', '02881002'),
  pharmacyRow('THE DODGE CO', '02881003', { license_status: 'Closed' }),
  pharmacyRow('DODGE ALLEY PHARMACY', '02881004', { license_status: 'Inactive' }),
  pharmacyRow('1ST CHOICE HOME CARE', '02881005'),
  pharmacyRow('SMALL DODGE', '02881006'),
];

const ODD_NURSES = [
  nurseRow('MERLIN, A', 'WZ.1', { BOARD: 'Board of Wizards' }),
  nurseRow('DASH, -', 'RN.880001', { ENDORSEMENT_NUMBER_1: 'APRN.CNP.880001' }),
  nurseRow('NOBLANK,MARY', 'RN.880002', { ENDORSEMENT_NUMBER_1: 'APRN.CNP.880002' }),
  nurseRow('-, -', 'RN.880003', { ENDORSEMENT_NUMBER_1: 'APRN.CNP.880003' }),
  nurseRow('FARROW, SUE', 'RN.880004', {
    ...{ SUB_STATUS: 'Suspended', BOARD_ACTION: 'Yes' },
    ...{ ENDORSEMENT_NUMBER_1: 'APRN.CNP.880004', ENDORSEMENT_STATUS_1: 'Active' },
  }),
];

const { environment } = await startService({
  files: async (folder) => {
    const rows = [
      ...QUILLS,
      ...ODD_NURSES,
      ...times(110, (number) =>
        nurseRow(`BRANCH, ANN ${number}`, `RN.88${2000 + number}`, {
          STATUS: number % 3 === 0 ? 'Inactive' : 'Active',
          SUB_STATUS: number % 2 === 0 ? 'Probation' : '',
          BOARD: number % 5 === 0 ? 'Dental Board' : 'Nursing Board',
          TYPE: `Type ${number % 9}`,
        }),
      ),
    ];
    const files = await fixturesAnd(folder, { individual: rows, business: DODGES });
    const before = [...rows, nurseRow('UNREADABLE, UMA', 'RN.881009')];
    const after = [...rows, nurseRow('UNREADABLE, UMA', 'RN.881009', { EXPIRATION_DATE: 'soon' })];
    return Promise.all(
      [before, after].map(async (individual, day) => ({
        ...files,
        individual: await withRows(FIXTURES.individual, join(folder, `day-${day}.csv`), individual),
      })),
    );
  },
});
const origin = `http://127.0.0.1:${environment.config.PORT}`;

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
  ['/?q=Dodge&kind=business', '4 licenses for Dodge'],
  ['/?q=Quill&kind=business', 'No license found for Quill'],
  ['/?q=Branch&board=MED', '110 licenses for Branch'],
  // What is meant is shown.
  ['/?q=Bill+Abernathy', 'Showing ABERNATHY, WILLIAM'],
  ['/?q=Zoe+Quil', 'Showing QUILL, Zoe'],
  ['/?q=Xaver+Quill', 'Showing Quill'],
  ['/?q=Quill+Zoe', 'Showing Quill, Zoe'],
  ['/?q=Quill+Zoe+Lima', 'Showing Quill, Zoe'],
  ['/?q=Quil+Zoe', 'Showing QUILL, Zoe'],
  ['/?q=Quil', 'Showing QUILL'],
  ['/?q=Smoll+Dodge', 'Showing SMALL DODGE'],
  ['/?q=RN.88100', 'Showing what is similar to RN.88100'],
  ['/?q=RM.881001', 'Showing RN.881001'],
  ['/?q=RN.88l00I', 'Showing RN.881001'],
  ['/?q=RN.881003+Smith', 'Name does not match: RN.881003 Smith'],
  ['/?q=Dodge&status=Closed', '1 license for Dodge'],
  ['/?q=rn+710001', 'More than one license for rn 710001'],
  ['/?q=RN.881009', 'Not readable in the State’s data: RN.881009'],
  ['/?q=registered+nurse+lima', 'Type a name or a number, not a profession'],
])('%s has the title and the heading "%s"', async (path, title) => {
  const page = await shown(path);
  expect([titleOf(page), /<h1>(.*?)<\/h1>/.exec(page)?.[1]]).toEqual([title, title]);
});

test('a number leads to its license, whatever else it could be and whatever stands beside it', async () => {
  for (const [path, number] of [
    ['/?q=rn+881005', 'RN.881005'],
    ['/?q=RN.881005&board=PRX&status=Closed', 'RN.881005'],
    ['/?q=1quillx7', '1QUILLX7'],
    ['/?q=License+No.+RN.881005', 'RN.881005'],
    ['/?q=RN.881003+Quill', 'RN.881003'],
    ['/?q=quill,+maria+RN.881003', 'RN.881003'],
  ] as const) {
    const response = await get(path);
    const led = response.headers.get('location')?.split('/').at(-1);
    expect([path, response.status, led]).toEqual([path, 303, number]);
  }
});

test('what is shown instead of what was typed is said', async () => {
  const page = await shown('/?q=RM.881001');
  expect(page).toContain('Showing <strong>RN.881001</strong> instead: the State’s data of ');
  expect(page).toContain(' has no license for “RM.881001” as typed.');
  expect(rowsIn(page)).toHaveLength(1);
  for (const part of ['Quill, Maria', 'Registered Nurse', 'Inactive - Expired']) expect(page).toContain(part);
  const narrowed = await shown('/?q=Maria+Quill&city=Tolede&status=Closed');
  expect(narrowed).toContain(
    'No license with this name fits the filters as typed. Showing matches without the filters.',
  );
  expect(narrowed).toContain('<a href="/?q=Maria+Quill">Remove the filters</a>');
  expect(rowsIn(narrowed)).toHaveLength(5);
  const byWords = await shown('/?q=Dodge+Small&status=Closed');
  expect(byWords).toContain('No license with this name fits the filters as typed.');
  expect(namesIn(byWords)).toEqual(['Small Dodge']);
  expect(await shown('/?q=rn+710001')).toContain('Choose the license that you mean.');
  const elsewhere = await shown('/?q=RN.881005&board=NUR');
  expect(elsewhere).toContain('The Nursing Board has no number RN.881005.');
  expect(elsewhere).toContain('<a href="/licenses/PRX/RN.881005">');
  expect(elsewhere).not.toContain('The name does not match');
  expect(await shown('/?q=RN.881003+Smith')).toContain('The name does not match the holder’s');
  const ofNobody = await shown('/?q=RN.881005+Smith&board=NUR');
  expect(titleOf(ofNobody)).toBe('At another board: RN.881005 Smith');
  expect(ofNobody).toContain('The name does not match the holder’s');
});

test('that nothing was found with filters is not said of all licenses', async () => {
  const ofBusinesses = await shown('/?q=Quill&kind=business');
  expect(ofBusinesses).toContain('no license with the number or the name “Quill” that fits the filters.');
  expect(ofBusinesses).toContain('<a href="/?q=Quill">Remove the filters</a>');
  expect(await shown("/?q=O'Zzyzx")).toContain('the name “O&#39;Zzyzx”. Check the spelling.');
  const ofNumber = await shown('/?q=RN.99999999&board=NUR');
  for (const part of ['Check each digit.', 'nursing.ohio.gov', 'elicense.ohio.gov'])
    expect(ofNumber).toContain(part);
});

test.each([
  ['registered nurse lima', '“registered” and “nurse” occur in names of license types.'],
  ['Zzyzx nurse', '“nurse” occurs in names of license types.'],
])('that a kind of license is not searched is the first sentence of %s', async (typed, sentence) => {
  const page = await shown(`/?q=${encodeURIComponent(typed)}`);
  expect(page.slice(page.indexOf('</form>\n<p>'))).toMatch(new RegExp(`^</form>\n<p>${sentence}`));
  expect(page).not.toContain('Check the spelling');
  expect(page).toContain('A license that is missing here may still exist');
});

test('another way to write the address of a license leads to it; a number of another board to the search', async () => {
  for (const [path, address] of [
    ['/licenses/nur/rn%20881001', '/licenses/NUR/RN.881001'],
    ['/licenses/NUR/RN.881005', '/?q=RN.881005&board=NUR'],
  ] as const) {
    const { status, headers } = await get(path);
    expect([path, status < 400, headers.get('location')]).toEqual([path, true, address]);
  }
});

test('the text that Copy takes of an endorsement has the license that it endorses', async () => {
  const [, copied] =
    /data-action="copy" data-text="([^"]*)"/.exec(await shown('/licenses/NUR/APRN.CNP.880004')) ?? [];
  expect(copied).toContain('Status: Active\nExpires: ');
  expect(copied).toMatch(
    /Board action: .*\nState of Ohio data dated 2026-11-20, read \d{4}-\d\d-\d\d; the board/,
  );
  expect(copied).toContain(
    'The license that it endorses, RN.880004: Active - Suspended (expires January 1, 2099). The board has suspended it. Ask the board for details.',
  );
});

test('a license of a board that the catalog does not have is listed without a link that leads nowhere', async () => {
  expect(await shown('/?q=WZ.1')).toContain('data-label="Name">Merlin, A</th>');
});

test.each(['880001', '880002', '880003'])('a nurse of an odd name has a page: RN.%s', async (number) => {
  const page = await shown(`/licenses/NUR/RN.${number}`);
  const links = [...page.matchAll(/href="\/licenses\/NUR\/(APRN[^"]+)"/g)].map(([, linked]) => linked);
  expect(links).toEqual([`APRN.CNP.${number}`]);
});

test('a page of results is under 60 KB, and under 12 KB compressed', async () => {
  const address = `${origin}/?q=Branch&kind=person`;
  const response = await fetch(address, { headers: { ...HTML, 'accept-encoding': 'identity' } });
  const page = await response.text();
  expect(rowsIn(page)).toHaveLength(25);
  expect(Buffer.byteLength(page)).toBeLessThan(60_000);
  const sent = await fetch(address, { headers: { ...HTML, 'accept-encoding': 'gzip' } });
  expect(sent.headers.get('content-encoding')).toBe('gzip');
  expect(Number(sent.headers.get('content-length'))).toBeLessThan(12_000);
});

test('fields without a value are left out of the address', async () => {
  const { status, headers } = await get('/?q=Maria+Quill&board=&city=&status=Active');
  expect([status, headers.get('location')]).toEqual([303, '/?q=Maria+Quill&status=Active']);
});

test('exact names come first, then active licenses', async () => {
  const page = await shown('/?q=Maria+Quill');
  expect(namesIn(page)).toEqual([
    ...'Quill, Maria|Quill, Maria|Quill, Maria Ann|Quill-Reed, Maria|Quill, Maria Bea'.split('|'),
  ]);
  const [first = ''] = rowsIn(page);
  expect(first).toContain('PN.881002');
  expect(first).toContain('Board action');
  expect(namesIn(await shown('/?q=Dodge'))).toEqual([
    ...'The Dodge Co|Dodgen Drugs|Dodge Veterinary|Dodge Alley Pharmacy'.split('|'),
  ]);
});

test.each(['/?q=Quill', '/?q=Branch&status=Inactive'])('a count of %s is what it leads to', async (path) => {
  const choices = countedChoices(await shown(path));
  expect(choices.length).toBeGreaterThan(1);
  for (const [name = '', value = '', count] of choices) {
    const page = await shown(`${path}&${name}=${encodeURIComponent(value)}`);
    expect([name, value, titleOf(page).split(' ')[0]]).toEqual([name, value, count]);
  }
});

test('the first hundred are on four pages, each license once', async () => {
  const listed = new Set<string>();
  for (const page of [1, 2, 3, 4]) {
    const html = await shown(`/?q=Branch&kind=person&page=${page}`);
    expect(rowsIn(html)).toHaveLength(25);
    for (const name of namesIn(html)) listed.add(name);
    expect(html).toContain(`Page ${page} of 4`);
    expect(html).toContain('Only the first 100 of 110 are listed.');
    expect(html.includes('rel="next"')).toBe(page < 4);
  }
  expect(listed.size).toBe(100);
  const beyond = await shown('/?q=Dodge&page=2');
  expect(beyond).toContain('There is no page 2.');
  expect(beyond).toContain('<a href="/?q=Dodge">Go to the first page</a>');
});

const titleOf = (html: string) => /<title>(.*?) \| /.exec(html)?.[1] ?? '';

const rowsIn = (html: string) =>
  html.split('<tr role="row">').filter((row) => row.includes('<th scope="row"'));

const namesIn = (html: string) => rowsIn(html).map((row) => />([^<>]+)<\/a>/.exec(row)?.[1] ?? '');

/** The choices of the filters: the name of the field, the value, and how many licenses it leaves. */
const countedChoices = (html: string) =>
  [...html.matchAll(/<select[^>]* name="(\w+)">(.*?)<\/select>/gs)].flatMap(([, name, options = '']) =>
    [...options.matchAll(/value="([^"]+)"[^>]*>[^<]*\(([\d,]+)\)<\/option>/g)].map(
      ([, value = '', count]) => [name, unescaped(value), count],
    ),
  );
