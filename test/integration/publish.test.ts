import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { numberQuery } from '../../src/lookup/queries.ts';
import { bodyOf, searchAlone } from '../../src/lookup/search.ts';
import { type PublishResult, publicationHistory } from '../../src/publications/history.ts';
import { indicesUnderAlias, licensesIndices, readMetadata } from '../../src/publications/metadata.ts';
import { rollBack } from '../../src/publications/rollback.ts';
import { FIXTURES } from '../support/fixtures.ts';
import { rejectedOf } from '../support/ledger.ts';
import { type DatasetFiles, publishFiles } from '../support/publishing.ts';

let environment: TestEnvironment;

/** Gives the tests of a `describe` an environment in which nothing is published yet. */
function inOwnEnvironment(): void {
  beforeAll(async () => {
    environment = await testEnvironment();
  });
}

/** The fixtures with one file's text changed. */
async function changed(
  name: string,
  file: keyof DatasetFiles,
  change: (text: string) => string,
): Promise<DatasetFiles> {
  const path = join(environment.folder, `${name}.csv`);
  await writeFile(path, change(await readFile(FIXTURES[file], 'utf8')));
  return { ...FIXTURES, [file]: path };
}

async function live(): Promise<string[]> {
  return indicesUnderAlias(environment.store);
}

async function license(number: string) {
  const [index = ''] = await live();
  const query = numberQuery(number);
  return query === undefined ? [] : (await searchAlone(environment.client, index, bodyOf(query))).licenses;
}

