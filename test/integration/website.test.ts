import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { evaluationDays } from '../../sample-data/evaluation/days.ts';
import { isInstalled } from '../../scripts/program-path.ts';
import { newRecordCode, writtenRecordCode } from '../../src/records/saved-records.ts';
import { unescaped } from '../support/common-answers.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { publishFiles } from '../support/publishing.ts';
import { recordForm, shownNurse } from '../support/saved-records.ts';
import { startService } from '../support/service.ts';

const HTML = { accept: 'text/html' };
const FORM = 'application/x-www-form-urlencoded';
const MEGABYTE = 1024 * 1024;

const NURSE = '/licenses/NUR/RN.900418822';

let lastAddress = 0;

/** What a form posts, as a browser sends it from a page of the website. Each comes from another address. */
function post(path: string, body: string | FormData, headers: Record<string, string> = {}) {
  const type: Record<string, string> = typeof body === 'string' ? { 'content-type': FORM } : {};
  lastAddress += 1;
  return fetch(`${origin}${path}`, {
    method: 'POST',
    body,
    headers: { ...HTML, origin, 'x-forwarded-for': `198.51.100.${lastAddress}`, ...type, ...headers },
    redirect: 'manual',
  });
}

/** Saves what a license's page shows. */
async function save(path: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}) {
  const form = recordForm(await pageAt(path));
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return post('/records', String(form), headers);
}

const LIST = [
  ...'Emp ID\tLic #\tSurname\tHired|E1\tRN.900433210\tPetrakis\t2019-03-04'.split('|'),
  ...'E2\tRN.900350077\tMarchetti\t|E3\tRN.900402255\tWhitfield\t|E4\tRN.1\t\t'.split('|'),
].join('\n');

const { api, environment, rest } = await startService({
  files: async (folder) => (await evaluationDays(folder)).slice(0, 1),
  settings: { TRUSTED_PROXIES: '1' },
});
const { store } = environment;
const origin = `http://127.0.0.1:${environment.config.PORT}`;
const [, after] = await evaluationDays(environment.folder);
if (after === undefined) throw new Error('There are two days.');
const notes = { checked_by: 'Ada Lovelace', reference: '' };
const addressOf = async (saving: Promise<Response>) => {
  const { status, headers } = await saving;
  const address = headers.get('location') ?? '';
  expect([status, address]).toEqual([303, expect.stringMatching(/^\/records\/(-?[0-9A-Z]{4}){4}$/)]);
  return address;
};
/** The addresses of what was saved on the first of two days: of a license, of one that leaves the dataset, of a list. */
const saved = {
  changed: await addressOf(save('/licenses/NUR/RN.900433210')),
  removed: await addressOf(save('/licenses/NUR/RN.900350077')),
  list: await addressOf(pasted({ roster: LIST, format: 'save', ...notes })),
};
await publishFiles(environment, after);

function get(path: string, headers: Record<string, string> = HTML) {
  return fetch(origin + path, { headers });
}

async function pageAt(path: string): Promise<string> {
  return (await get(path)).text();
}

/** What the form of a list sends. */
function pasted(
  fields: Readonly<Record<string, string | readonly string[]>>,
  headers: Record<string, string> = {},
) {
  const form = new FormData();
  for (const [name, values] of Object.entries(fields)) {
    for (const value of [values].flat()) form.append(name, value);
  }
  return post('/roster', form, headers);
}

test('what was saved on the day before stays as it was; beside it is what has changed since', async () => {
  const text = await pageAt(saved.changed);
  expect(text).toMatch(/"In this record">Active<\/td><td[^>]*>Inactive - Suspended</);
  expect(text).toContain('Changed since this record');
  expect(text).toContain('State data dated <strong>November 19, 2026</strong>');
  expect(await pageAt('/?q=RN.900350077')).toContain('<h1>No longer in the State’s data: RN.900350077</h1>');
  // On paper, too: what is printed later must not look as if nothing had changed.
  expect(await pageAt(saved.removed)).toMatch(
    /hidden>Print<.button><.p>\n<div class="alert caution">.*The license is not in the State’s data of November 20, 2026\./,
  );
});

