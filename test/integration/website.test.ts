import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { evaluationDays } from '../../sample-data/evaluation/days.ts';
import { testEnvironment } from '../../scripts/environment.ts';
import { startApi } from '../../scripts/licenses-processes.ts';
import { freePort } from '../../scripts/ports.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { fixturesAnd, nurseRow, times } from '../support/fixtures.ts';
import { publishFiles } from '../support/publishing.ts';
import { startService, type TestService } from '../support/service.ts';

const HTML = { accept: 'text/html' };
const FORM = 'application/x-www-form-urlencoded';
const MEGABYTE = 1024 * 1024;

function originOf({ environment }: Pick<TestService, 'environment'>): string {
  return `http://127.0.0.1:${environment.config.PORT}`;
}

/** What a form posts, as a browser sends it from a page of the website. */
function post(origin: string, path: string, body: string | FormData, headers: Record<string, string> = {}) {
  const type: Record<string, string> = typeof body === 'string' ? { 'content-type': FORM } : {};
  return fetch(`${origin}${path}`, {
    method: 'POST',
    body,
    headers: { ...HTML, origin, ...type, ...headers },
    redirect: 'manual',
  });
}

/** The fields of the form that saves what a license's page shows. */
async function saveForm(origin: string, path: string): Promise<string> {
  const page = await (await fetch(origin + path, { headers: HTML })).text();
  const form = /<form[^>]* action="\/records".*?<\/form>/s.exec(page)?.[0] ?? '';
  const fields = form.matchAll(/name="(\w+)" value="([^"]*)"/g);
  const query = new URLSearchParams();
  for (const [, name = '', value = ''] of fields) query.set(name, value);
  return String(query);
}

