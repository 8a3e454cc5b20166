import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { accountId } from '../../src/access/accounts.ts';
import { digestEntries, emptyDigest, readDigest, recordHash, writeDigest } from '../../src/changes/digest.ts';
import { lastOf, positionOf } from '../../src/changes/feed.ts';
import { CHANGES_LOOKED_THROUGH } from '../../src/changes/service.ts';
import { licenseId } from '../../src/licenses/license.ts';
import { liveFeed } from '../../src/publications/live-feed.ts';
import { liveIndex } from '../../src/publications/metadata.ts';
import { rollBack } from '../../src/publications/rollback.ts';
import { countDocuments } from '../../src/storage/checked-search.ts';
import { digestIndexName } from '../../src/storage/store.ts';
import { subscriptionsService } from '../../src/subscriptions/service.ts';
import { subscriptionId } from '../../src/subscriptions/subscription.ts';
import { fanOut } from '../../workers/webhooks/fan-out.ts';
import { type ApiClient, apiClient } from '../support/api.ts';
import { allChanges, askChanges, changesPage } from '../support/changes.ts';
import { type DayRow, licensesOf, textOf } from '../support/day-files.ts';
import { daysAfter } from '../support/days.ts';
import { NURSES, NURSING, startFeedService } from '../support/feed-service.ts';
import { command } from '../support/in-process.ts';
import { newEnvironment, published } from '../support/publication-days.ts';
import { publishFiles } from '../support/publishing.ts';

const WATCHED = { watched: 'true' };
const [FIRST, SECOND, ...OTHERS] = NURSES;
if (FIRST === undefined || SECOND === undefined) throw new Error('There are no nurses.');

const service = await startFeedService({ CHANGES_KEPT_DAYS: '30' }, undefined, '2026-08-31');
const { environment, rest, publishDay } = service;
const { client, store } = environment;

/** The cursor after the latest change. */
const latest = async () => (await changesPage(rest, { since: 'latest' })).next;

const renewed = (row: DayRow): DayRow => ({ ...row, expires: '2101-01-01' });
const inCity = (city: string, nurses: readonly DayRow[] = NURSES) =>
  nurses.map((nurse) => ({ ...nurse, city }));
const publishCity = (city: string, nurses?: readonly DayRow[]) => publishDay(inCity(city, nurses));

const numbersOf = (changes: readonly { readonly license_number: string }[]) =>
  changes.map(({ license_number: number }) => number);

const historyOf = (license_number: string) =>
  rest.get(`/api/v1/history?${new URLSearchParams({ board: NURSING, license_number })}`);

/** Subscriptions of an account to licenses of the Nursing Board, as the service writes them. */
async function watchAll(account: string, numbers: readonly string[], reference: string | null = null) {
  const record = (license_number: string) => ({ board: NURSING, license_number });
  const wanted = numbers.map((number) => ({ record: record(number), reference }));
  await subscriptionsService(store).watch(accountId(account), wanted);
}

const watch = (account: string, number: string, reference: string | null = null) =>
  watchAll(account, [number], reference);

/** Makes the changes of a publication older than they are. */
async function age(publication: string, days: number): Promise<void> {
  const at = new Date(Date.now() - days * 86_400_000).toISOString();
  await client.indices.refresh({ index: store.names.changes });
  const exists = (field: string) => [{ exists: { field } }];
  const query = { bool: { must_not: exists('position'), filter: exists('publication') } };
  const source =
    'for (each in ctx._source.state ?: []) if (each.publication == params.publication) each.at = params.at';
  const script = { source, params: { publication, at } };
  await client.updateByQuery({ index: store.names.changes, refresh: true, body: { query, script } });
}

test('a new feed starts when real data replaces sample data', async () => {
  const installed = await newEnvironment();
  const state = async () => (await liveFeed(installed.store)).state;
  const sample = { directory: join(installed.folder, 'sample'), rows: 1000, seed: 1 };
  const feeds = [];
  for (const more of [{ date: '2026-10-30' }, { date: '2026-10-31', changed: 0.1 }]) {
    await publishFiles(installed, await writeSampleData({ ...sample, ...more }));
    feeds.push(lastOf(await state()).feed);
  }
  await published(installed, '2026-11-20');
  expect(feeds[0]).toBe(feeds[1]);
  expect(feeds).not.toContain(lastOf(await state()).feed);
  expect(await state()).toHaveLength(1);
});