test('a list that was saved on the day before is checked again', async () => {
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

describe('a saved record', () => {
  /** A fact of a page by its name. */
  function fact(page: string, name: string): string | undefined {
    const [, value] = new RegExp(`<dt[^>]*>${name}</dt><dd>(.*?)</dd>`, 's').exec(page) ?? [];
    return value?.replace(/<[^>]*>/g, '');
  }

  test('has a title for a file, its address behind a proxy, the age of the data then, and who checked', async () => {
    const https = { 'x-forwarded-proto': 'https', origin: origin.replace('http', 'https') };
    const notes = { checked_by: 'Ada Lovelace', reference: '#4711' };
    const path = (await save(NURSE, notes, https)).headers.get('location') ?? '';
    const page = await (await get(path, { ...HTML, ...https })).text();
    expect(page).toContain(
      'The State’s data of November 20, 2026 says the same as this record. No later data is loaded.',
    );
    expect(page).toMatch(/<title>Holloway, Beatrice Ann RN\.900418822 checked \d{4}-\d\d-\d\d \| /);
    expect(page).toMatch(
      /State data dated <strong>November 20, 2026<\/strong>, read \w+ \d+, \d+ \(\d+ days? old\)/,
    );
    expect(fact(page, 'Web address')).toBe(https.origin + path);
    expect([fact(page, 'Checked by'), fact(page, 'Reference')]).toEqual(['Ada Lovelace', '#4711']);
    expect(fact(page, 'Saved')).toMatch(/^\w+ \d{1,2}, \d{4} at .* \(Ohio time\)$/);
    expect(fact(page, 'Online until')).toMatch(/^\w+ \d{1,2}, \d{4}$/);
    const plain = await pageAt(saved.changed);
    for (const name of ['Checked by', 'Reference']) expect(fact(plain, name)).toBeUndefined();
  });

  test('has its notes without characters that nobody sees, which come along when texts are copied', async () => {
    const { headers } = await save(NURSE, { reference: ' \u202a#47\u200b11\u202c ' });
    expect(fact(await pageAt(headers.get('location') ?? ''), 'Reference')).toBe('#4711');
  });

  test.each([
    ['checked_by', 'x'.repeat(101), 'Checked by'],
    ['reference', 'a\u2028b', 'Reference'],
  ])('is not saved with a %s that no browser sends, of a license or a list', async (field, value, label) => {
    const notes = { [field]: value };
    const words = expect.stringContaining(`${label} takes one line of at most 100 visible characters.`);
    for (const saving of [save(NURSE, notes), pasted({ roster: LIST, format: 'save', ...notes })]) {
      const refused = await saving;
      expect([refused.status, await refused.text()]).toEqual([400, words]);
    }
  });

  test('is not saved with more fields or bytes than the form has', async () => {
    expect((await save(NURSE, { reference: 'x'.repeat(9000) })).status).toBe(413);
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`f${at}`, '']));
    expect((await save(NURSE, many)).status).toBe(400);
  });
});

test('of one address, ten records are saved a minute, of licenses and of lists together', async () => {
  const from = { 'x-forwarded-for': '198.51.100.250' };
  const statuses: number[] = [];
  for (let saves = 0; saves < 11; saves += 1)
    statuses.push((await post('/records', 'board=NUR', from)).status);
  expect(statuses).toEqual([...Array(10).fill(400), 429]);
  expect((await pasted({ roster: LIST, format: 'save' }, from)).status).toBe(429);
  expect((await pasted({ roster: LIST }, from)).status).toBe(200);
});

const open = (code: string) => fetch(`${origin}/?q=${encodeURIComponent(code)}`, { redirect: 'manual' });
const UNKNOWN = writtenRecordCode(newRecordCode());