describe('the website over HTTP', () => {
  let service: TestService;
  let origin: string;

  beforeAll(async () => {
    service = await startService({ files: evaluationDays });
    origin = originOf(service);
  });

  const get = (path: string, headers: Record<string, string> = HTML) => fetch(origin + path, { headers });

  test('/data says of each board when it changed last and how much it usually changes', async () => {
    const { body } = await service.rest.get('/api/v1/lookup/boards');
    const { board_activity: activity } = z
      .object({ board_activity: z.record(z.string(), z.object({ last_changed: z.string().nullable() })) })
      .parse(body);
    const page = await (await get('/data')).text();
    const shown = [...page.matchAll(/data-label="Board">([^<]+)<.*?data-label="Last change">([^<]+)</g)];
    expect(shown.length).toBeGreaterThan(1);
    const day = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' });
    for (const [, board = '', last] of shown) {
      const date = activity[board]?.last_changed;
      expect([board, last]).toEqual([board, date ? day.format(new Date(date)) : 'None known']);
    }
    expect(shown.some(([, , last]) => last !== 'None known')).toBe(true);
    expect(page).toContain('data-label="Usual changes a day">Not known yet<');
  });

  test('every page has a strict policy, sets no cookie, and is neither stored nor framed', async () => {
    for (const path of ['/', '/?q=Whitfield', '/licenses/NUR/RN.900418822', '/data', '/nothing']) {
      const { headers } = await get(path);
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      );
      expect(headers.get('set-cookie')).toBeNull();
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  test('licenses, results and records are not for search engines; other pages are', async () => {
    for (const path of ['/licenses/NUR/RN.900418822', '/?q=Whitfield']) {
      const response = await get(path);
      expect(response.headers.get('x-robots-tag')).toBe('noindex');
      expect(await response.text()).toContain('<meta name="robots" content="noindex">');
    }
    expect((await get('/')).headers.get('x-robots-tag')).toBeNull();
  });

  test('the style sheet is compressed, and cached for a year under an address that has its hash', async () => {
    const page = await (await get('/')).text();
    const address = /href="(\/assets\/[0-9a-f]{16}\/[\w.]+)"/.exec(page)?.[1] ?? '';
    const response = await get(address, { 'accept-encoding': 'br, gzip' });
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(await response.text()).toContain('.verdict');
    expect(Number(response.headers.get('content-length'))).toBeLessThan(25_000);
    const plain = await get(address, { 'accept-encoding': 'identity' });
    expect(plain.headers.get('content-encoding')).toBeNull();
  });

  test('the full name is shown for a nickname', async () => {
    const page = await (await get('/?q=Bill+Abernathy&board=NUR')).text();
    expect(page).toContain('<h1>Showing ABERNATHY, WILLIAM</h1>');
    expect(page).toContain('>Abernathy Jr, William');
  });

  test('an unknown address is a page for a browser and JSON for a program', async () => {
    const forBrowser = await get('/nothing', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    expect(forBrowser.status).toBe(404);
    expect(forBrowser.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const forProgram = await get('/nothing', {});
    expect(forProgram.status).toBe(404);
    expect(await forProgram.json()).toEqual({
      detail: 'There is nothing at this address. Lookups are at POST /api/v1/lookup/verify.',
    });
    expect((await get('/api/v1/nothing')).headers.get('content-type')).toContain('application/json');
  });

  test('a method that a page does not take is 405', async () => {
    const response = await fetch(`${origin}/data`, { method: 'DELETE', headers: HTML });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('HEAD, GET');
  });

  test.each([
    ['another website', { origin: 'https://evil.example' }],
    ['a page that hides where it is', { origin: 'null' }],
    ['another port', { origin: 'http://127.0.0.1:1' }],
  ])('forms from %s are refused', async (_, headers) => {
    const form = await saveForm(origin, '/licenses/NUR/RN.900418822');
    for (const path of ['/records', '/roster']) {
      const response = await post(origin, path, form, headers);
      expect(response.status).toBe(403);
      expect(await response.text()).toContain('not sent from a page of this website');
    }
  });

  test('a form without an origin is refused', async () => {
    const body = await saveForm(origin, '/licenses/NUR/RN.900418822');
    const response = await fetch(`${origin}/records`, {
      method: 'POST',
      body,
      headers: { 'content-type': FORM },
    });
    expect(response.status).toBe(403);
  });

  test('a record is saved, and its address leads to it', async () => {
    const saved = await post(origin, '/records', await saveForm(origin, '/licenses/NUR/RN.900433210'));
    expect(saved.status).toBe(303);
    expect(saved.headers.get('location')).toMatch(/^\/records\/[0-9A-Z]{4}(-[0-9A-Z]{4}){3}$/);
  });

  test('of a license that has left the dataset, no record is saved, and its page says so', async () => {
    const response = await post(origin, '/records', 'board=NUR&number=RN.900350077');
    expect([response.status, response.headers.get('location')]).toEqual([302, '/licenses/NUR/RN.900350077']);
  });

  test.each([
    ['no fields', ''],
    ['an unknown board', 'board=XXX&number=RN.900418822'],
    ['no number', 'board=NUR'],
  ])('a form with %s saves nothing', async (_, form) => {
    expect((await post(origin, '/records', form)).status).toBe(400);
  });

  const upload = (content: string | Uint8Array<ArrayBuffer>, name = 'list.csv') => {
    const form = new FormData();
    form.set('file', new Blob([content]), name);
    form.set('board', 'NUR');
    return form;
  };

  test.each([
    ['an empty file', '', 400, 'choose a file that is not empty'],
    ['only a header row', 'license_number\n', 400, 'no rows below the names of its columns'],
    ['no known column', 'a,b\n1,2\n', 200, 'What is in each column?'],
    ['1,001 rows', `license_number\n${'RN.1\n'.repeat(1001)}`, 400, 'more than 1,000 rows'],
    ['an open quotation mark', 'license_number\n"RN.1\n', 400, 'quotation mark'],
    ['NUL bytes', 'license_number\nRN\0.1\n', 200, 'Not found: 1 row'],
    ['a million columns', `${'a,'.repeat(400_000)}license_number\nRN.1\n`, 400, 'columns'],
    [
      'an older Excel file that is cut off',
      new Uint8Array([0xd0, 0xcf, 0x11, 0xe0]),
      400,
      'The file is no list that can be read.',
    ],
    ['no text', new Uint8Array([0xff, 0xfe, 0x00, 0xd8]), 400, 'The file is no list that can be read.'],
  ])('an upload of %s is answered in words', async (_, content, status, words) => {
    const response = await post(origin, '/roster', upload(content));
    expect(response.status).toBe(status);
    const page = await response.text();
    expect(page).toContain(words);
    // What is wrong with the file is said by the form, which can be sent again.
    expect(page).toContain('name="roster"');
  });

  test('an upload that is too large leads back to the form; one that is cut off or no form is refused', async () => {
    const large = await post(origin, '/roster', upload('x'.repeat(MEGABYTE)));
    expect([large.status, await large.text()]).toEqual([413, expect.stringContaining('larger than 1 MB')]);
    const cutOff = await post(origin, '/roster', '--x\r\nContent-Disposition: form-data; name="roster"', {
      'content-type': 'multipart/form-data; boundary=x',
    });
    expect(cutOff.status).toBe(400);
    expect(
      (await post(origin, '/roster', 'license_number\nRN.1', { 'content-type': 'text/csv' })).status,
    ).toBe(415);
  });

  const pasted = (fields: Readonly<Record<string, string | readonly string[]>>) => {
    const form = new FormData();
    for (const [name, values] of Object.entries(fields)) {
      for (const value of [values].flat()) form.append(name, value);
    }
    return post(origin, '/roster', form);
  };

  test('a list as CSV has its rows and columns, those of the REST API, and no formulas', async () => {
    const response = await pasted({ roster: 'Emp ID,Lic #\n=1+1,RN.900418822\n', format: 'csv' });
    expect(response.headers.get('content-disposition')).toContain('licenses-checked.csv');
    const text = await response.text();
    expect(text).toContain('Emp ID,Lic #,result_outcome,result_verdict,result_license_number');
    expect(text).toContain("'=1+1");
    expect(text).toContain('HOLLOWAY, BEATRICE ANN');
  });

  test.each([
    ['roster.xlsx', '<b>Muñoz, José</b>'],
    ['semicolons-windows-1252.csv', '<b>Muñoz, José</b>'],
    ['tabs.tsv', '<b>Muñoz, José</b>'],
  ])('a list exported by LibreOffice as %s goes through unchanged', async (name, sent) => {
    const form = new FormData();
    form.set(
      'file',
      new Blob([await readFile(resolve(import.meta.dirname, '../fixtures/lists', name))]),
      name,
    );
    const page = await (await post(origin, '/roster', form)).text();
    expect(page).toContain('<h1>4 of 6 need attention</h1>');
    expect(page).toContain(sent);
    expect(page).toContain('Name does not match');
    // The spreadsheet has dropped the zero, which is offered, never taken.
    expect(page).toContain('>03900123456</a>? Spreadsheets drop the zeros');
  });

  test('numbers without a board are looked up at all boards; a name without a number needs one', async () => {
    const page = await (await pasted({ roster: 'Lic #,Name\n35.900140001,\n,Whitfield\n' })).text();
    expect(page).toContain('<h1>1 of 2 needs attention</h1>');
    expect(page).toContain('Some rows have a name, but no license number and no board.');
    const again = await (await pasted({ roster: 'Lic #,Name\n,Whitfield\n', board: 'NUR' })).text();
    expect(again).toContain('<h1>1 of 1 needs attention</h1>');
    expect(again).not.toContain('Some rows have a name');
  });

  test('what is said of the columns counts, and must make sense', async () => {
    const roster = 'a,b\nRN.900418822,Holloway\n';
    const answered = await pasted({ roster, header: '1', column: ['license_number', 'last_name'] });
    expect(await answered.text()).toContain('<h1>The row is clear</h1>');
    const withHeader = await pasted({ roster, header: '', column: ['license_number', 'last_name'] });
    expect(await withHeader.text()).toContain('<h1>1 of 2 needs attention</h1>');
    for (const column of [
      ['', 'reference'],
      ['license_number', 'license_number'],
      ['constructor', '__proto__'],
    ]) {
      const page = await (await pasted({ roster, header: '1', column })).text();
      expect(page).toContain('<title>Error: What is in each column?');
      expect(page).toContain('RN.900418822');
    }
    const tooMany = await pasted({ roster, column: Array(230).fill('') });
    expect(tooMany.status).toBe(400);
  });

  test('a list of 1,000 rows is a page of less than 60 KB for each 100, and of 4 KB compressed', async () => {
    const lines = Array.from({ length: 1000 }, (_, at) => `E${at},RN.900418822,"HOLLOWAY, BEATRICE"`);
    const form = new FormData();
    form.set('roster', `Emp ID,Lic #,Name\n${lines.join('\n')}\n`);
    const response = await post(origin, '/roster', form);
    const page = await response.text();
    expect(page).toContain('All 1,000 rows are clear');
    expect(Buffer.byteLength(page)).toBeLessThan(600_000);
    expect(Number(response.headers.get('content-length'))).toBeLessThan(40_000);
  });

  test('the log has the route of each page, and never what was searched', async () => {
    await get('/?q=Whitfield');
    await get('/licenses/NUR/RN.900433210');
    await get('/licenses/NUR/RN.900433210/and-more');
    await get('/records/ABCD-ABCD-ABCD-ABCD');
    // The log is written in batches.
    await service.api.printed('"path":"/records/:code"');
    const log = service.api.output();
    expect(log).toContain('"path":"/licenses/:board/:number"');
    for (const searched of ['Whitfield', 'RN.900433210', 'ABCD']) expect(log).not.toContain(searched);
  });
});

describe('results', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({
      files: (folder) =>
        fixturesAnd(folder, {
          individual: [
            nurseRow('MERLIN, A', 'WZ.1', { BOARD: 'Board of Wizards' }),
            nurseRow('DASH, -', 'RN.880001', { ENDORSEMENT_NUMBER_1: 'APRN.CNP.880001' }),
            nurseRow('NOBLANK,MARY', 'RN.880002', { ENDORSEMENT_NUMBER_1: 'APRN.CNP.880002' }),
            nurseRow('FARROW, SUE', 'RN.880004', {
              SUB_STATUS: 'Suspended',
              BOARD_ACTION: 'Yes',
              ENDORSEMENT_NUMBER_1: 'APRN.CNP.880004',
              ENDORSEMENT_STATUS_1: 'Active',
            }),
            nurseRow('-, -', 'RN.880003', { ENDORSEMENT_NUMBER_1: 'APRN.CNP.880003' }),
            ...times(120, (number) => nurseRow(`WEIGHT, MARGUERITE ${number}`, `RN.77${1000 + number}`)),
          ],
        }),
    });
  });

  test('a license of a board that the catalog does not have is listed without a link that leads nowhere', async () => {
    const response = await fetch(`${originOf(service)}/?q=WZ.1`, { headers: HTML });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('data-label="Name">Merlin, A</th>');
  });

  test('the text that Copy takes of an endorsement has the license that it endorses', async () => {
    const response = await fetch(`${originOf(service)}/licenses/NUR/APRN.CNP.880004`, { headers: HTML });
    const [, copied] = /data-action="copy" data-text="([^"]*)"/.exec(await response.text()) ?? [];
    expect(copied).toContain('Status: Active\n');
    expect(copied).toContain(
      'The license that it endorses, RN.880004: Active - Suspended (expires January 1, 2099). The board has suspended it. Ask what it ordered.',
    );
  });

  test.each([
    ['a dash', 'RN.880001', ['APRN.CNP.880001']],
    ['no blank before it', 'RN.880002', ['APRN.CNP.880002']],
    ['no letter in the whole name', 'RN.880003', ['APRN.CNP.880003']],
  ])('a nurse whose given name is or has %s has a page', async (_what, number, endorsements) => {
    const response = await fetch(`${originOf(service)}/licenses/NUR/${number}`, { headers: HTML });
    expect(response.status).toBe(200);
    const page = await response.text();
    const links = [...page.matchAll(/href="\/licenses\/NUR\/(APRN[^"]+)"/g)].map(([, linked]) => linked);
    expect(links).toEqual(endorsements);
  });

  test('a page of results is under 60 KB, and under 12 KB compressed', async () => {
    const address = `${originOf(service)}/?q=Weight&kind=person`;
    const response = await fetch(address, { headers: { ...HTML, 'accept-encoding': 'identity' } });
    const page = await response.text();
    expect(page.split('<tr role="row">').length - 1).toBe(25);
    expect(Buffer.byteLength(page)).toBeLessThan(60_000);
    expect(brotliCompressSync(page).length).toBeLessThan(12_000);
    const sent = await fetch(address, { headers: { ...HTML, 'accept-encoding': 'gzip' } });
    expect(sent.headers.get('content-encoding')).toBe('gzip');
    expect(Number(sent.headers.get('content-length'))).toBeLessThan(12_000);
  });
});