test('changes are kept for CHANGES_KEPT_DAYS', async () => {
  await publishCity('LIMA');
  const beginning = await latest();
  const old = await publishCity('AKRON');
  const [since, middle] = [service.lastDate(), await latest()];
  await publishCity('TOLEDO');
  await age(old, 31);
  expect(await allChanges(rest, beginning)).toHaveLength(40);

  await publishCity('DAYTON');
  expect(await askChanges(rest, { since: beginning })).toMatchObject({
    status: 410,
    body: { detail: expect.stringMatching(/no longer kept.*since=latest/) },
  });
  const kept = await allChanges(rest, middle);
  const moves = [['AKRON', 'TOLEDO'] as const, ['TOLEDO', 'DAYTON'] as const];
  expect(kept.map(({ fields }) => [fields.city?.before, fields.city?.after])).toEqual(
    moves.flatMap((move) => NURSES.map(() => move)),
  );
  expect(await allChanges(rest)).toEqual(kept);
  const changes = { exists: { field: 'position' } };
  expect(await countDocuments(client, store.names.changes, changes)).toBe(40);
  expect((await historyOf(FIRST.number)).body).toMatchObject({
    coverage_start: since,
    changes: [{ date: service.lastDate() }, { date: daysAfter(since, 1) }],
  });
});

test('the feed has what a publication adds, changes and removes, and the history what happened to each', async () => {
  await publishDay(NURSES);
  const next = await latest();
  await expect(publishDay(inCity('AKRON'), { isGuarded: true })).rejects.toThrow(
    /many_changes: 20 of 25 licenses changed or were removed, more than 20 % \(GUARD_MAX_CHANGED_PERCENT\)\. Boards: Nursing Board 20\. Columns: PARCEL_CITY 20\./,
  );
  expect(await changesPage(rest, { since: next })).toEqual({ changes: [], next, more: false });
  const added = { board: NURSING, number: 'RN.1', name: '=NEW, NURSE' };
  const publication = await publishDay([renewed(FIRST), ...OTHERS, added]);
  const page = await changesPage(rest, { since: next });
  const common = {
    ...{ publication, date: service.lastDate(), cause: 'data', board: NURSING },
    ...{ at: expect.any(String), cursor: expect.any(String) },
  };
  const expiry_date = { before: '2099-01-01', after: '2101-01-01' };
  const of = (kind: string, number: string, fields: object, full_name = `HOLDER, ${number}`) => ({
    ...{ ...common, kind, license_number: number, full_name, fields },
  });
  const numbered = (before: string | null, after: string | null) =>
    expect.objectContaining({ license_number: { before, after } });
  expect(page.changes.toSorted((one, other) => (one.kind < other.kind ? -1 : 1))).toEqual([
    of('added', 'RN.1', numbered(null, 'RN.1'), '=NEW, NURSE'),
    of('changed', FIRST.number, { expiry_date }),
    of('removed', SECOND.number, numbered(SECOND.number, null)),
  ]);
  const end = { changes: [], next: page.next, more: false };
  expect(page.more).toBe(false);
  for (const since of [page.next, 'latest']) expect(await changesPage(rest, { since })).toEqual(end);
  const { body } = await historyOf(FIRST.number);
  expect(body).toMatchObject({
    ...{ board: NURSING, license_number: FIRST.number, coverage_start: expect.any(String) },
    record: { license_number: FIRST.number, expiry_date: '2101-01-01' },
  });
  const changesIn = z.looseObject({ changes: z.array(z.looseObject({})) });
  expect(changesIn.parse(body).changes[0]).toMatchObject({ kind: 'changed', fields: { expiry_date } });
  const removed = changesIn.parse((await historyOf('rn900002')).body);
  expect(removed).toMatchObject({ license_number: SECOND.number, record: null });
  expect(removed.changes[0]).toMatchObject({ kind: 'removed' });
  expect((await historyOf('RN.2')).status).toBe(404);

  // The command line writes them as CSV, a line for each field.
  const file = join(environment.folder, 'changes.csv');
  const shown = await command(environment.variables, 'publications', 'show', publication, '--changes', file);
  expect(shown).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/changed +1/) });
  const [header, ...lines] = (await readFile(file, 'utf8')).trimEnd().split('\n');
  expect(header).toBe('at,kind,cause,board,license_number,full_name,field,before,after');
  const time = /^\d{4}-\d\d-\d\dT[\d:.]+Z,/;
  const ofOne = (number: string) =>
    lines.filter((line) => line.includes(`,${number},`)).map((line) => line.replace(time, ''));
  expect(ofOne(SECOND.number).toSorted()).toEqual(
    [
      ...['board,Nursing Board', 'expiry_date,2099-01-01', 'extra_data.Board Action,No'],
      ...['full_name,"HOLDER, RN.900002"', 'license_number,RN.900002', 'raw_status,Active', 'status,ACTIVE'],
    ].map((field) => `removed,data,Nursing Board,RN.900002,"HOLDER, RN.900002",${field},`),
  );
  expect(ofOne(FIRST.number)).toEqual([expect.stringContaining(',expiry_date,2099-01-01,2101-01-01')]);
  expect(ofOne('RN.1')).toContainEqual(expect.stringContaining(`,"'=NEW, NURSE",full_name,,"'=NEW, NURSE"`));
});

