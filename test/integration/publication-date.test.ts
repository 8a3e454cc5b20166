import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { z } from 'zod';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { BOARDS } from '../../src/licenses/boards.ts';
import { readMetadata } from '../../src/publications/metadata.ts';
import { noMatchIn, recordIn } from '../support/answers.ts';
import type { ApiAnswer } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { FIXTURES, fixturesAnd, nurseRow, pharmacyRow } from '../support/fixtures.ts';
import type { ProxyStep } from '../support/proxy.ts';
import { type DatasetFiles, publishFiles } from '../support/publishing.ts';
import { startService } from '../support/service.ts';
import { verifies } from '../support/verifies.ts';

const BOTH = ['individual', 'business'] as const;

/** Lookup requests that reached OpenSearch. */
let searches = 0;

const proxied: ProxyStep = (request) => {
  const isLookup = /\blicenses-.*\/(_search|_msearch|_mget|_doc)\b/.test(request.path);
  if (isLookup && !request.body.includes('aggs')) searches += 1;
  return request.forward();
};
const { environment, rest } = await startService({ proxied });

let lastDay = 0;

/** A date later than all earlier ones. */
function nextDate(): string {
  lastDay += 1;
  return `2026-12-${String(lastDay).padStart(2, '0')}`;
}

/** Files whose run date is changed, or removed, in the given ones. */
async function dated(
  date: string,
  of: readonly (keyof DatasetFiles)[],
  from: DatasetFiles = FIXTURES,
): Promise<DatasetFiles> {
  const files = { ...from };
  for (const file of of) {
    files[file] = join(environment.folder, `${file}-${date || 'undated'}.csv`);
    const text = await readFile(from[file], 'utf8');
    await writeFile(files[file], text.replaceAll(/2026-11-(20|19)$/gm, date));
  }
  return files;
}

/** The date of the live publication, even when it has none of the fixtures. */
async function lastScraped(): Promise<string> {
  const answer = await rest.verify({ board: 'Nursing Board', last_name: 'Nobody of this name' });
  return noMatchIn(answer).last_scraped;
}

/** Publishes these files, and expects that lookups answer from them. */
async function goesLive(date: string, files: DatasetFiles, given?: string): Promise<string> {
  const result = await publishFiles(environment, files, given === undefined ? {} : { date: given });
  expect(result).toMatchObject({ state: 'live', date });
  await eventually(`the files of ${date} are live`, async () => (await lastScraped()) === `${date}T00:00:00`);
  return z.object({ index: z.string() }).parse(result).index;
}

async function expectRefused(files: DatasetFiles, date?: string): Promise<void> {
  const before = await lastScraped();
  const options = { isGuarded: true, ...(date === undefined ? {} : { date }) };
  expect(await publishFiles(environment, files, options)).toMatchObject({ state: 'refused' });
  expect(await lastScraped()).toBe(before);
}

verifies('DATE-02', 'files of two different dates do not go live', async () =>
  expectRefused(await dated(nextDate(), ['individual'])),
);

verifies('DATE-03', 'a given date is used only if the files have none', async () => {
  const date = nextDate();
  await expectRefused(await dated(nextDate(), BOTH), date);
  const undated = await dated('', BOTH);
  await expectRefused(undated);
  await goesLive(date, undated, date);
});

const status = z.object({ publication: z.object({ sample: z.boolean(), date: z.string() }) });

const publicationAtStatus = async () => status.parse((await rest.get('/status')).body).publication;

/** Files of this date. A person's city and license type and a business's city have the date, too. */
async function changedOn(date: string): Promise<DatasetFiles> {
  const person = { PARCEL_CITY: `CITY OF ${date}`, TYPE: `Nurse of ${date}`, QUERY_RUN_DATE: date };
  const place = { parcel_city: `CITY OF ${date}`, query_run_date: date };
  const files = await fixturesAnd(environment.folder, {
    individual: [nurseRow('CHANGING, CHRIS', 'RN.960001', person)],
    business: [pharmacyRow('CHANGING STORE', '0296000001', place)],
  });
  return dated(date, BOTH, files);
}

