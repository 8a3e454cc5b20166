import { beforeAll, describe, expect, test } from '@jest/globals';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { numberQuery } from '../../src/lookup/queries.ts';
import { bodyOf, searchAlone } from '../../src/lookup/search.ts';
import type { PublishResult } from '../../src/publications/history.ts';
import { readLicenseTypes } from '../../src/publications/license-types.ts';
import { indicesUnderAlias, readMetadata } from '../../src/publications/metadata.ts';
import { writeDay } from '../support/day-files.ts';
import { FIXTURES } from '../support/fixtures.ts';
import { rejectedOf } from '../support/ledger.ts';
import { publishFiles } from '../support/publishing.ts';

let environment: TestEnvironment;

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

  beforeAll(async () => {
    environment = await testEnvironment();
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

test('the license types of a publication are listed in order, but none of free text', async () => {
  const individual = ['Second', 'First', 'First', 'x'.repeat(101), ''].map((type, at) => {
    return { board: 'Nursing Board', number: `RN.${at}`, type };
  });
  const business = [{ board: 'Dental Board', number: '1', type: 'Practice' }];
  const day = { date: '2026-11-21', individual, business };
  await publishFiles(environment, await writeDay(environment.folder, 'types', day));
  const [index = ''] = await live();
  const types = await readLicenseTypes(environment.store, index);
  expect(types?.boards).toEqual({ 'Dental Board': 1, 'Nursing Board': 5 });
  expect(types?.types).toEqual([
    { board: 'Dental Board', license_type: 'Practice' },
    { board: 'Nursing Board', license_type: 'First' },
    { board: 'Nursing Board', license_type: 'Second' },
  ]);
});