test('the code of a record leads from the box to the record in any form in which it is read, where no license has it', async () => {
  const code = saved.changed.split('/').at(-1) ?? '';
  for (const typed of [code, ` ${code.replaceAll('-', ' ').toLowerCase()} `]) {
    const { status, headers } = await open(typed);
    expect([status, headers.get('location')]).toEqual([303, saved.changed]);
  }
  for (const typed of [UNKNOWN, code.slice(1)])
    expect(await (await open(typed)).text()).toContain('A license that is missing here may still exist');
});

test('the code of a record is a name where a license has it', async () => {
  const body = { ...shownNurse(), saved_at: new Date().toISOString() };
  const id = 'BEATR1CEH0110WAY';
  await store.client.index({ index: store.names.savedRecords, id, body, refresh: true });
  const response = await open('Beatrice Holloway');
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('RN.900418822')]);
  // The record is of another day, and says which.
  expect(await pageAt(`/records/${id}`)).toContain('read November 21, 2026 (1 day old)');
});

test('the code of no record is a page that says so', async () => {
  for (const typed of [UNKNOWN, 'RN.900418822', 'A'.repeat(5000)]) {
    const response = await get(`/records/${typed}`);
    const words = expect.stringContaining('<h1>No record with this code</h1>');
    expect([response.status, await response.text()]).toEqual([404, words]);
  }
});

describeUnless(isInstalled('curl') ? undefined : 'curl is missing', 'the page for developers', () => {
  test('has examples that run as they stand, with a key', async () => {
    const page = await pageAt('/developers');
    const [verify = '', roster = '', changes = ''] = [
      ...page.matchAll(/<pre[^>]*><code>(.*?)<\/code>/gs),
    ].map(([, escaped = '']) => unescaped(escaped));
    const answerTo = async (command: string) => {
      const env = { PATH: process.env.PATH, KEY: rest.key };
      const { stdout } = await promisify(execFile)('bash', ['--norc', '-c', command], { env });
      return stdout;
    };
    const withKey = verify.replace('YOUR_KEY', rest.key);
    expect(JSON.parse(await answerTo(withKey.replace('RN.987654321', 'RN.900418822')))).toMatchObject({
      found: true,
    });
    expect(JSON.parse(await answerTo(withKey))).toMatchObject({
      detail: expect.stringContaining('No license with the number "RN.987654321"'),
    });
    expect(await answerTo(roster)).toContain('result_outcome');
    expect(JSON.parse(await answerTo(changes))).toMatchObject({ changes: expect.any(Array), more: false });
  });
});