describe('a record and the days after it', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ files: async (folder) => (await evaluationDays(folder)).slice(0, 1) });
  });

  test('a saved record stays as it was; beside it is what has changed since', async () => {
    const origin = originOf(service);
    const [, after] = await evaluationDays(service.environment.folder);
    const saved = await post(origin, '/records', await saveForm(origin, '/licenses/NUR/RN.900433210'));
    const removed = await post(origin, '/records', await saveForm(origin, '/licenses/NUR/RN.900350077'));
    if (after === undefined) throw new Error('There are two days.');
    await publishFiles(service.environment, after);
    const page = async ({ headers }: Response) =>
      (await fetch(origin + (headers.get('location') ?? ''), { headers: HTML })).text();
    const text = await untilContains(() => page(saved), 'Changed since');
    expect(text).toMatch(/"In this record">Active<\/td><td[^>]*>Inactive - Suspended</);
    expect(text).toContain('November 19, 2026');
    expect(text).toContain('State data of <strong>November 19, 2026</strong>');
    expect(await page(removed)).toContain('The license is not in the State’s data of November 20, 2026.');
  });
});

describe('a saved list and the days after it', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ files: async (folder) => (await evaluationDays(folder)).slice(0, 1) });
  });

  test('a saved list stays as it was, and is checked again', async () => {
    const origin = originOf(service);
    const list = [
      'Emp ID\tLic #\tSurname\tHired',
      'E1\tRN.900433210\tPetrakis\t2019-03-04',
      'E2\tRN.900350077\tMarchetti\t',
      'E3\tRN.900402255\tWhitfield\t',
      'E4\tRN.1\t\t',
    ].join('\n');
    const send = async (path: string, fields: Readonly<Record<string, string | readonly string[]>>) => {
      const form = new FormData();
      for (const [name, values] of Object.entries(fields))
        for (const value of [values].flat()) form.append(name, value);
      return post(origin, path, form);
    };
    const wrong = { checked_by: 'x'.repeat(101), reference: '#4711' };
    const refused = await send('/roster', { roster: list, format: 'save', ...wrong });
    const corrected = await refused.text();
    expect([refused.status, corrected]).toEqual([400, expect.stringContaining('<title>Error: ')]);
    expect(corrected).toContain('value="#4711"');
    const notes = { checked_by: 'Ada Lovelace', reference: '' };
    const saved = await send('/roster', { roster: list, format: 'save', ...notes });
    expect(saved.status).toBe(303);
    const address = saved.headers.get('location') ?? '';
    expect(address).toMatch(/^\/records\/[0-9A-Z]{4}(-[0-9A-Z]{4}){3}$/);

    const [, after] = await evaluationDays(service.environment.folder);
    if (after === undefined) throw new Error('There are two days.');
    await publishFiles(service.environment, after);
    const record = await (await fetch(origin + address, { headers: HTML })).text();
    expect(record).toContain('<h1>1 of 4 needs attention</h1>');
    expect(record).toContain('Ada Lovelace');
    expect(record).toContain('Marchetti, Renata');
    expect(record).not.toContain('Suspended');
    // A column that is not used is not part of the record.
    expect(record).not.toContain('2019-03-04');

    const [, roster = ''] = /<textarea name="roster"[^>]*>\n(.*?)<\/textarea>/s.exec(record) ?? [];
    const columns = [...record.matchAll(/name="column" value="(\w+)"/g)].map(([, name = '']) => name);
    const again = () =>
      send('/roster', { roster, header: '1', column: columns }).then((answer) => answer.text());
    const changed = await untilContains(again, 'Suspended');
    expect(changed).toContain('<h1>3 of 4 need attention</h1>');
    expect(changed).toContain('E3');
  });
});

