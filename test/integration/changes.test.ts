import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { rollBack } from '../../src/publications/rollback.ts';
import { allChanges, askChanges, changesPage } from '../support/changes.ts';
import type { DayRow } from '../support/day-files.ts';
import { type FeedService, NURSES, NURSING, startFeedService } from '../support/feed-service.ts';

let service: FeedService;
let environment: FeedService['environment'];
let rest: FeedService['rest'];
let publishDay: FeedService['publishDay'];

async function startService(): Promise<void> {
  service = await startFeedService();
  ({ environment, rest, publishDay } = service);
}
const stopService = () => service.stop();

/** The cursor after the latest change. */
async function latest(): Promise<string> {
  return (await changesPage(rest, { since: 'latest' })).next;
}

const renewed = (row: DayRow): DayRow => ({ ...row, expires: '2101-01-01' });

describe('the feed', () => {
  beforeAll(startService);
  afterAll(stopService);

  test('has what a publication adds, changes and removes', async () => {
    await publishDay(NURSES);
    const next = await latest();
    expect(await changesPage(rest, { since: next })).toEqual({ changes: [], next, more: false });
    const [first, second, ...others] = NURSES;
    if (first === undefined || second === undefined) throw new Error('There are no nurses.');
    const added = { board: NURSING, number: 'RN.1', name: 'NEW, NURSE' };
    const publication = await publishDay([renewed(first), ...others, added]);
    const page = await changesPage(rest, { since: next });
    const common = {
      publication,
      date: expect.any(String),
      cause: 'data',
      board: NURSING,
      at: expect.any(String),
      cursor: expect.any(String),
    };
    expect(page.changes.toSorted((one, other) => (one.kind < other.kind ? -1 : 1))).toEqual([
      {
        ...common,
        kind: 'added',
        license_number: 'RN.1',
        full_name: 'NEW, NURSE',
        fields: expect.objectContaining({ license_number: { before: null, after: 'RN.1' } }),
      },
      {
        ...common,
        kind: 'changed',
        license_number: first.number,
        full_name: `HOLDER, ${first.number}`,
        fields: { expiry_date: { before: '2099-01-01', after: '2101-01-01' } },
      },
      {
        ...common,
        kind: 'removed',
        license_number: second.number,
        full_name: `HOLDER, ${second.number}`,
        fields: expect.objectContaining({ license_number: { before: second.number, after: null } }),
      },
    ]);
    expect(page.more).toBe(false);
    expect(await changesPage(rest, { since: page.next })).toEqual({
      changes: [],
      next: page.next,
      more: false,
    });
    expect(await changesPage(rest, { since: 'latest' })).toEqual({
      changes: [],
      next: page.next,
      more: false,
    });
  });

  test('a cursor that was never given out is 400, one of an earlier feed 410', async () => {
    await publishDay(NURSES);
    const next = await latest();
    for (const since of ['x', `${next}0`, next.replace(/[0-9a-f]$/, (last) => (last === '0' ? '1' : '0'))]) {
      expect((await askChanges(rest, { since })).status).toBe(400);
    }
    await environment.client.indices.delete({ index: environment.store.names.digestsPattern });
    await publishDay(NURSES.map(renewed));
    expect((await askChanges(rest, { since: next })).status).toBe(410);
  });

  test('when a place is withdrawn, its earlier values are erased', async () => {
    await publishDay(NURSES);
    const next = await latest();
    const withCity = (city: string) => NURSES.map((row, at) => (at === 0 ? { ...row, city } : row));
    await publishDay(withCity('AKRON'));
    expect(JSON.stringify(await allChanges(rest, next))).toContain('AKRON');
    await publishDay(withCity('HIDDEN'));
    const changes = await allChanges(rest, next);
    expect(changes.map(({ fields }) => fields)).toEqual([
      { city: { before: null, after: null, erased: true } },
      { city: { before: null, after: null, erased: true } },
    ]);
  });

  test('a guard refuses a publication that changes too many licenses', async () => {
    await publishDay(NURSES);
    await expect(
      publishDay(
        NURSES.map((row) => ({ ...row, city: 'AKRON' })),
        { isGuarded: true },
      ),
    ).rejects.toThrow(
      /many_changes: 20 of 25 licenses changed or were removed, more than 20 % \(GUARD_MAX_CHANGED_PERCENT\)\. Boards: Nursing Board 20\. Columns: PARCEL_CITY 20\./,
    );
  });
});