test('a number that fits two licenses has no history, and neither is said to be removed', async () => {
  const [one, other] = [FIRST, { ...FIRST, number: FIRST.number.replace('.', ' ') }];
  await publishDay([SECOND, ...OTHERS, one, other]);
  await publishDay([SECOND, ...OTHERS, renewed(one), other]);
  const { status, body } = await historyOf('rn900001');
  expect([status, body]).toEqual([404, expect.objectContaining({ reason: 'ambiguous' })]);
  expect(JSON.stringify(body)).not.toContain('No change');
  const { text } = await rest.callTool('license_history', { board: NURSING, license_number: 'rn900001' });
  expect(text).not.toMatch(/no longer in the dataset|No change of a license/);
  await publishDay([SECOND, ...OTHERS]);
  const removed = await historyOf('rn900001');
  expect([removed.status, removed.body]).toEqual([404, expect.objectContaining({ reason: 'removed' })]);
  expect(removed.text).not.toContain('No change');
});

test('what a rollback withdrew is marked and no fact of the page, until its publication is live again', async () => {
  const number = 'RN.777777';
  const nurse: DayRow = { board: NURSING, number };
  const suspended = { ...nurse, subStatus: 'Suspended', boardAction: 'Yes' };
  const marked = z.object({ date: z.string(), cause: z.string(), withdrawn: z.literal(true).optional() });
  const day = () => service.lastDate().slice(-2);

  /** The changes as REST has them, the text of the tool's result, and the timeline of the page. */
  async function shown() {
    const { changes } = z.object({ changes: z.array(marked) }).parse((await historyOf(number)).body);
    const tool = await rest.callTool('license_history', { board: NURSING, license_number: number });
    const page = (await rest.get(`/licenses/NUR/${number}`)).text;
    return {
      changes: changes.map(({ date, cause, withdrawn }) => [date.slice(-2), cause, withdrawn === true]),
      tool: tool.text,
      timeline: /<h2>History<\/h2>(.*?)<\/section>/s.exec(page)?.[1] ?? '',
    };
  }

  await publishDay([...NURSES, nurse]);
  const first = day();
  await publishDay([...NURSES, suspended]);
  const second = day();
  await rollBack(store);
  const again = await publishDay([renewed(FIRST), SECOND, ...OTHERS, suspended]);
  const third = day();
  await rollBack(store);
  const undone = [
    [first, 'rollback', false],
    [third, 'data', true],
    [first, 'rollback', false],
    [second, 'data', true],
    [first, 'data', false],
  ];
  const { changes, tool, timeline } = await shown();
  expect(changes).toEqual(undone);
  expect(tool).toMatch(/marked withdrawn .* Do not tell/);
  expect(tool.split('"withdrawn":true')).toHaveLength(3);
  expect(timeline).not.toContain('Status changed');
  expect(timeline).not.toContain('went back');

  await rollBack(store, again);
  const back = await shown();
  expect(back.changes).toEqual([
    [third, 'rollback', false],
    [first, 'rollback', true],
    [third, 'data', false],
    ...undone.slice(2),
  ]);
  expect(back.timeline.split('Status changed from Active to Active - Suspended.')).toHaveLength(2);

  await rollBack(store, undefined);
  await publishDay([...NURSES, renewed(nurse)]);
  const dates = [...(await shown()).timeline.matchAll(/<time datetime="([^"]+)"/g)].map(([, date]) => date);
  expect(dates[0]).toBe(service.lastDate());
});

