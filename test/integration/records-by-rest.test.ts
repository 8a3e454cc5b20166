import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { savedRecords } from '../../src/records/saved-records.ts';
import { type ApiAnswer, apiClient } from '../support/api.ts';
import { addRecords, deleteRecords, RECORD_LIMITS, shownNurse } from '../support/saved-records.ts';
import { startService } from '../support/service.ts';

const NURSE = { board: 'Nursing Board', license_number: 'RN.700001' };
const PUBLIC_URL = 'https://licenses.example.gov';
/** A tenth of them is an account's, and half of them are all accounts'. */
const SAVES = 10;

const { environment, rest } = await startService({
  settings: { PUBLIC_URL, SAVED_RECORDS_PER_DAY: String(SAVES) },
});
const { client, store } = environment;

const saved = z.object({
  ...{ code: z.string(), url: z.string(), saved_at: z.iso.datetime(), kept_until: z.iso.date() },
});

/** Saves a record for an account. */
async function save(account: string, fields: object = {}): Promise<ApiAnswer> {
  const client = await apiClient(environment, account);
  return client.verify({ ...NURSE, ...fields }, '/api/v1/records');
}

describe('a record by REST', () => {
  test('is the one that the website saves and shows, with the record as a lookup has it', async () => {
    const notes = { checked_by: 'Zoë O’Neil', reference: '#4711' };
    const answer = await save('One', { license_number: ' rn 700001', ...notes });
    expect(answer.status).toBe(201);
    const { code, url, saved_at, kept_until } = saved.parse(answer.body);
    expect(code).toMatch(/^(?:[0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/);
    expect(url).toBe(`${PUBLIC_URL}/records/${code}`);
    expect((Date.parse(kept_until) - Date.parse(saved_at.slice(0, 10))) / 86_400_000).toBe(400);
    const { body: record } = await rest.verify(NURSE);
    expect(answer.body).toEqual({ code, url, saved_at, kept_until, ...notes, record });

    const read = await savedRecords(store, RECORD_LIMITS).read(code);
    const shown = { kind: 'license', date: '2026-11-20', changes: [], sample: false };
    expect(read).toMatchObject({ ...shown, ...notes, saved_at });
    const page = await rest.get(`/records/${code}`);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('Zoë O’Neil')]);
    expect(page.text.replace(/<[^>]*>/g, '')).toContain(`Web address${url}`);
  });

  test.each([
    ['a number that nobody sees', { license_number: '\u200b' }, /^license_number is needed/],
    ['null for a board', { board: null }, /^board is needed/],
    ['an unknown board', { board: 'Nursing' }, /^No board has exactly the name given/],
    ['a note that is too long', { checked_by: 'x'.repeat(101) }, /^checked_by takes one line/],
    ['a note that is no text', { checked_by: 7 }, /^checked_by takes one line/],
  ])('is refused with %s', async (_what, fields, detail) => {
    const { status, body } = await save('Bad', fields);
    expect([status, body]).toEqual([400, { detail: expect.stringMatching(detail) }]);
  });

  test('has no note where the text is blank or null', async () => {
    const { status, body } = await save('Blank', { checked_by: '  ', reference: null });
    const fields = ['code', 'url', 'saved_at', 'kept_until', 'record'];
    expect([status, Object.keys(Object(body))]).toEqual([201, fields]);
  });
});

describe('of what a day allows', () => {
  test('a save that is refused because there is no room costs nothing', async () => {
    await addRecords(store, SAVES + 1, new Date().toISOString());
    for (let at = 0; at <= SAVES / 10; at += 1) {
      const { status, headers, body } = await save('Full');
      const detail = expect.stringMatching(/^Too many records were saved in the last 24 hours/);
      expect([status, headers.get('retry-after'), body]).toEqual([503, '3600', { detail }]);
    }
    await deleteRecords(store);
    expect((await save('Full')).status).toBe(201);
  });

  test('an account saves a tenth, what is not found costs nothing, and all accounts save half', async () => {
    for (let at = 1; at <= 4; at += 1)
      expect((await save('Tenth', { license_number: 'RN.999999' })).status).toBe(404);
    const ofOne: number[] = [];
    for (let at = 0; at <= SAVES / 10; at += 1) ofOne.push((await save('Tenth')).status);
    expect(ofOne).toEqual([201, 429]);
    // Others have saved three.
    for (let at = 4; at < SAVES / 2; at += 1) expect((await save(`Account ${at}`)).status).toBe(201);
    expect((await save('Too late')).status).toBe(429);
  });
});

test('a record is shown while nothing is live, and says that it is not compared', async () => {
  const code = await savedRecords(store, RECORD_LIMITS).save(shownNurse(), new Date());
  expect((await rest.get(`/records/${code}`)).text).not.toContain('Not compared with the current');
  await client.indices.deleteAlias({ index: '_all', name: store.names.alias });
  const page = await rest.get(`/records/${code}`);
  expect(page.status).toBe(200);
  expect(page.text).toContain('RN.123456');
  expect(page.text).toContain('Not compared with the current data');
});
