import { beforeAll, describe, expect, test } from '@jest/globals';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
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