test('the cause of a change is release for the values of a new column', async () => {
  await publishDay(NURSES);
  const next = await latest();
  const written = (date: string) => {
    const text = textOf({ date, individual: NURSES, business: [] }, 'individual');
    return text.replaceAll('\n', ',"value"\n').replace('"value"', 'NEW_COLUMN');
  };
  await publishDay(NURSES, { written });
  const changes = await allChanges(rest, next);
  expect(changes).toHaveLength(20);
  const fields = { 'extra_data.New Column': { before: null, after: 'value' } };
  for (const change of changes) expect(change).toMatchObject({ kind: 'changed', cause: 'release', fields });
});

test('the cause of a change is data where the second of two rows of a license stays: the first was published', async () => {
  const second = { ...FIRST, city: 'SECOND ROW' };
  await publishDay([...NURSES, second]);
  const next = await latest();
  await publishDay([second, SECOND, ...OTHERS]);
  expect(await allChanges(rest, next)).toMatchObject([
    { kind: 'changed', cause: 'data', fields: { city: { before: 'LIMA', after: 'SECOND ROW' } } },
  ]);
});

test('the cause of a change is release for what this version reads differently, which a guard of its own counts', async () => {
  await publishDay(NURSES);
  const next = await latest();
  const index = (await liveIndex(store)) ?? '';
  // Another version of the service has read it: every record has another hash.
  const digest = emptyDigest();
  for await (const part of readDigest(store, index))
    for (const entry of digestEntries(part)) digest.add({ ...entry, record: recordHash(entry.record) });
  await client.indices.delete({ index: digestIndexName(store.prefix, index) });
  await writeDigest(store, index, digest);
  await client.indices.putSettings({ index, body: { 'index.blocks.write': false } });
  const [id, doc] = [licenseId(NURSING, FIRST.number), { city: 'OLD' }];
  await client.update({ index, id, refresh: true, body: { doc } });
  await expect(publishDay(NURSES, { isGuarded: true })).rejects.toThrow(
    'release_changes: 1 of 25 licenses whose row is the same',
  );
  await publishDay(NURSES, { isGuarded: true, accept: ['release_changes'] });
  expect(await allChanges(rest, next)).toMatchObject([
    {
      ...{ kind: 'changed', cause: 'release', license_number: FIRST.number },
      fields: { city: { before: 'OLD', after: 'LIMA' } },
    },
  ]);
});

