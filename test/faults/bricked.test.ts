/** @room publishing @long */

import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { licenses, startApi, startWorker } from '../../scripts/licenses-processes.ts';
import { apiClient } from '../support/api.ts';
import { allChanges } from '../support/changes.ts';
import { nurses, published } from '../support/publication-days.ts';
import { loadStoredData } from '../support/stored-data.ts';

/** What version 0.2.0 stored, and then failed on, of two days whose BOARD column has `constructor` and `__proto__`. */
const BRICKED = resolve(import.meta.dirname, '../fixtures/bricked-data');
const NURSES = nurses(5);
const SAVED = 'ECE1-AZBA-HMJH-9VK0';

let environment: TestEnvironment;

beforeEach(async () => {
  environment = await testEnvironment();
});
afterEach(() => environment.cleanUp());

/** Runs a command that must succeed. @returns what it printed, and what it said of bad documents */
async function run(...parameters: string[]) {
  const { code, stdout, stderr } = await licenses(environment.variables, ...parameters);
  expect({ parameters, code, stderr: code === 0 ? '' : stderr }).toEqual({ parameters, code: 0, stderr: '' });
  return { stdout, stderr };
}

async function publishDay(date: string, city: string) {
  const odd = ['constructor', '__proto__'].map((board, at) => ({ board, number: `X.${at + 1}`, city }));
  const individual = [...NURSES.map((nurse) => ({ ...nurse, city })), ...odd];
  await published(environment, date, { individual });
}

const listed = z.object({ publications: z.array(z.object({ state: z.string() })) });

async function states(): Promise<string[]> {
  const { stdout } = await run('publications', '--json');
  return listed.parse(JSON.parse(stdout)).publications.map(({ state }) => state);
}

describe('an installation that version 0.2.0 bricked', () => {
  beforeEach(() => loadStoredData(environment.store, join(BRICKED, 'opensearch.ndjson')));

  test('answers, publishes, lists, rolls back and prunes', async () => {
    const api = await startApi(environment.variables);
    try {
      const rest = await apiClient(environment);
      const ask = async () => {
        // A process that has read the feed answers from what is live.
        await allChanges(rest);
        return rest.verify({ board: 'Nursing Board', license_number: 'RN.900001' });
      };
      expect(await ask()).toMatchObject({ status: 200, body: { city: 'DAYTON' } });
      expect(await allChanges(rest)).toHaveLength(7);
      expect((await rest.get('/status')).body).toMatchObject({
        publication: { date: '2026-11-02', changes: null },
        last_runs: [{ changes: null }, {}],
      });
      expect((await rest.get(`/records/${SAVED}`)).status).toBe(200);
      expect(await states()).toEqual(['live', 'superseded']);

      const worker = await startWorker(environment.variables);
      await worker.stop();
      await publishDay('2026-11-03', 'TOLEDO');
      // The stored files had no Board Action, so two businesses change, too.
      expect(await allChanges(rest)).toHaveLength(16);
      expect(await ask()).toMatchObject({ status: 200, body: { city: 'TOLEDO' } });
      await run('rollback');
      expect(await ask()).toMatchObject({ status: 200, body: { city: 'DAYTON' } });
      await run('rollback');
      expect(await ask()).toMatchObject({ status: 200, body: { city: 'LIMA' } });
      await run('prune');
      expect(await states()).toEqual(['rolled_back', 'rolled_back', 'live']);
    } finally {
      await api.stop();
    }
  });

  test('is backed up without what is not valid, which is named', async () => {
    const { stderr } = await run('backup', join(environment.folder, 'new.backup'));
    expect(stderr.match(/^Not valid, and left out/gm)).toHaveLength(2);
    const other = await testEnvironment();
    try {
      const restored = await licenses(other.variables, 'restore', join(environment.folder, 'new.backup'));
      expect(restored).toMatchObject({ code: 0, stderr: '' });
    } finally {
      await other.cleanUp();
    }
  });
});

test('the backup of a bricked installation is restored without what is not valid', async () => {
  const { stdout, stderr } = await run('restore', join(BRICKED, 'licenses.backup'));
  expect(stdout).toMatch(/1 accounts, 1 API keys, \d+ changes, 11 entries of the ledger/);
  expect(stderr.split('\n').filter((line) => /changes|publications/.test(line))).toHaveLength(2);
  expect(await run('backup', join(environment.folder, 'clean.backup'))).toMatchObject({ stderr: '' });
  await publishDay('2026-11-02', 'DAYTON');
  expect(await states()).toEqual(['live', 'superseded', 'superseded']);
});
