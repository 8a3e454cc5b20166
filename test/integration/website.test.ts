import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { evaluationDays } from '../../sample-data/evaluation/days.ts';
import { testEnvironment } from '../../scripts/environment.ts';
import { startApi } from '../../scripts/licenses-processes.ts';
import { freePort } from '../../scripts/ports.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { apiClient } from '../support/api.ts';
import { publishFiles } from '../support/publishing.ts';
import { startService, type TestService } from '../support/service.ts';

const HTML = { accept: 'text/html' };
const FORM = 'application/x-www-form-urlencoded';
const MEGABYTE = 1024 * 1024;

/** What a form posts, as a browser sends it from a page of the website. */
function post(path: string, body: string | FormData, headers: Record<string, string> = {}) {
  const type: Record<string, string> = typeof body === 'string' ? { 'content-type': FORM } : {};
  return fetch(`${origin}${path}`, {
    method: 'POST',
    body,
    headers: { ...HTML, origin, ...type, ...headers },
    redirect: 'manual',
  });
}

/** The fields of the form that saves what a license's page shows. */
async function saveForm(path: string): Promise<string> {
  const page = await (await fetch(origin + path, { headers: HTML })).text();
  const form = /<form[^>]* action="\/records".*?<\/form>/s.exec(page)?.[0] ?? '';
  const fields = form.matchAll(/name="(\w+)" value="([^"]*)"/g);
  const query = new URLSearchParams();
  for (const [, name = '', value = ''] of fields) query.set(name, value);
  return String(query);
}

let service: TestService;
let origin: string;
/** The addresses of what was saved on the first of two days: of a license, of one that leaves the dataset, of a list. */
let saved: Readonly<Record<'changed' | 'removed' | 'list', string>>;

const LIST = [
  'Emp ID\tLic #\tSurname\tHired',
  'E1\tRN.900433210\tPetrakis\t2019-03-04',
  'E2\tRN.900350077\tMarchetti\t',
  'E3\tRN.900402255\tWhitfield\t',
  'E4\tRN.1\t\t',
].join('\n');

beforeAll(async () => {
  service = await startService({ files: async (folder) => (await evaluationDays(folder)).slice(0, 1) });
  origin = `http://127.0.0.1:${service.environment.config.PORT}`;
  const [, after] = await evaluationDays(service.environment.folder);
  if (after === undefined) throw new Error('There are two days.');
  const notes = { checked_by: 'Ada Lovelace', reference: '' };
  const responses = {
    changed: await post('/records', await saveForm('/licenses/NUR/RN.900433210')),
    removed: await post('/records', await saveForm('/licenses/NUR/RN.900350077')),
    list: await pasted({ roster: LIST, format: 'save', ...notes }),
  };
  const addressOf = ({ status, headers }: Response) => {
    const address = headers.get('location') ?? '';
    expect([status, address]).toEqual([
      303,
      expect.stringMatching(/^\/records\/[0-9A-Z]{4}(-[0-9A-Z]{4}){3}$/),
    ]);
    return address;
  };
  const { changed, removed, list } = responses;
  saved = { changed: addressOf(changed), removed: addressOf(removed), list: addressOf(list) };
  await publishFiles(service.environment, after);
});

function get(path: string, headers: Record<string, string> = HTML) {
  return fetch(origin + path, { headers });
}

async function pageAt(path: string): Promise<string> {
  return (await get(path)).text();
}

/** What the form of a list sends. */
function pasted(fields: Readonly<Record<string, string | readonly string[]>>) {
  const form = new FormData();
  for (const [name, values] of Object.entries(fields)) {
    for (const value of [values].flat()) form.append(name, value);
  }
  return post('/roster', form);
}

describe('what was saved on the day before', () => {
  test('stays as it was; beside it is what has changed since', async () => {
    const text = await pageAt(saved.changed);
    expect(text).toMatch(/"In this record">Active<\/td><td[^>]*>Inactive - Suspended</);
    expect(text).toContain('Changed since');
    expect(text).toContain('State data of <strong>November 19, 2026</strong>');
    expect(await pageAt(saved.removed)).toContain(
      'The license is not in the State’s data of November 20, 2026.',
    );
  });

  test('of a list is checked again', async () => {
    const record = await pageAt(saved.list);
    for (const part of ['<h1>1 of 4 needs attention</h1>', 'Ada Lovelace', 'Marchetti, Renata'])
      expect(record).toContain(part);
    // A column that is not used is not part of the record.
    for (const part of ['Suspended', '2019-03-04']) expect(record).not.toContain(part);
    const [, roster = ''] = /<textarea name="roster"[^>]*>\n(.*?)<\/textarea>/s.exec(record) ?? [];
    const column = [...record.matchAll(/name="column" value="(\w+)"/g)].map(([, name = '']) => name);
    const changed = await (await pasted({ roster, header: '1', column })).text();
    for (const part of ['Suspended', '<h1>3 of 4 need attention</h1>', 'E3']) expect(changed).toContain(part);
  });

  test('takes notes of one line, and keeps what was typed where it does not', async () => {
    const notes = { checked_by: 'x'.repeat(101), reference: '#4711' };
    const refused = await pasted({ roster: LIST, format: 'save', ...notes });
    const page = await refused.text();
    expect([refused.status, page]).toEqual([400, expect.stringContaining('<title>Error: ')]);
    expect(page).toContain('value="#4711"');
  });
});