test('the cause of a change is rejected_row for a license whose row cannot be read, and which comes back', async () => {
  await publishDay(NURSES);
  const next = await latest();
  await publishDay([{ ...FIRST, expires: '31.31.2099' }, SECOND, ...OTHERS]);
  await publishDay(NURSES);
  const changes = await allChanges(rest, next);
  expect(changes.map(({ kind, cause, license_number }) => [kind, cause, license_number])).toEqual([
    ['removed', 'rejected_row', FIRST.number],
    ['added', 'rejected_row', FIRST.number],
  ]);

  // The digest is divided as version 0.3.0 did: nothing counts as removed and added.
  const since = await latest();
  const live = (await liveIndex(store)) ?? '';
  const index = digestIndexName(store.prefix, live);
  const parts: Buffer[] = [];
  for await (const part of readDigest(store, live)) parts.push(part);
  await client.indices.delete({ index });
  await client.indices.create({ index });
  // By another hash, under other ids: the parts of any other division do.
  const body = parts.flatMap((_, at) => [
    { index: { _id: String(at) } },
    { entries: (parts[(at + 1) % parts.length] ?? Buffer.alloc(0)).toString('base64') },
  ]);
  await client.bulk({ index, body, refresh: true });
  await publishDay([{ ...FIRST, city: 'MOVED' }, SECOND, ...OTHERS]);
  expect(await allChanges(rest, since)).toMatchObject([
    { kind: 'changed', cause: 'data', license_number: FIRST.number },
  ]);
});

describe('the feed of what an account watches', () => {
  let beginning: string;

  beforeAll(async () => {
    await publishCity('LIMA');
    beginning = await latest();
    await watch('Test', 'RN.900003', 'A-3');
    await watch('Test', 'RN.900007');
    await watch('Another Hospital', 'RN.900009', 'theirs');
    await publishCity('DAYTON');
    await publishCity('AKRON', NURSES.slice(3));
    await rollBack(store);
  });

  test('has its changes alone, in their order, each with the reference', async () => {
    const changes = await allChanges(rest, beginning, 7, WATCHED);
    const all = await allChanges(rest, beginning);
    const ofWatched = all.filter(({ license_number: number }) => /00[37]$/.test(number));
    expect(changes.map(({ reference, ...change }) => change)).toEqual(ofWatched);
    expect(changes).toHaveLength(6);
    for (const { license_number: number, reference } of changes)
      expect(reference).toBe(number === 'RN.900003' ? 'A-3' : null);
  });

  test('is the account’s: another sees only what it watches itself, and every key of an account the same', async () => {
    const [other, colleague, stranger] = await Promise.all(
      ['Another Hospital', 'TEST', 'Who Watches Nothing'].map((name) => apiClient(environment, name)),
    );
    const ofAccount = (client: ApiClient = rest) => allChanges(client, beginning, 7, WATCHED);
    expect(numbersOf(await ofAccount(other))).toEqual(['RN.900009', 'RN.900009', 'RN.900009']);
    expect([await ofAccount(colleague), await ofAccount(stranger)]).toEqual([await ofAccount(), []]);
  });

  test('without watched, and with watched=false or blank, has every change and no references', async () => {
    const all = await changesPage(rest, { since: beginning });
    expect(all.changes.some((change) => 'reference' in change)).toBe(false);
    for (const watched of ['false', '', ' '])
      expect(await changesPage(rest, { since: beginning, watched })).toEqual(all);
    for (const watched of ['TRUE', '1', '__proto__', 'true\0'])
      expect([watched, (await askChanges(rest, { watched })).status]).toEqual([watched, 400]);
  });

  test('works together with filters and limits', async () => {
    const ask = (filters: Record<string, string>) =>
      allChanges(rest, beginning, 1, { ...WATCHED, ...filters });
    expect(await ask({ kind: 'removed' })).toMatchObject([
      { license_number: 'RN.900003', reference: 'A-3', kind: 'removed' },
    ]);
    const back = await ask({ cause: 'rollback' });
    expect(back.map(({ license_number, kind }) => [license_number, kind]).toSorted()).toEqual([
      ['RN.900003', 'added'],
      ['RN.900007', 'changed'],
    ]);
    expect(await ask({ board: NURSING })).toHaveLength(6);
    expect(await ask({ board: 'Board of Pharmacy' })).toEqual([]);
  });

  test('shows the changes before a subscription, and none once it is deleted', async () => {
    const late = await apiClient(environment, 'Late');
    const watched = async () => numbersOf(await allChanges(late, beginning, 7, WATCHED));
    await watch('Late', 'RN.900011');
    expect(await watched()).toEqual(['RN.900011', 'RN.900011', 'RN.900011']);
    const id = subscriptionId(accountId('Late'), licenseId(NURSING, 'RN.900011'));
    await client.delete({ index: store.names.subscriptions, id, refresh: true });
    expect(await watched()).toEqual([]);
  });
});

