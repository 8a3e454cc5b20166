/** @room lookups */
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { numberMissIn } from '../support/answers.ts';
import { eventually } from '../support/eventually.ts';
import { type FeedService, NURSES, NURSING, startFeedService } from '../support/feed-service.ts';
import { answer, type ProxyStep, pass, startProxy } from '../support/proxy.ts';
import { sendRoster, sendTable } from '../support/rosters.ts';

// What a lookup says of a number that the feed of changes knows. same-answers.test.ts compares the interfaces.

let service: FeedService;
let rest: FeedService['rest'];
let step: ProxyStep = pass;
/** The code of a record of the first day. */
let recordOfUnreadable: string;

const [GONE, UNREADABLE, NEVER_READ] = NURSES;
const gone = GONE?.number ?? '';
const unreadable = UNREADABLE?.number ?? '';
const neverRead = NEVER_READ?.number ?? '';
const NO_DATE = { expires: '31.31.2099' };
const FIRST_DAY = NURSES.map((row) => {
  if (row === GONE) return { ...row, subStatus: 'Probation' };
  return row === NEVER_READ ? { ...row, ...NO_DATE } : row;
});
const SECOND_DAY = FIRST_DAY.flatMap((row) =>
  row.number === gone ? [] : [row.number === unreadable ? { ...row, ...NO_DATE } : row],
);

beforeAll(async () => {
  service = await startFeedService({}, (url) => startProxy(url, (request) => step(request)));
  ({ rest } = service);
  await service.publishDay(FIRST_DAY);
  const saved = await rest.verify({ board: NURSING, license_number: unreadable }, '/api/v1/records');
  ({ code: recordOfUnreadable } = z.object({ code: z.string() }).parse(saved.body));
  await service.publishDay(SECOND_DAY);
});
beforeEach(() => {
  step = pass;
});

/** What /lookup/verify says of a number that it does not find. */
async function miss(number: string, more: object = {}) {
  const { data_age_days: _, ...body } = numberMissIn(
    await rest.verify({ board: NURSING, license_number: number, ...more }),
  );
  return body;
}

const REMOVED = {
  reason: 'removed',
  did_you_mean: [],
  last_in_dataset: '2026-11-01',
  last_raw_status: 'Active - Probation',
};

test('a number that left the dataset says when and with which status, an unreadable one that nothing follows', async () => {
  for (const number of [gone, gone.toLowerCase(), gone.replace('.', ' - ')]) {
    const { detail, ...facts } = await miss(number, { last_name: 'Holder' });
    expect(facts).toEqual(REMOVED);
    expect(detail).toMatch(
      /The last dataset that had it is of 2026-11-01; its status then: Active - Probation\./,
    );
    expect(detail).not.toContain('HOLDER');
  }
  for (const number of [unreadable, neverRead, neverRead.replace('.', ' ').toLowerCase()]) {
    expect(await miss(number)).toEqual({
      detail: expect.stringMatching(/could not be read by this service.*says nothing of the license/),
      reason: 'unreadable',
      did_you_mean: [],
    });
  }
  expect((await miss(`${gone}9`)).reason).toBe('unknown');
  expect((await miss(gone, { board: 'Dental Board' })).reason).toBe('unknown');

  const items = [gone, unreadable].map((license_number) => ({ license_number }));
  const { body } = await sendRoster(rest, { items });
  expect(body).toMatchObject({ results: [REMOVED, { reason: 'unreadable' }] });
  const { text } = await sendTable(rest, `license_number\n${gone}\n`);
  expect(text).toContain('removed,2026-11-01,Active - Probation,');
  const subscribed = await rest.verify({ board: NURSING, license_number: gone }, '/api/v1/subscriptions');
  expect([subscribed.status, subscribed.body]).toEqual([404, expect.objectContaining(REMOVED)]);
  const { body: tool } = await rest.callTool('verify_license', { license_number: gone });
  expect(tool).toMatchObject({ result: { structuredContent: { outcome: 'not_found', ...REMOVED } } });
  const { text: ofHistory } = await rest.callTool('license_history', { license_number: gone });
  expect(ofHistory).toMatch(/was in the State's dataset before.*Send board too/);
  const page = await rest.request('GET', `/licenses/NUR/${unreadable}`);
  expect([page.status, page.text]).toEqual([
    404,
    expect.stringContaining('could not be read by this service'),
  ]);
  const record = await rest.get(`/records/${recordOfUnreadable}`);
  expect(record.text).toContain('could not be read by this service');
  expect(record.text).not.toContain('The license is not in the State’s data');
});

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
  step = (request) =>
    request.path.includes('changes/_search')
      ? Promise.resolve({ status: 503, body: '{}' })
      : request.forward();
  const { detail, reason } = await miss(gone);
  expect([reason, detail]).toEqual([
    'unknown',
    expect.stringContaining('Whether such a license left the dataset could not be read now'),
  ]);
  expect((await rest.get(`/?q=${gone}`)).text).toContain('could not be read now: ask again later');
});

test('a process that starts while the changes can not be read answers lookups; only the feed is an error', async () => {
  const { changes } = service.environment.store.names;
  step = (request) => (request.path.startsWith(`/${changes}/`) ? answer(503)(request) : request.forward());
  await service.restartApi();
  await service.printed('the feed of changes can not be read; lookups are answered without it');
  const there = { board: NURSING, license_number: NURSES[5]?.number ?? '' };
  expect((await rest.verify(there)).status).toBe(200);
  expect(await miss(gone)).toMatchObject({
    reason: 'unknown',
    detail: expect.stringContaining('Whether such a license left the dataset could not be read now'),
  });
  const { body } = await sendRoster(rest, { items: [there] });
  expect(body).toMatchObject({ feed_cursor: null, summary: { found: 1 } });
  expect((await rest.get('/api/v1/changes')).status).toBe(503);
  step = pass;
  await eventually('the feed is read', async () => (await miss(gone)).reason === 'removed');
});