const NURSING = 'Nursing Board';
const PHARMACY = 'Board of Pharmacy';

/** One lookup of each kind, each with one request to OpenSearch. */
const LOOKUPS: readonly (readonly [string, () => Promise<ApiAnswer>])[] = [
  ...Object.entries({
    'REST number': { board: NURSING, license_number: 'RN.960001' },
    'REST name': { board: NURSING, last_name: 'Changing', first_name: 'Chris' },
    'REST surname': { board: NURSING, last_name: 'Changing' },
    'REST business': { board: PHARMACY, search_type: 'business', business_name: 'Changing Store' },
  }).map(([what, body]) => [what, () => rest.verify(body)] as const),
  ['MCP number', () => rest.callTool('verify_license', { license_number: 'RN.960001', board: NURSING })],
  ['MCP name', () => rest.callTool('search_licenses_by_name', { board: NURSING, last_name: 'Changing' })],
  ['MCP business', () => rest.callTool('verify_business_license', { business_name: 'Changing Store' })],
];

/** The same, and lists that the process holds in memory. */
const REQUESTS: typeof LOOKUPS = [
  ...LOOKUPS,
  ['REST boards', () => rest.get('/api/v1/lookup/boards')],
  ['REST types', () => rest.get('/api/v1/lookup/boards/Nursing%20Board/types')],
  ['MCP boards', () => rest.callTool('list_ohio_boards', {})],
];

/** Each request, and all publication dates in its response. */
const datesAnswered = async () =>
  Promise.all(
    REQUESTS.map(async ([what, ask]): Promise<[string, string[]]> => {
      const { text, headers } = await ask();
      expect([what, headers.get('cache-control')]).toEqual([what, 'no-store']);
      return [what, [...new Set(text.match(/2026-1[12]-\d\d/g))]];
    }),
  );

verifies(['SERVICE-02', 'RECORD-12', 'DATE-01'], 'no answer is of an earlier publication', async () => {
  const [earlier, later] = [nextDate(), nextDate()];
  await goesLive(earlier, await changedOn(earlier));
  expect(await datesAnswered()).toEqual(REQUESTS.map(([what]) => [what, [earlier]]));
  for (const [what, lookUp] of LOOKUPS) {
    const asked: number[] = [];
    for (let time = 0; time < 3; time += 1) {
      searches = 0;
      await lookUp();
      asked.push(searches);
    }
    expect([what, asked]).toEqual([what, [1, 1, 1]]);
  }

  const publishing = goesLive(later, await changedOn(later));
  // Every request is repeated until the switch, so that a cached response would be recent.
  while ((await publicationAtStatus()).date !== later) await datesAnswered();
  expect(await datesAnswered()).toEqual(REQUESTS.map(([what]) => [what, [later]]));
  await publishing;
});

verifies(['DATE-04', 'RECORD-01', 'RECORD-04'], 'generated data is complete and marked', async () => {
  const [real, date] = [nextDate(), nextDate()];
  await goesLive(real, await dated(real, BOTH));
  expect(await publicationAtStatus()).toMatchObject({ sample: false, date: real });
  const sample = { directory: environment.folder, rows: 3000, seed: 5, date };
  const index = await goesLive(date, await writeSampleData(sample));
  expect((await readMetadata(environment.store, index)).sample).toBe(true);
  expect(await publicationAtStatus()).toMatchObject({ sample: true, date });

  const stored = z.object({ license_number: z.string() });
  const hits = z.object({ hits: z.object({ hits: z.array(z.object({ _source: stored })) }) });
  for (const board of BOARDS) {
    const body = { size: 4, query: { term: { board: board.name } } };
    const some = await environment.client.search({ index, body });
    const licenses = hits.parse(some.body).hits.hits.map((hit) => hit._source);
    expect([board.name, licenses.length]).toEqual([board.name, 4]);
    for (const { license_number } of licenses) {
      const answered = recordIn(await rest.verify({ board: board.name, license_number }));
      expect(answered).toMatchObject({ license_number, board: board.name });
      expect(board.license_types.map(({ name }) => name)).toContain(answered.license_type);
    }
  }
});