test('the feed of what an account watches goes on after many changes of which none is watched', async () => {
  const many = licensesOf(NURSING, 'RN.', CHANGES_LOOKED_THROUGH + 100);
  await publishCity('LIMA', many);
  const before = await latest();
  const toledo = await publishCity('TOLEDO', many);
  const all = await allChanges(rest, before, 1000);
  expect(all).toHaveLength(many.length);
  const patient = await apiClient(environment, 'Patient');
  const [last = ''] = numbersOf(all.slice(-1));
  await watch('Patient', last, 'last');
  const page = await changesPage(patient, { since: before, ...WATCHED });
  expect(page).toEqual({ changes: [], next: all[CHANGES_LOOKED_THROUGH - 1]?.cursor, more: true });
  expect(await changesPage(patient, { since: page.next, ...WATCHED })).toMatchObject({
    changes: [{ license_number: last, reference: 'last' }],
    next: all.at(-1)?.cursor,
    more: false,
  });
  const [first = '', second = ''] = numbersOf(all.slice(CHANGES_LOOKED_THROUGH - 1));
  await watch('Patient', first);
  await watch('Patient', second);
  for (const limit of [1, 2, 3])
    expect(numbersOf(await allChanges(patient, before, limit, WATCHED))).toEqual([first, second, last]);

  // More changes and subscriptions than a worker reads at once.
  await watchAll('Watches All', numbersOf(all));
  const told = await fanOut(store)(lastOf((await liveFeed(store)).state));
  const counts = ['Patient', 'Watches All'].map((name) => told?.get(accountId(name))?.counts.changed);
  expect(counts).toEqual([3, many.length]);

  // More changes of one number than are listed, and than a lookup of it reads.
  const query = { bool: { filter: [{ term: { publication: toledo } }, { exists: { field: 'position' } }] } };
  const body = { query, script: { source: "ctx._source.number = 'RN5'" } };
  await client.updateByQuery({ index: store.names.changes, refresh: true, body });
  expect((await historyOf('RN.5')).body).toMatchObject({ coverage_start: service.lastDate() });
  expect((await rest.verify({ board: NURSING, license_number: 'RN.5' })).body).toMatchObject({
    ...{ reason: 'unknown', detail: expect.stringContaining('cannot check right now') },
  });
});

