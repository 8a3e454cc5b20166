/** @room lookups */
import { beforeEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { licenseRecord } from '../../src/licenses/license.ts';
import { numberMissIn } from '../support/answers.ts';
import { eventually } from '../support/eventually.ts';
import { NURSES, NURSING, startFeedService } from '../support/feed-service.ts';
import { answer, type ProxyStep, pass } from '../support/proxy.ts';
import { sendRoster, sendTable } from '../support/rosters.ts';
import { shownNurse } from '../support/saved-records.ts';

// What a lookup says of a number that the feed of changes knows. same-answers.test.ts compares the interfaces.

let step: ProxyStep = pass;

const [GONE, , NEVER_READ] = NURSES;
const [gone = '', unreadable = '', neverRead = ''] = NURSES.map(({ number }) => number);
const NO_DATE = { expires: '31.31.2099' };
/** The State writes it without the zero on the second day. */
const PADDED = { board: NURSING, number: 'RN.0900100', name: 'PADDED, PAM' };
const UNPADDED = { ...PADDED, number: 'RN.900100' };
const [SPEECH, PSYCHOLOGY] = ['Speech and Hearing Professionals Board', 'Psychology Board'];
/** Numbers that two boards use: the other's row cannot be read, or there is none. */
const [OF_BOTH, OF_ONE] = ['SP.900050', 'SP.900051'];
const OF_TWO_BOARDS = [
  { board: SPEECH, number: OF_BOTH },
  { board: PSYCHOLOGY, number: OF_BOTH, ...NO_DATE },
  { board: SPEECH, number: OF_ONE },
];
/** Active in the last dataset, which is of 2026-11-02. */
const PASSED = { board: NURSING, number: 'RN.900200', expires: '2026-11-05' };
const FIRST_DAY = [...NURSES, PADDED, PASSED, ...OF_TWO_BOARDS].map((row) => {
  if (row === GONE) return { ...row, subStatus: 'Probation' };
  return row === NEVER_READ ? { ...row, ...NO_DATE } : row;
});
const SECOND_DAY = FIRST_DAY.flatMap((row) => {
  if (row.number === gone) return [];
  if (row === PADDED) return [UNPADDED];
  return [row.number === unreadable ? { ...row, ...NO_DATE } : row];
});

const service = await startFeedService({}, (request) => step(request));
const { rest } = service;
await service.publishDay(FIRST_DAY);
const saved = await rest.verify({ board: NURSING, license_number: unreadable }, '/api/v1/records');
/** The code of a record of the first day. */
const { code: recordOfUnreadable } = z.object({ code: z.string() }).parse(saved.body);
await service.publishDay(SECOND_DAY);
beforeEach(() => {
  step = pass;
});

/** What /lookup/verify says of a number that it does not find. */
async function miss(license_number: string, more: object = {}) {
  const answered = await rest.verify({ board: NURSING, license_number, ...more });
  const { data_age_days: _, ...body } = numberMissIn(answered);
  return body;
}

const REMOVED = {
  ...{ reason: 'removed', did_you_mean: [] },
  ...{ last_in_dataset: '2026-11-01', last_raw_status: 'Active - Probation' },
};

test('a number that left the dataset says when and with which status, an unreadable one that nothing follows', async () => {
  for (const number of [gone, gone.toLowerCase(), gone.replace('.', ' - ')]) {
    const { detail, ...facts } = await miss(number, { last_name: 'Holder' });
    expect(facts).toEqual(REMOVED);
    expect(detail).toContain('was last in the dataset of 2026-11-01; its status then: Active - Probation.');
    expect(detail).not.toContain('HOLDER');
  }
  const detail = expect.stringMatching(
    /could not read the row with the number.*Ask the board about the license/,
  );
  for (const number of [unreadable, neverRead, neverRead.replace('.', ' ').toLowerCase()])
    expect(await miss(number)).toEqual({ detail, reason: 'unreadable', did_you_mean: [] });
  expect((await miss(`${gone}9`)).reason).toBe('unknown');
  expect((await miss(gone, { board: 'Dental Board' })).reason).toBe('unknown');

  const { text } = await sendTable(rest, `license_number\n${gone}\n`);
  expect(text).toContain('removed,2026-11-01,Active - Probation,');
  const subscribed = await rest.verify({ board: NURSING, license_number: gone }, '/api/v1/subscriptions');
  expect(subscribed).toMatchObject({ status: 404, body: REMOVED });
  const { body: tool } = await rest.callTool('verify_license', { license_number: gone });
  expect(tool).toMatchObject({ result: { structuredContent: { outcome: 'not_found', ...REMOVED } } });
  const { text: ofHistory } = await rest.callTool('license_history', { license_number: gone });
  expect(ofHistory).toMatch(/was in an earlier dataset.*Send board too/);
  const text404 = expect.stringContaining('This service could not read the row with');
  expect(await rest.get(`/licenses/NUR/${unreadable}`)).toMatchObject({ status: 404, text: text404 });
  const record = await rest.get(`/records/${recordOfUnreadable}`);
  expect(record.text).toEqual(text404);
  expect(record.text).not.toContain('The license is not in the State’s data');
});

test('a number that left is offered with the one that differs only in zeros', async () => {
  for (const name of ['Padded', 'Else']) {
    const number = name === 'Padded' ? PADDED.number : 'rn 0900100';
    const { detail, ...facts } = await miss(number, { last_name: name });
    expect(facts).toEqual({
      ...{ reason: 'removed', last_in_dataset: '2026-11-01', last_raw_status: 'Active' },
      ...{ did_you_mean: [UNPADDED.number], did_you_mean_name_match: [name === 'Padded'] },
    });
    expect(detail).toContain(`differs only in zeros may be the same license: ${UNPADDED.number}.`);
  }
  const items = [{ license_number: PADDED.number }];
  const removed = { reason: 'removed', did_you_mean: [UNPADDED.number] };
  expect((await sendRoster(rest, { items })).body).toMatchObject({ results: [removed] });
  const { body: tool } = await rest.callTool('verify_license', { license_number: PADDED.number });
  expect(tool).toMatchObject({ result: { structuredContent: removed } });
  const page = await rest.get(`/?q=${PADDED.number}`);
  expect(page.text).toMatch(/was in an earlier dataset.*RN\.900100.*<a href="[^"]*RN\.900100">Padded, Pam/s);
});

test('a number that two boards use is not told as the only one where the other row cannot be read', async () => {
  const ambiguous = { reason: 'ambiguous', did_you_mean: [OF_BOTH] };
  const items = [OF_BOTH, OF_ONE].map((license_number) => ({ license_number }));
  const { body } = await sendRoster(rest, { items });
  expect(body).toMatchObject({ results: [ambiguous, { outcome: 'found', record: { board: SPEECH } }] });
  const asked = { license_number: OF_BOTH, last_name: 'Holder' };
  const message = expect.stringContaining(`More than one board has a license with the number "${OF_BOTH}"`);
  expect((await rest.callTool('verify_license', asked)).body).toMatchObject({
    result: { structuredContent: { outcome: 'ambiguous', reason: 'ambiguous', message } },
  });
  const page = await rest.get(`/?q=${OF_BOTH}`);
  expect(page.text).toMatch(/More than one board.*the Psychology Board and the Speech and Hearing/);
  expect((await miss(OF_BOTH, { board: PSYCHOLOGY })).reason).toBe('unreadable');
  const atSpeech = await rest.verify({ board: SPEECH, license_number: OF_BOTH });
  expect(atSpeech).toMatchObject({ status: 200, body: { board: SPEECH } });
});

test('an active license whose expiry date has passed since the State wrote the data says so everywhere', async () => {
  const asked = { board: NURSING, license_number: PASSED.number };
  const { body: record } = await rest.verify(asked);
  expect(record).toMatchObject({ status: 'ACTIVE', cautions: ['past_expiry'] });
  const { body: roster } = await sendRoster(rest, { items: [asked] });
  expect(roster).toMatchObject({ summary: { found: 1, clear: 0 }, results: [{ record }] });
  const { text: table } = await sendTable(rest, `license_number\n${PASSED.number}\n`);
  const words = 'The State lists it as active although its expiry date has passed: report both.';
  expect(table).toContain(words);
  expect((await rest.callTool('verify_license', asked)).text).toContain(words);
  const page = await rest.get(`/licenses/NUR/${PASSED.number}`);
  expect(page.text).toContain('Active, but its expiry date has passed (November 5, 2026). Ask the board.');

  // A record of a day before that date says what was true then, and what has passed.
  const saved = { ...shownNurse({ record: licenseRecord.parse(record), today: '2026-11-03' }) };
  const { client, names } = service.environment.store;
  const body = { ...saved, saved_at: new Date().toISOString() };
  await client.index({ index: names.savedRecords, id: 'PASSED0EXP1RYDAY', body, refresh: true });
  const { text } = await rest.get('/records/PASSED0EXP1RYDAY');
  expect(text).toContain('Active until November 5, 2026 (in 2 days).');
  expect(text).toContain('No later data is loaded. Its expiry date has since passed.');
});

const NOT_READ = {
  reason: 'unknown',
  detail: expect.stringContaining('This service cannot check right now whether such a license was removed.'),
};

const searched = z.object({ query: z.object({ bool: z.object({ filter: z.array(z.unknown()) }) }) });

test('the numbers of a whole list are asked in one search', async () => {
  const asked: string[] = [];
  step = (request) => {
    if (request.path.includes('changes/_search')) asked.push(request.body);
    return request.forward();
  };
  const items = Array.from({ length: 60 }, (_, at) => ({ license_number: `RN.99${at + 100}` }));
  await sendRoster(rest, { items: [...items, { license_number: gone }] });
  // Once for all, and once more for those that get suggestions.
  expect(asked.length).toBeLessThanOrEqual(3);
  expect(searched.parse(JSON.parse(asked[0] ?? '')).query.bool.filter).toHaveLength(2);
});

test('where the feed does not answer, the detail says so, and the lookup is answered', async () => {
  step = (request) => (request.path.includes('changes/_search') ? answer(503)(request) : request.forward());
  expect(await miss(gone)).toMatchObject(NOT_READ);
  expect((await rest.get(`/?q=${gone}`)).text).toContain('such a license was removed. Try again later.');
});

test('a process that starts while the changes can not be read answers lookups; only the feed is an error', async () => {
  const { changes } = service.environment.store.names;
  step = (request) => (request.path.startsWith(`/${changes}/`) ? answer(503)(request) : request.forward());
  await service.restartApi();
  await service.printed('the feed of changes cannot be read; lookups are answered without it');
  const there = { board: NURSING, license_number: NURSES[5]?.number ?? '' };
  expect((await rest.verify(there)).status).toBe(200);
  expect(await miss(gone)).toMatchObject(NOT_READ);
  const { body } = await sendRoster(rest, { items: [there] });
  expect(body).toMatchObject({ feed_cursor: null, summary: { found: 1 } });
  expect((await rest.get('/api/v1/changes')).status).toBe(503);
  step = pass;
  await eventually('the feed is read', async () => (await miss(gone)).reason === 'removed');
});