describe('publishing the fixtures', () => {
  let result: PublishResult;

  inOwnEnvironment();
  beforeAll(async () => {
    result = await publishFiles(environment, FIXTURES);
  });

  test('stores every valid row and endorsement, and rejects the others with line and reason', async () => {
    expect(result).toMatchObject({
      state: 'live',
      date: '2026-11-20',
      rows: 28,
      licenses: 22,
      endorsements: 1,
      rejected: 6,
      unknown_labels: { 'board: Board of Wizardry': 1 },
    });
    expect(await rejectedOf(environment, result.publication)).toEqual([
      {
        file: 'individual',
        line: 19,
        reason: expect.stringContaining('an earlier row of the board has the same number'),
      },
      { file: 'individual', line: 20, reason: expect.stringContaining('EXPIRATION_DATE "2099-02-30"') },
      { file: 'individual', line: 21, reason: expect.stringContaining('LICENSE_NUMBER is blank') },
      { file: 'individual', line: 22, reason: expect.stringContaining('has 3 fields, not 22') },
      { file: 'individual', line: 23, reason: expect.stringContaining('text after a closing quote') },
      { file: 'individual', line: 26, reason: expect.stringContaining('QUERY_RUN_DATE is 2026-11-19') },
    ]);
  });

  test('stores id, dates, sources, hashes and counts in the index metadata', async () => {
    const [index = ''] = await live();
    const metadata = await readMetadata(environment.store, index);
    expect(metadata).toMatchObject({
      date: '2026-11-20',
      sample: false,
      counts: { rows: 28, licenses: 22, endorsements: 1, rejected: 6 },
      sources: {
        individual: { name: 'individual.csv', rows: 24, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
        business: { name: 'business.csv', rows: 4, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      },
    });
  });

  test('rejects the second of two rows with the same number', async () => {
    expect(await license('RN.700015')).toMatchObject([{ full_name: 'TWICE, ONE' }]);
  });

  test('stores an endorsement as a license that names the endorsed license', async () => {
    expect(await license('APRN.CNP.0070001')).toMatchObject([
      {
        full_name: 'DE LA CRUZ, MARIA ELENA',
        license_type: 'APRN - Certified Nurse Practitioner (CNP)',
        status: 'INACTIVE',
        raw_status: 'Inactive - Lapsed',
        issue_date: '2010-01-02',
        expiry_date: '2020-10-31',
        extra_data: { 'Endorsed License': 'RN.700001', 'Issue Date': '2010-01-02' },
      },
    ]);
  });

  test('keeps unknown columns and endorsements in extra_data', async () => {
    expect(await license('RN.700001')).toMatchObject([
      {
        extra_data: {
          County: 'Franklin',
          ZIP: '43004',
          'Issue Date': '2001-05-17',
          'Board Action': 'No',
          'Compact Eligibility': 'Multi-State',
          'Endorsement Number 1': 'APRN.CNP.0070001',
          'Favourite Colour': 'teal',
        },
      },
    ]);
  });

  test('stores HIDDEN and blank values as null', async () => {
    expect(await license('RN.700003')).toMatchObject([{ city: null, state: null, county: null }]);
    const [record] = await license('RN.700003');
    expect(record?.extra_data).not.toHaveProperty('ZIP');
  });

  test('makes the index read-only and its translog durable', async () => {
    const [index = ''] = await live();
    const { body } = await environment.client.indices.getSettings({ index, flat_settings: true });
    expect(body[index]?.settings).toMatchObject({
      'index.blocks.write': 'true',
      'index.translog.durability': 'request',
      'index.auto_expand_replicas': '0-1',
    });
    expect(body[index]?.settings).not.toHaveProperty('index.refresh_interval');
  });
});

describe('files that cannot go live', () => {
  let before: string[];

  inOwnEnvironment();
  beforeAll(async () => {
    await publishFiles(environment, FIXTURES);
    before = await live();
    expect(before).toHaveLength(1);
  });
  afterEach(async () => {
    expect(await live()).toEqual(before);
    const indices = await licensesIndices(environment.store);
    expect(indices.map(({ index }) => index)).toEqual(before);
  });

  test.each([
    [
      'a required column is missing',
      () => changed('no-status', 'individual', (text) => text.replace(',STATUS,', ',STATE_OF_MIND,')),
      'columns: The individual file lacks STATUS.',
    ],
    [
      "the two files' dates differ",
      () => changed('other-date', 'business', (text) => text.replaceAll('2026-11-20', '2026-11-19')),
      'dates_differ: The individual file is of 2026-11-20, the business file of 2026-11-19.',
    ],
    [
      'a file has no rows',
      () => changed('no-rows', 'business', (text) => `${text.split('\n')[0]}\n`),
      'no_rows: The business file (no-rows.csv) has no rows.',
    ],
    ['a file is empty', () => changed('empty', 'individual', () => ''), 'no_rows: The individual file'],
  ])('are refused when %s, and the live publication stays', async (_, files, reason) => {
    const result = await publishFiles(environment, await files(), { isGuarded: true });
    expect(result).toMatchObject({
      state: 'refused',
      reasons: expect.arrayContaining([expect.stringContaining(reason)]),
    });
    const history = await publicationHistory(environment.store);
    expect(history.publications[0]).toMatchObject({ state: 'refused', publication: result.publication });
  });

  test('are refused when --date differs from the files, even with force', async () => {
    const result = await publishFiles(environment, FIXTURES, { date: '2026-11-25' });
    expect(result).toMatchObject({
      state: 'refused',
      reasons: ['no_date: --date says 2026-11-25, but the files say 2026-11-20.'],
    });
  });

  test('leave no index when the load is aborted', async () => {
    const stop = new AbortController();
    stop.abort(new Error('stopped by the test'));
    await expect(publishFiles(environment, FIXTURES, { signal: stop.signal })).rejects.toThrow(
      'stopped by the test',
    );
  });
});

describe('the history of publications', () => {
  inOwnEnvironment();

  test('keeps the last three indices and allows a rollback to the previous one', async () => {
    const { store } = environment;
    for (const day of ['20', '21', '22', '23']) {
      const files = {
        ...(await changed(`individual-${day}`, 'individual', (text) =>
          text.replaceAll('2026-11-20', `2026-11-${day}`),
        )),
        business: (
          await changed(`business-${day}`, 'business', (text) =>
            text.replaceAll('2026-11-20', `2026-11-${day}`),
          )
        ).business,
      };
      expect(await publishFiles(environment, files)).toMatchObject({ state: 'live', date: `2026-11-${day}` });
    }
    const indices = await licensesIndices(store);
    expect(indices.map(({ metadata }) => metadata.date)).toEqual(['2026-11-21', '2026-11-22', '2026-11-23']);

    const { from, to } = await rollBack(store);
    expect([from?.metadata.date, to.metadata.date]).toEqual(['2026-11-23', '2026-11-22']);
    expect(await live()).toEqual([to.index]);
    const history = await publicationHistory(store);
    expect(history.live?.publication).toBe(to.metadata.publication);
    expect(
      history.publications.find(({ publication }) => publication === from?.metadata.publication)?.state,
    ).toBe('rolled_back');
  });
});

describe('a publication of files without a date', () => {
  inOwnEnvironment();

  test('has the date of --date', async () => {
    const files = {
      ...(await changed('undated', 'individual', (text) => text.replaceAll(/,2026-11-\d\d$/gm, ','))),
      business: (await changed('undated-b', 'business', (text) => text.replaceAll(/,2026-11-20$/gm, ',')))
        .business,
    };
    expect(await publishFiles(environment, files)).toMatchObject({ state: 'refused' });
    expect(await publishFiles(environment, files, { date: '2026-11-24' })).toMatchObject({
      state: 'live',
      date: '2026-11-24',
    });
  });
});