describe('the website over HTTP', () => {
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
    expect(response.headers.get('allow')).toBe('GET, HEAD');
  });

  test.each([
    ['another website', { origin: 'https://evil.example' }],
    ['a page that hides where it is', { origin: 'null' }],
    ['another port', { origin: 'http://127.0.0.1:1' }],
  ])('forms from %s are refused', async (_, headers) => {
    const form = await saveForm('/licenses/NUR/RN.900418822');
    for (const path of ['/records', '/roster']) {
      const response = await post(path, form, headers);
      expect(response.status).toBe(403);
      expect(await response.text()).toContain('not sent from a page of this website');
    }
  });

  test('a form without an origin is refused', async () => {
    const body = await saveForm('/licenses/NUR/RN.900418822');
    const response = await fetch(`${origin}/records`, {
      method: 'POST',
      body,
      headers: { 'content-type': FORM },
    });
    expect(response.status).toBe(403);
  });

  test('of a license that has left the dataset, no record is saved, and its page says so', async () => {
    const response = await post('/records', 'board=NUR&number=RN.900350077');
    expect([response.status, response.headers.get('location')]).toEqual([302, '/licenses/NUR/RN.900350077']);
  });

  test.each([
    ['no fields', ''],
    ['an unknown board', 'board=XXX&number=RN.900418822'],
    ['no number', 'board=NUR'],
  ])('a form with %s saves nothing', async (_, form) => {
    expect((await post('/records', form)).status).toBe(400);
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
    const response = await post('/roster', upload(content));
    expect(response.status).toBe(status);
    const page = await response.text();
    expect(page).toContain(words);
    // What is wrong with the file is said by the form, which can be sent again.
    expect(page).toContain('name="roster"');
  });

  test('an upload that is too large leads back to the form; one that is cut off or no form is refused', async () => {
    const large = await post('/roster', upload('x'.repeat(MEGABYTE)));
    expect([large.status, await large.text()]).toEqual([413, expect.stringContaining('larger than 1 MB')]);
    const cutOff = await post('/roster', '--x\r\nContent-Disposition: form-data; name="roster"', {
      'content-type': 'multipart/form-data; boundary=x',
    });
    expect(cutOff.status).toBe(400);
    expect((await post('/roster', 'license_number\nRN.1', { 'content-type': 'text/csv' })).status).toBe(415);
  });

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
    const page = await (await post('/roster', form)).text();
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
    const response = await pasted({ roster: `Emp ID,Lic #,Name\n${lines.join('\n')}\n` });
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

describe('pages for what goes wrong', () => {
  test('503 where nothing is published; 429 after ten records a minute, and where a visitor asks for too many pages', async () => {
    const environment = await testEnvironment({ WEB_REQUESTS_PER_MINUTE: '14' });
    await prepareIndices(environment.store);
    const empty = await startApi(environment.variables);
    const address = `http://127.0.0.1:${environment.config.PORT}`;
    try {
      const nothing = await fetch(`${address}/?q=RN.1`, { headers: HTML });
      const words = expect.stringContaining('Nothing is published yet');
      expect([nothing.status, await nothing.text()]).toEqual([503, words]);
      const statuses: number[] = [];
      for (let saves = 0; saves < 11; saves += 1) {
        const headers = { ...HTML, origin: address, 'content-type': FORM };
        const save = { method: 'POST', headers, body: 'board=NUR&number=RN.900418822' };
        statuses.push((await fetch(`${address}/records`, save)).status);
      }
      expect(statuses).toEqual([...Array(10).fill(503), 429]);
      for (const status of [200, 200]) expect((await fetch(`${address}/data`)).status).toBe(status);
      const last = await fetch(`${address}/data`, { headers: HTML });
      expect([last.status, Number(last.headers.get('retry-after')) > 0]).toEqual([429, true]);
      expect(await last.text()).toContain('Too many requests');
      // REST has a limit of its own.
      const rest = await apiClient(environment);
      expect((await rest.get('/api/v1/lookup/boards')).status).toBe(503);
    } finally {
      await empty.stop();
    }
  });

  test('503 where OpenSearch is away, with what was typed', async () => {
    const away = await testEnvironment({ OPENSEARCH_URL: `http://127.0.0.1:${await freePort()}` });
    const cutOff = await startApi(away.variables);
    const address = `http://127.0.0.1:${away.config.PORT}`;
    try {
      const search = await fetch(`${address}/?q=Maria+Garcia&board=NUR`, { headers: HTML });
      const form = await search.text();
      expect(search.status).toBe(503);
      expect(form).toContain('Nothing is wrong with what you typed.');
      expect(form).toContain('name="q" value="Maria Garcia"');
      expect(form).toContain('<option value="NUR" selected>');
      const data = await fetch(`${address}/data`, { headers: HTML });
      const words = expect.stringContaining('not known right now');
      expect([data.status, await data.text()]).toEqual([200, words]);
    } finally {
      await cutOff.stop();
    }
  });
});
