import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { licenses } from '../../scripts/licenses-processes.ts';
import { rollBack } from '../../src/publications/rollback.ts';
import { countDocuments } from '../../src/storage/checked-search.ts';
import { allChanges, askChanges, changesPage } from '../support/changes.ts';
import type { DayRow } from '../support/day-files.ts';
import { type FeedService, NURSES, startFeedService } from '../support/feed-service.ts';
import { publishFiles } from '../support/publishing.ts';

let service: FeedService;
let environment: FeedService['environment'];
let rest: FeedService['rest'];

beforeEach(async () => {
  service = await startFeedService({ CHANGES_KEPT_DAYS: '30' });
  ({ environment, rest } = service);
});
afterEach(() => service.stop());

/** Publishes the nurses in this city. @returns the publication's id */
function publishNurses(city: string, nurses: readonly DayRow[] = NURSES): Promise<string> {
  return service.publishDay(nurses.map((nurse) => ({ ...nurse, city })));
}

/** Makes the changes of a publication older than they are. */
async function age(publication: string, days: number): Promise<void> {
  const { client, store } = environment;
  const at = new Date(Date.now() - days * 86_400_000).toISOString();
  await client.indices.refresh({ index: store.names.changes });
  await client.updateByQuery({
    index: store.names.changes,
    refresh: true,
    body: {
      query: {
        bool: {
          must_not: [{ exists: { field: 'position' } }],
          filter: [{ exists: { field: 'publication' } }],
        },
      },
      script: {
        source:
          'for (each in ctx._source.state?.segments ?: []) if (each.publication == params.publication) each.at = params.at',
        params: { publication, at },
      },
    },
  });
}

test('changes are kept for CHANGES_KEPT_DAYS', async () => {
  await publishNurses('LIMA');
  const { next: beginning } = await changesPage(rest);
  const old = await publishNurses('AKRON');
  const { next: middle } = await changesPage(rest, { since: 'latest' });
  await publishNurses('TOLEDO');
  await age(old, 31);
  expect(await allChanges(rest, beginning)).toHaveLength(40);

  await publishNurses('DAYTON');
  expect(await askChanges(rest, { since: beginning })).toMatchObject({
    status: 410,
    body: { detail: expect.stringMatching(/no longer kept.*since=latest/) },
  });
  const kept = await allChanges(rest, middle);
  expect(kept.map(({ fields }) => [fields.city?.before, fields.city?.after])).toEqual([
    ...Array.from({ length: 20 }, () => ['AKRON', 'TOLEDO']),
    ...Array.from({ length: 20 }, () => ['TOLEDO', 'DAYTON']),
  ]);
  expect(await allChanges(rest)).toEqual(kept);
  expect(
    await countDocuments(environment.client, environment.store.names.changes, {
      exists: { field: 'position' },
    }),
  ).toBe(40);
  const history = await rest.get(`/api/v1/history?board=Nursing%20Board&license_number=${NURSES[0]?.number}`);
  expect(history.body).toMatchObject({
    coverage_start: '2026-11-02',
    changes: [{ date: '2026-11-04' }, { date: '2026-11-03' }],
  });
});

test('where the stored changes are gone, a rollback proceeds and older cursors get 410', async () => {
  const before = await publishNurses('LIMA');
  const { next } = await changesPage(rest);
  await publishNurses('AKRON');
  const { client, store } = environment;
  await client.indices.refresh({ index: store.names.changes });
  await client.deleteByQuery({
    index: store.names.changes,
    refresh: true,
    body: { query: { match_all: {} } },
  });
  expect((await rollBack(store, before)).to.metadata.publication).toBe(before);
  expect((await askChanges(rest, { since: next })).status).toBe(410);
  const fresh = await changesPage(rest);
  expect(fresh).toMatchObject({ changes: [], more: false });
  await publishNurses('TOLEDO');
  expect(await allChanges(rest, fresh.next)).toHaveLength(20);
});

test('a new feed starts when real data replaces sample data', async () => {
  const sample = { directory: join(environment.folder, 'sample'), rows: 1000, seed: 1 };
  await publishFiles(environment, await writeSampleData({ ...sample, date: '2026-10-30' }));
  await publishFiles(environment, await writeSampleData({ ...sample, date: '2026-10-31', changed: 0.1 }));
  const { next, changes } = await changesPage(rest);
  expect(changes.length).toBeGreaterThan(50);
  await publishNurses('LIMA');
  expect((await askChanges(rest, { since: next })).status).toBe(410);
  expect(await changesPage(rest)).toMatchObject({ changes: [], more: false });
});

test('the command line writes the changes of a publication as CSV, a line for each field', async () => {
  await publishNurses('LIMA');
  const [first, ...others] = NURSES;
  if (first === undefined) throw new Error('There are no nurses.');
  const publication = await publishNurses('LIMA', [{ ...first, name: '=DOE, "JANE"' }, ...others.slice(1)]);
  const file = join(environment.folder, 'changes.csv');
  const shown = await licenses(environment.variables, 'publications', 'show', publication, '--changes', file);
  expect(shown).toMatchObject({ code: 0, stderr: '' });
  expect(shown.stdout).toMatch(/changed +1/);
  const [header, ...lines] = (await readFile(file, 'utf8')).trimEnd().split('\n');
  expect(header).toBe('at,kind,cause,board,license_number,full_name,field,before,after');
  const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect(lines.map((line) => line.split(/,(.*)/)).toSorted()).toEqual(
    [
      `changed,data,Nursing Board,RN.900001,"'=DOE, ""JANE""",full_name,"HOLDER, RN.900001","'=DOE, ""JANE"""`,
      ...[
        'board,Nursing Board,',
        'expiry_date,2099-01-01,',
        'extra_data.Board Action,No,',
        'full_name,"HOLDER, RN.900002",',
        'license_number,RN.900002,',
        'raw_status,Active,',
        'status,ACTIVE,',
      ].map((field) => `removed,data,Nursing Board,RN.900002,"HOLDER, RN.900002",${field}`),
    ].map((line) => [at, line, '']),
  );
});