describe('the website over HTTP', () => {
  test('/data says of each board when it changed last and how much it usually changes', async () => {
    const { body } = await rest.get('/api/v1/lookup/boards');
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

  test('licenses, results and records are not for search engines, and neither stored nor framed', async () => {
    for (const path of [NURSE, '/?q=Whitfield', saved.list, '/nothing']) {
      const response = await get(path);
      const headers = ['x-robots-tag', 'cache-control', 'set-cookie', 'content-security-policy'];
      expect(headers.map((name) => response.headers.get(name))).toEqual([
        ...['noindex', 'no-store', null],
        expect.stringMatching(/^default-src 'none'; .*frame-ancestors 'none'$/),
      ]);
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
    // The script is much smaller.
    expect(Number(response.headers.get('content-length'))).toBeLessThan(9000);
    const plain = await get(address, { 'accept-encoding': 'identity' });
    expect(plain.headers.get('content-encoding')).toBeNull();
  });

  test.each([
    ['another website', { origin: 'https://evil.example' }],
    ['a page that hides where it is', { origin: 'null' }],
    ['another port', { origin: 'http://127.0.0.1:1' }],
    ['a page without an origin', {}],
  ])('forms from %s are refused', async (_, from) => {
    const headers = { ...HTML, 'content-type': FORM, ...from };
    for (const path of ['/records', '/roster']) {
      const form = { method: 'POST', body: 'board=NUR&number=RN.900418822', headers };
      const response = await fetch(origin + path, form);
      expect(response.status).toBe(403);
      expect(await response.text()).toContain('not sent from a page of this website');
    }
  });

  test('of a license that has left the dataset, no record is saved, and its page says so', async () => {
    const response = await post('/records', 'board=NUR&number=RN.900350077');
    expect([response.status, response.headers.get('location')]).toEqual([302, '/licenses/NUR/RN.900350077']);
  });

  test.each([
    ['no fields', ''],
    ['an unknown board', 'board=XXX&number=RN.900418822'],
    ['no number', 'board=NUR'],
    ['a number that is too long', `board=NUR&number=${'1'.repeat(201)}`],
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
    ['only a header row', 'license_number\n', 400, 'no rows below the header row'],
    ['no known column', 'a,b\n1,2\n', 200, 'What is in each column?'],
    ['NUL bytes', 'license_number\nRN\0.1\n', 200, 'Not found: 1 row'],
    ['no text', new Uint8Array([0xff, 0xfe, 0x00, 0xd8]), 400, 'The file cannot be read as a list.'],
  ])('an upload of %s is answered in words', async (_, content, status, words) => {
    const response = await post('/roster', upload(content));
    expect(response.status).toBe(status);
    const page = await response.text();
    expect(page).toContain(words);
    // What is wrong with the file is said by the form, which can be sent again.
    expect(page).toContain('name="roster"');
    expect(page.includes('<option value="NUR" selected>') && page.includes('<a href="#file">')).toBe(
      status === 400,
    );
  });

  test('a file that comes with a pasted list is not passed over in silence', async () => {
    const form = upload('license_number\nRN.900418822\n');
    form.set('roster', 'license_number\nRN.1\n');
    const response = await post('/roster', form);
    const page = await response.text();
    expect([response.status, page]).toEqual([400, expect.stringContaining('also chose a file')]);
    expect(page).toMatch(/>license_number\r?\nRN\.1/);
    expect(page).not.toContain('HOLLOWAY');
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
    for (const [columns, problem] of [
      [',reference', 'Say which column has the license number, or a name.'],
      ['license_number,license_number', 'Another column already has the meaning “License number”.'],
      ['constructor,__proto__', 'Say which column has the license number, or a name.'],
    ] as const) {
      const page = await (await pasted({ roster, header: '1', column: columns.split(',') })).text();
      for (const part of ['<title>Error: What is in each column?', problem, 'RN.900418822'])
        expect(page).toContain(part);
    }
    expect((await pasted({ roster, column: Array(230).fill('') })).status).toBe(400);
  });

  test('a list of 1,000 rows with notes is a page of less than 70 KB for each 100, and of 4 KB compressed', async () => {
    const lines = Array.from({ length: 1000 }, (_, at) => `E${at},RN.900418822,"HOLLOWAY, BEATRICE"`);
    const response = await pasted({ roster: `Emp ID,Lic #,Name\n${lines.join('\n')}\n` });
    const page = await response.text();
    expect(page).toMatch(/All 1,000 rows are clear.*Row 2 has the same license\./s);
    expect(page).toContain('Read: “Emp ID” as your own reference, “Lic #” as license number');
    expect(Buffer.byteLength(page)).toBeLessThan(700_000);
    expect(Number(response.headers.get('content-length'))).toBeLessThan(40_000);
  });

  test('the log has the route of each page, and never what was searched', async () => {
    await get('/?q=Whitfield');
    await get('/licenses/NUR/RN.900433210');
    await get('/licenses/NUR/RN.900433210/and-more');
    await get('/records/ABCD-ABCD-ABCD-ABCD');
    // The log is written in batches.
    await api.printed('"path":"/records/:code"');
    const log = api.output();
    expect(log).toContain('"path":"/licenses/:board/:number"');
    for (const searched of ['Whitfield', 'RN.900433210', 'ABCD']) expect(log).not.toContain(searched);
  });
});
