import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { savedRecords } from '../../src/records/saved-records.ts';
import { type ApiAnswer, apiClient } from '../support/api.ts';
import { RECORD_LIMITS, shownNurse } from '../support/saved-records.ts';
import { startService, type TestService } from '../support/service.ts';

const NURSE = { board: 'Nursing Board', license_number: 'RN.700001' };
const PUBLIC_URL = 'https://licenses.example.gov';
/** A tenth of them is an account's, and half of them are all accounts'. */
const SAVES = 10;

let service: TestService;

beforeAll(async () => {
  service = await startService({ settings: { PUBLIC_URL } });
});

const saved = z.object({
  code: z.string(),
  url: z.string(),
  saved_at: z.iso.datetime(),
  kept_until: z.iso.date(),
});

/** Saves a record for an account. */
async function save(account: string, fields: object = {}, at = service): Promise<ApiAnswer> {
  const client = await apiClient(at.environment, account);
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
    const { body: record } = await service.rest.verify(NURSE);
    expect(answer.body).toEqual({ code, url, saved_at, kept_until, ...notes, record });

    const read = await savedRecords(service.environment.store, RECORD_LIMITS).read(code);
    expect(read).toMatchObject({
      kind: 'license',
      date: '2026-11-20',
      saved_at,
      ...notes,
      changes: [],
      sample: false,
    });
    const page = await service.rest.get(`/records/${code}`);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('Zoë O’Neil')]);
  });

  test('of a number that is not found is not saved: 404 as a lookup', async () => {
    const missed = { license_number: 'RN.999999' };
    const { status, body } = await save('None', missed);
    expect({ status, body }).toEqual({
      status: 404,
      body: (await service.rest.verify({ ...NURSE, ...missed })).body,
    });
  });

  test.each([
    ['no number', { license_number: ' ' }, /^license_number is needed/],
    ['a number that nobody sees', { license_number: '\u200b' }, /^license_number is needed/],
    ['a blank board', { board: ' ' }, /^board is needed/],
    ['null for a board', { board: null }, /^board is needed/],
    ['an unknown board', { board: 'Nursing' }, /^No board has exactly the name given/],
    ['a note of two lines', { reference: 'a\nb' }, /^reference takes one line of at most 100/],
    ['a note that is too long', { checked_by: 'x'.repeat(101) }, /^checked_by takes one line/],
    ['a note that is no text', { checked_by: 7 }, /^checked_by takes one line/],
  ])('is refused with %s', async (_what, fields, detail) => {
    const { status, body } = await save('Bad', fields);
    expect([status, body]).toEqual([400, { detail: expect.stringMatching(detail) }]);
  });

  test('has no note where the text is blank or null', async () => {
    const { status, body } = await save('Blank', { checked_by: '  ', reference: null });
    expect([status, Object.keys(z.record(z.string(), z.unknown()).parse(body))]).toEqual([
      201,
      ['code', 'url', 'saved_at', 'kept_until', 'record'],
    ]);
  });
});

describe('of what a day allows', () => {
  let limited: TestService;

  beforeEach(async () => {
    limited = await startService({ settings: { SAVED_RECORDS_PER_DAY: String(SAVES) } });
  });

  test('an account saves a tenth, what is not found costs nothing, and all accounts save half', async () => {
    const missed = { license_number: 'RN.999999' };
    for (let at = 1; at <= 4; at += 1) expect((await save('One', missed, limited)).status).toBe(404);
    const ofOne: number[] = [];
    for (let at = 0; at <= SAVES / 10; at += 1) ofOne.push((await save('One', {}, limited)).status);
    expect(ofOne).toEqual([201, 429]);

    for (let at = ofOne.length; at <= SAVES / 2; at += 1) {
      const { status, body } = await save(`Account ${at}`, {}, limited);
      expect(status).toBe(201);
      expect(body).not.toHaveProperty('url');
    }
    expect((await save('Too late', {}, limited)).status).toBe(429);
  });

  test('a save that is refused because there is no room costs nothing', async () => {
    const { store } = limited.environment;
    const records = savedRecords(store, RECORD_LIMITS);
    for (let at = 0; at <= SAVES; at += 1) await records.save(shownNurse());
    for (let at = 0; at <= SAVES / 10; at += 1) {
      const { status, headers, body } = await save('Full', {}, limited);
      expect([status, headers.get('retry-after'), body]).toEqual([
        503,
        '3600',
        { detail: expect.stringMatching(/^So many records were saved in the last 24 hours/) },
      ]);
    }
  });
});

test('a record is shown while nothing is live, and says that it is not compared', async () => {
  const own = await startService();
  const { code } = z.object({ code: z.string() }).parse((await save('One', {}, own)).body);
  expect((await own.rest.get(`/records/${code}`)).text).toContain('No change since');
  const { client, store } = own.environment;
  await client.indices.deleteAlias({ index: '_all', name: store.names.alias });
  const page = await own.rest.get(`/records/${code}`);
  expect(page.status).toBe(200);
  expect(page.text).toContain('RN.700001');
  expect(page.text).toContain('Not compared with today’s data');
});