describe('the history', () => {
  beforeEach(startService);
  afterEach(stopService);

  test('the history of a license', async () => {
    await publishDay(NURSES);
    await publishDay(NURSES.slice(1).map(renewed));
    const history = (license_number: string) =>
      rest.get(`/api/v1/history?${new URLSearchParams({ board: NURSING, license_number })}`);
    const changed = await history('RN.900002');
    expect(changed.body).toEqual({
      board: NURSING,
      license_number: 'RN.900002',
      coverage_start: '2026-11-01',
      record: expect.objectContaining({ license_number: 'RN.900002', expiry_date: '2101-01-01' }),
      changes: [
        expect.objectContaining({
          kind: 'changed',
          fields: { expiry_date: { before: '2099-01-01', after: '2101-01-01' } },
        }),
      ],
    });
    const removed = await history('rn900001');
    expect(removed.body).toEqual({
      board: NURSING,
      license_number: 'RN.900001',
      coverage_start: '2026-11-01',
      record: null,
      changes: [expect.objectContaining({ kind: 'removed' })],
    });
    expect((await history('RN.1')).status).toBe(404);
  });

  test('a number that fits two licenses has no history, and neither is said to be removed', async () => {
    const two = ['RN.900001', 'RN 900001'].map((number) => ({ ...NURSES[0], board: NURSING, number }));
    const [one, other] = two;
    if (one === undefined || other === undefined) throw new Error('There are no nurses.');
    await publishDay([...NURSES.slice(1), one, other]);
    await publishDay([...NURSES.slice(1), renewed(one), other]);
    const asked = { board: NURSING, license_number: 'rn900001' };
    const { status, body } = await rest.get(`/api/v1/history?${new URLSearchParams(asked)}`);
    expect([status, body]).toEqual([404, expect.objectContaining({ reason: 'ambiguous' })]);
    expect(JSON.stringify(body)).not.toContain('No change');
    const { text } = await rest.callTool('license_history', asked);
    expect(text).not.toMatch(/no longer in the dataset|No change of a license/);
  });

  describe('what a rollback withdrew', () => {
    const [first, second, ...others] = NURSES;
    if (first === undefined || second === undefined) throw new Error('There are no nurses.');
    const number = first.number;
    const suspended = { ...first, subStatus: 'Suspended', boardAction: 'Yes' };
    const TOLD = /marked withdrawn .* do not tell/;

    const marked = z.object({ date: z.string(), cause: z.string(), withdrawn: z.literal(true).optional() });

    /** The changes as REST has them, the text of the tool's result, and the timeline of the page. */
    async function told() {
      const query = new URLSearchParams({ board: NURSING, license_number: number });
      const { body } = await rest.get(`/api/v1/history?${query}`);
      const { changes } = z.object({ changes: z.array(marked) }).parse(body);
      const tool = await rest.callTool('license_history', { board: NURSING, license_number: number });
      const page = (await rest.get(`/licenses/NUR/${number}`)).text;
      return {
        changes: changes.map(({ date, cause, withdrawn }) => [date.slice(-2), cause, withdrawn === true]),
        tool: tool.text,
        timeline: /<h2>History<\/h2>(.*?)<\/section>/s.exec(page)?.[1] ?? '',
      };
    }

    test('is marked, and the page does not tell it as a fact', async () => {
      await publishDay(NURSES);
      await publishDay([suspended, second, ...others]);
      await rollBack(environment.store);
      await publishDay([suspended, renewed(second), ...others]);
      await rollBack(environment.store);
      await publishDay([renewed(first), second, ...others]);

      const { changes, tool, timeline } = await told();
      expect(changes).toEqual([
        ['04', 'data', false],
        ['01', 'rollback', false],
        ['03', 'data', true],
        ['01', 'rollback', false],
        ['02', 'data', true],
      ]);
      expect(tool).toMatch(TOLD);
      expect(tool.split('"withdrawn":true')).toHaveLength(3);
      const dates = [...timeline.matchAll(/<time datetime="([^"]+)"/g)].map(([, date]) => date);
      expect(dates).toEqual(['2026-11-04']);
      expect(timeline).not.toContain('Status changed');
      expect(timeline).not.toContain('went back');
    });

    test('counts again once its publication is live again, and so does nothing that came in between', async () => {
      await publishDay(NURSES);
      await publishDay([suspended, second, ...others]);
      await rollBack(environment.store);
      const again = await publishDay([suspended, renewed(second), ...others]);
      await rollBack(environment.store);
      await rollBack(environment.store, again);
      const { changes, timeline } = await told();
      expect(changes).toEqual([
        ['03', 'rollback', false],
        ['01', 'rollback', true],
        ['03', 'data', false],
        ['01', 'rollback', false],
        ['02', 'data', true],
      ]);
      expect(timeline.split('Status changed from Active to Active - Suspended.')).toHaveLength(2);
    });
  });
});
