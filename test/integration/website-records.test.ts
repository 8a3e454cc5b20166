import { beforeAll, describe, expect, test } from '@jest/globals';
import { evaluationDays } from '../../sample-data/evaluation/days.ts';
import { newRecordCode, writtenRecordCode } from '../../src/records/saved-records.ts';
import { rawRequest } from '../support/raw-http.ts';
import { shownNurse } from '../support/saved-records.ts';
import { startService, type TestService } from '../support/service.ts';

const NURSE = '/licenses/NUR/RN.900418822';
const SITE = 'licenses.example.gov';

let service: TestService;
let lastAddress = 0;

beforeAll(async () => {
  service = await startService({ files: evaluationDays, settings: { TRUSTED_PROXIES: '1' } });
});

/** As a proxy passes on what a browser asks; each visitor has another address, so that no limit is met. */
async function ask(path: string, headers: Record<string, string> = {}, body?: string) {
  lastAddress += 1;
  return rawRequest({
    port: service.environment.config.PORT,
    method: body === undefined ? 'GET' : 'POST',
    path,
    headers: {
      ...{ host: SITE, accept: 'text/html', 'accept-encoding': 'identity' },
      ...{ 'x-forwarded-proto': 'https', 'x-forwarded-for': `198.51.100.${lastAddress}` },
      ...(body !== undefined && {
        origin: `https://${SITE}`,
        'content-type': 'application/x-www-form-urlencoded',
        'content-length': String(Buffer.byteLength(body)),
      }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  });
}

/** The fields of the form that saves a record, of a page. */
function formOf(html: string): Map<string, string> {
  const form = /<form[^>]* action="\/records".*?<\/form>/s.exec(html)?.[0] ?? '';
  const fields = form.matchAll(/name="(\w+)" value="([^"]*)"/g);
  return new Map([...fields].map(([, name = '', value = '']) => [name, unescaped(value)]));
}

function unescaped(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}

async function saveForm(): Promise<Map<string, string>> {
  return formOf((await ask(NURSE)).text);
}

function save(form: ReadonlyMap<string, string>, fields: Record<string, string> = {}) {
  return ask('/records', {}, String(new URLSearchParams({ ...Object.fromEntries(form), ...fields })));
}

async function savedAddress(fields: Record<string, string> = {}): Promise<string> {
  const { status, headers } = await save(await saveForm(), fields);
  expect(status).toBe(303);
  return headers.get('location') ?? '';
}

/** A fact of a page by its name. */
function fact(html: string, name: string): string | undefined {
  const [, value] = new RegExp(`<dt[^>]*>${name}</dt><dd>(.*?)</dd>`, 's').exec(html) ?? [];
  return value?.replace(/<[^>]*>/g, '');
}

describe('the page of a saved record', () => {
  test('has a title for a file, its address, what the data was, and how long it is kept', async () => {
    const path = await savedAddress();
    const { text } = await ask(path);
    expect(text).toMatch(/<title>Holloway, Beatrice Ann RN\.900418822 checked \d{4}-\d\d-\d\d \| /);
    expect(text).toContain('<h1>Record of a license check</h1>');
    expect(fact(text, 'Web address')).toBe(`https://${SITE}${path}`);
    expect(text).not.toContain('style=');
    expect(text).toMatch(
      /State data of <strong>November 20, 2026<\/strong>, read on \w+ \d+, \d+ \(\d+ days? old\)/,
    );
    expect(fact(text, 'Saved')).toMatch(/^\w+ \d{1,2}, \d{4} at .* \(Ohio time\)$/);
    expect(fact(text, 'Online until')).toMatch(/^\w+ \d{1,2}, \d{4}$/);
    for (const name of ['Checked by', 'Reference']) expect(fact(text, name)).toBeUndefined();
  });

  test('says who checked, and for what', async () => {
    const { text } = await ask(await savedAddress({ checked_by: 'Ada Lovelace', reference: '#4711' }));
    expect([fact(text, 'Checked by'), fact(text, 'Reference')]).toEqual(['Ada Lovelace', '#4711']);
  });
});

describe('a record is not saved', () => {
  test.each([
    ['checked_by', 'x'.repeat(101), 'Checked by takes at most 100 characters.'],
    ['reference', 'a\u202eb', 'Reference takes one line of visible characters.'],
  ])('with a wrong %s, and the form comes back as it was sent', async (field, value, words) => {
    const other = field === 'reference' ? 'checked_by' : 'reference';
    const refused = await save(await saveForm(), { [field]: value, [other]: 'kept' });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('<title>Error: ');
    expect(refused.text).toContain(`<a href="#${field}">${words}</a>`);
    expect(refused.text).toMatch(new RegExp(`name="${field}"[^>]*aria-invalid="true"`));
    const form = formOf(refused.text);
    expect(form.get(other)).toBe('kept');
    const { text } = await ask((await save(form, { [field]: 'right' })).headers.get('location') ?? '');
    expect(text).toContain('<dd>right</dd>');
  });

  test('with more fields or bytes than the form has', async () => {
    const form = await saveForm();
    expect((await save(form, { reference: 'x'.repeat(9000) })).status).toBe(413);
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`f${at}`, '']));
    expect((await save(form, many)).status).toBe(400);
  });
});

describe('a code that is typed', () => {
  const open = (code: string) => ask(`/?q=${encodeURIComponent(code)}`);
  const UNKNOWN = writtenRecordCode(newRecordCode());

  test('leads from the box to the record in any form in which it is read, where no license has it', async () => {
    const address = await savedAddress();
    const code = address.split('/').at(-1) ?? '';
    for (const typed of [code, ` ${code.replaceAll('-', ' ').toLowerCase()} `]) {
      const { status, headers } = await open(typed);
      expect([status, headers.get('location')]).toEqual([303, address]);
    }
    for (const typed of [UNKNOWN, code.slice(1)]) {
      expect((await open(typed)).text).toContain('A license that is missing here may still exist');
    }
  });

  test('is a name where a license has it', async () => {
    const { store } = service.environment;
    const body = { ...shownNurse(), saved_at: new Date().toISOString() };
    const id = 'BEATR1CEH0110WAY';
    await store.client.index({ index: store.names.savedRecords, id, body, refresh: true });
    const { status, text } = await open('Beatrice Holloway');
    expect([status, text.includes('RN.900418822')]).toEqual([200, true]);
  });

  test.each([UNKNOWN, 'RN.900418822', '"><script>alert(1)</script>', 'A'.repeat(5000)])(
    'of no record is a page that says so: /records/%s',
    async (typed) => {
      const { status, text } = await ask(`/records/${encodeURIComponent(typed)}`);
      expect([status, text]).toEqual([404, expect.stringContaining('<h1>No record with this code</h1>')]);
      expect(text).not.toContain('<script>alert');
    },
  );
});