/** What is read once it has a text: an API learns within a second that a publication went live. */
async function untilContains(read: () => Promise<string>, text: string): Promise<string> {
  for (;;) {
    const found = await read();
    if (found.includes(text)) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

describe('pages for what goes wrong', () => {
  test('429 says how long to wait; REST has a limit of its own', async () => {
    const service = await startService({ settings: { WEB_REQUESTS_PER_MINUTE: '3' }, files: evaluationDays });
    try {
      const responses: Response[] = [];
      for (let requests = 0; requests < 4; requests += 1)
        responses.push(await fetch(`${originOf(service)}/data`, { headers: HTML }));
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
      const last = responses.at(-1);
      expect(Number(last?.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await last?.text()).toContain('Too many requests');
      expect((await service.rest.get('/api/v1/lookup/boards')).status).toBe(200);
    } finally {
      await service.stop();
    }
  });

  test('an address may save ten records a minute', async () => {
    const service = await startService({ files: evaluationDays });
    try {
      const form = await saveForm(originOf(service), '/licenses/NUR/RN.900418822');
      const statuses: number[] = [];
      for (let saves = 0; saves < 11; saves += 1)
        statuses.push((await post(originOf(service), '/records', form)).status);
      expect(statuses).toEqual([...Array(10).fill(303), 429]);
    } finally {
      await service.stop();
    }
  });

  test('503 where nothing is published, and where OpenSearch is away', async () => {
    const environment = await testEnvironment();
    await prepareIndices(environment.store);
    const empty = await startApi(environment.variables);
    const away = await testEnvironment({ OPENSEARCH_URL: `http://127.0.0.1:${await freePort()}` });
    const cutOff = await startApi(away.variables);
    try {
      const lookup = '/?q=RN.1';
      const nothing = await fetch(originOf({ environment }) + lookup, { headers: HTML });
      expect([nothing.status, await nothing.text()]).toEqual([
        503,
        expect.stringContaining('Nothing is published yet'),
      ]);
      const unavailable = await fetch(originOf({ environment: away }) + lookup, { headers: HTML });
      expect(unavailable.status).toBe(503);
      const search = await fetch(`${originOf({ environment: away })}/?q=Maria+Garcia&board=NUR`, {
        headers: HTML,
      });
      const form = await search.text();
      expect(form).toContain('name="q" value="Maria Garcia"');
      expect(form).toContain('<option value="NUR" selected>');
      expect(await unavailable.text()).toContain('Nothing is wrong with what you typed.');
      const data = await fetch(`${originOf({ environment: away })}/data`, { headers: HTML });
      const told = await data.text();
      expect([data.status, told]).toEqual([200, expect.stringContaining('not known right now')]);
    } finally {
      await empty.stop();
      await cutOff.stop();
      await environment.cleanUp();
    }
  });
});