describe('a change that is not valid or missing', () => {
  /** A stored change of the publication before the last, counted from 1. */
  async function stored(ordinal: number) {
    const epoch = (await liveFeed(store)).state.at(-2)?.epoch ?? 0;
    const id = String(positionOf(epoch, ordinal));
    const document = { index: store.names.changes, id, refresh: true } as const;
    const { body } = await client.get({ index: document.index, id: document.id });
    return {
      write: (changed: object) => client.index({ ...document, body: { ...body._source, ...changed } }),
      remove: () => client.delete(document),
    };
  }

  test('ends the feed for cursors before it, and is left out of everything else', async () => {
    const live = await publishCity('LIMA');
    const beginning = await latest();
    await publishCity('DAYTON');
    await publishCity('TOLEDO');
    const before = await allChanges(rest, beginning);
    expect(before).toHaveLength(40);
    const [fifth, sixth] = [before[4], before[5]];
    const change = await stored(5);
    await watch('Fifth', fifth?.license_number ?? '');
    await watch('Sixth', sixth?.license_number ?? '');
    const [fifths, sixths] = [await apiClient(environment, 'Fifth'), await apiClient(environment, 'Sixth')];
    const statusOf = async (client: ApiClient, filter: Record<string, string>, since = beginning) =>
      (await askChanges(client, { since, ...filter })).status;

    for (const isDeleted of [false, true]) {
      if (isDeleted) await change.remove();
      else await change.write({ fields: 'lost' });
      for (const since of [beginning, before[1]?.cursor ?? ''])
        for (const filter of [{}, { board: NURSING }, { kind: 'changed' }, { limit: '1000' }])
          expect([filter, await statusOf(rest, filter, since)]).toEqual([filter, 410]);
      // What is not watched is not read; that it is missing is seen.
      const watched = [await statusOf(fifths, WATCHED), await statusOf(sixths, WATCHED)];
      expect(watched).toEqual(isDeleted ? [410, 410] : [410, 200]);
      // Those after it go on, and so does who has none.
      expect(await allChanges(rest, sixth?.cursor)).toEqual(before.slice(6));
      for (const since of ['', 'latest']) expect(await statusOf(rest, {}, since)).toBe(200);
      expect(await statusOf(sixths, WATCHED, '')).toBe(200);
    }
    await change.write({ license: undefined });
    expect(await statusOf(sixths, WATCHED)).toBe(410);

    await change.write({ fields: 'lost' });
    expect((await historyOf(fifth?.license_number ?? '')).body).toMatchObject({
      coverage_start: service.lastDate(),
      changes: [{}],
    });
    await change.write({});
    expect(await allChanges(rest, beginning)).toEqual(before);
    expect(numbersOf(await allChanges(sixths, beginning, 1, WATCHED))).toHaveLength(2);

    // A rollback compares the publications, so it is whole.
    const last = await latest();
    await change.write({ license: 7 });
    await rollBack(store, live);
    const causes = (await allChanges(rest, last)).map(({ cause }) => cause);
    expect(causes).toEqual(NURSES.map(() => 'rollback'));
  });
});

describe('a cursor', () => {
  beforeAll(() => publishCity('LIMA'));

  test.each(['is missing', 'is not valid'])('is 410 in a new feed: the last digest %s', async (fault) => {
    const next = await latest();
    const index = digestIndexName(store.prefix, (await liveIndex(store)) ?? '');
    const body = { entries: Buffer.from('cut off').toString('base64') };
    if (fault === 'is missing') await client.indices.delete({ index });
    else await client.index({ index, id: 'number-7', body });
    await publishCity('CANTON');
    for (const filter of [{}, WATCHED])
      expect((await askChanges(rest, { since: next, ...filter })).status).toBe(410);
  });

  test('is 410 after a rollback where the stored changes are gone', async () => {
    const before = await publishCity('LIMA');
    const next = await latest();
    await publishCity('AKRON');
    const index = store.names.changes;
    await client.indices.refresh({ index });
    await client.deleteByQuery({ index, refresh: true, body: { query: { match_all: {} } } });
    expect((await rollBack(store, before)).to.metadata.publication).toBe(before);
    expect((await askChanges(rest, { since: next })).status).toBe(410);
    const fresh = await changesPage(rest);
    expect(fresh).toMatchObject({ changes: [], more: false });
    await publishCity('TOLEDO');
    expect(await allChanges(rest, fresh.next)).toHaveLength(20);
  });
});

test('since when the data of a board has not changed leaves out what a rollback undid, and what is not known', async () => {
  const answer = z.object({
    board_activity: z.record(z.string(), z.object({ last_changed: z.string().nullable() })),
  });
  const lastChanged = async () => {
    const { board_activity: boards } = answer.parse((await rest.get('/api/v1/lookup/boards')).body);
    return [boards[NURSING]?.last_changed, boards['Dental Board']?.last_changed];
  };
  await publishCity('DAYTON');
  const earlier = service.lastDate();
  await publishCity('CANTON');
  const last = service.lastDate();
  await publishCity('CANTON');
  await latest();
  expect(await lastChanged()).toEqual([last, null]);
  await rollBack(store);
  await rollBack(store);
  await latest();
  expect(await lastChanged()).toEqual([earlier, null]);
  const body = { query: { term: { event: 'live' } } };
  await client.deleteByQuery({ index: store.names.ledger, refresh: true, body });
  await service.restartApi();
  expect(await lastChanged()).toEqual([null, null]);
});
