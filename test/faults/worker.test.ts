/** @room publishing */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { childrenOf } from '../../bench/usage.ts';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { publicationDetails, publicationHistory } from '../../src/publications/history.ts';
import {
  PUBLISH_DEDUPLICATION_ID,
  PUBLISH_JOB_OPTIONS,
  publishProgress,
  queuePrefix,
  sourceAt,
} from '../../src/publications/job.ts';
import { readEvents } from '../../src/publications/ledger.ts';
import { indicesUnderAlias, licensesIndices } from '../../src/publications/metadata.ts';
import { rollBack } from '../../src/publications/rollback.ts';
import { eventually } from '../support/eventually.ts';
import { filesOf, nurses } from '../support/publication-days.ts';
import { publishByCommand, publishFiles } from '../support/publishing.ts';
import { type Installation, installation, publish } from '../support/worker-installation.ts';

/** Some bulk requests, so that a load has not ended when the first one is answered. */
const MANY_ROWS = 8000;
const ATTEMPTS = PUBLISH_JOB_OPTIONS.attempts;

const liveResult = z.object({
  state: z.literal('live'),
  publication: z.string(),
  index: z.string(),
  rows: z.int(),
  licenses: z.int(),
});

const BULK = /^POST \/[^/]*licenses-[^/]+\/_bulk/;
const REFRESH = /licenses-[^/]+\/_refresh/;

function live({ environment: { store } }: Installation): Promise<string[]> {
  return indicesUnderAlias(store);
}

async function indices({ environment: { store } }: Installation): Promise<string[]> {
  return (await licensesIndices(store)).map(({ index }) => index);
}

/** The publication that started last. */
async function latest(installed: Installation): Promise<string> {
  const [first] = (await publicationHistory(installed.environment.store)).publications;
  return first?.publication ?? '';
}

async function eventsOf({ environment: { store } }: Installation, publication: string) {
  const { events } = await publicationDetails(store, publication);
  return events.filter(({ event }) => event !== 'queued').map(({ event }) => event);
}

function expectGone(ids: readonly number[]): void {
  for (const id of ids) expect(() => process.kill(id, 0)).toThrow('ESRCH');
}

describe('a worker', () => {
  let installed: Installation;

  beforeEach(async () => {
    installed = await installation();
    await publishFiles(installed.environment, await filesOf(installed.environment, '2026-10-20'));
  });
  afterEach(() => installed.cleanUp());

  test('that gets SIGTERM during a load hands the publication back, and the next worker completes it', async () => {
    const many = await writeSampleData({
      directory: join(installed.environment.folder, 'many'),
      rows: MANY_ROWS,
      seed: 2,
      date: '2026-10-25',
    });
    const before = { live: await live(installed), indices: await indices(installed) };
    // Nothing that is live is in these files.
    const settings = { GUARD_MAX_CHANGED_PERCENT: '100' };
    const worker = await installed.startWorker(settings);
    const loading = Promise.withResolvers<void>();
    const stopped = Promise.withResolvers<void>();
    const held = installed.at(BULK, () => {
      loading.resolve();
      return stopped.promise;
    });
    const publishing = publish(installed, many);
    await loading.promise;
    const children = await childrenOf(worker.child.pid ?? 0);
    expect(children).not.toEqual([]);
    worker.child.kill('SIGTERM');
    await worker.printed('worker stopping');
    // It tells its process, which stops when OpenSearch has answered.
    await sleep(200);
    stopped.resolve();
    await held;
    await worker.ended;
    expect(worker.child.exitCode).toBe(0);
    expectGone(children);
    expect({ live: await live(installed), indices: await indices(installed) }).toEqual(before);

    const publication = await latest(installed);
    const job = await installed.queue.getJob(publication);
    expect(await job?.getState()).toBe('waiting');
    expect(await eventsOf(installed, publication)).toEqual(['reading', 'loading']);
    const waiting = await installed.queue.getDeduplicationJobId(PUBLISH_DEDUPLICATION_ID);
    expect(waiting).toBe(publication);

    await installed.startWorker(settings);
    const { code, stdout } = await publishing;
    expect(code).toBe(0);
    const result = liveResult.parse(JSON.parse(stdout));
    expect(result).toMatchObject({ publication, rows: MANY_ROWS });
    expect(await live(installed)).toEqual([result.index]);
    const { body } = await installed.environment.client.count({ index: result.index });
    expect(body.count).toBeGreaterThanOrEqual(result.licenses);
    expect(await eventsOf(installed, publication)).toEqual([
      ...['reading', 'loading'],
      ...['reading', 'loading', 'verifying', 'verifying', 'live'],
    ]);
  });

  test('waits until OpenSearch has found every index again, and writes its progress to the job', async () => {
    const { client, store } = installed.environment;
    const index = store.names.changes;
    const worker = await installed.startWorker();
    const filter = 'index.routing.allocation.include._name';
    await client.indices.delete({ index });
    await client.indices.create({
      index,
      wait_for_active_shards: '0',
      body: { settings: { [filter]: 'nowhere' } },
    });
    const publishing = publish(installed, await filesOf(installed.environment, '2026-10-24'));
    await installed.at(/_cluster\/health/, () => undefined);
    // The first request has waited for the index in vain.
    await installed.at(/_cluster\/health/, () =>
      client.indices.putSettings({ index, body: { [filter]: null } }),
    );
    const { code, stdout } = await publishing;
    expect(code).toBe(0);
    // It has used no attempt up meanwhile.
    expect(worker.output().split('"msg":"publishing"')).toHaveLength(2);
    const { publication } = liveResult.parse(JSON.parse(stdout));
    const job = await installed.queue.getJob(publication);
    expect(publishProgress.parse(job?.progress)).toMatchObject({ step: 'cleaning up' });
    expect(worker.output()).toContain('"msg":"publication ended"');
  });

  test('fails a publication whose verification fails at every attempt, and the command exits 1', async () => {
    const worker = await installed.startWorker();
    const before = { live: await live(installed), indices: await indices(installed) };
    const { client } = installed.environment;
    const files = await filesOf(installed.environment, '2026-10-27');
    const { variables } = installed.environment;
    const publishing = publishByCommand(variables, files, '--force', 'it must not help');
    for (let attempts = 0; attempts < ATTEMPTS; attempts += 1) {
      await installed.at(REFRESH, (path) =>
        client.delete({ index: path.split('/')[1] ?? '', id: 'NUR/RN.900007' }),
      );
    }
    const reason = 'The index has 21 licenses, but 22 were sent.';
    expect(await publishing).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(', attempt 2'),
      stderr: `Failed: ${reason}\n`,
    });
    expect({ live: await live(installed), indices: await indices(installed) }).toEqual(before);
    const publication = await latest(installed);
    await eventually('the ledger says that it failed', async () =>
      (await eventsOf(installed, publication)).includes('failed'),
    );
    expect((await publicationHistory(installed.environment.store)).publications[0]).toMatchObject({
      publication,
      state: 'failed',
      forced: 'it must not help',
      reasons: [reason],
    });
    expect(worker.output().split('"msg":"publishing"')).toHaveLength(ATTEMPTS + 1);
  });

  test('whose process pauses before its flip and resumes after a rollback cannot flip', async () => {
    const { environment } = installed;
    const worker = await installed.startWorker();
    await publishFiles(environment, await filesOf(installed.environment, '2026-10-28'));
    const expected = await live(installed);
    let stopped: number[] = [];
    const woken = installed.at(REFRESH, async () => {
      stopped = await childrenOf(worker.child.pid ?? 0);
      for (const child of stopped) process.kill(child, 'SIGSTOP');
      await publishFiles(environment, await filesOf(installed.environment, '2026-10-30'));
      await rollBack(environment.store);
      for (const child of stopped) process.kill(child, 'SIGCONT');
    });
    const [paused] = await Promise.all([
      publish(installed, await filesOf(installed.environment, '2026-10-29')),
      woken,
    ]);
    expect(stopped).not.toEqual([]);
    expect(paused.code).toBe(2);
    expect(JSON.parse(paused.stdout)).toMatchObject({
      state: 'refused',
      reasons: [expect.stringMatching(/^fenced: /)],
    });
    expect(await live(installed)).toEqual(expected);
    await eventually('nothing waits', async () => (await installed.queue.count()) === 0);
    expect(await installed.queue.getActiveCount()).toBe(0);
    expect(await live(installed)).toEqual(expected);
  });

  test('whose job Redis lost completes the publication or refuses it, and the command says so', async () => {
    /** Deletes the queue's data when the load has started. */
    function loseJob(): Promise<void> {
      const { config } = installed.environment;
      return installed.at(BULK, async () => {
        const redis = new Redis(config.REDIS_URL);
        const keys = await redis.keys(`${queuePrefix(config.INDEX_PREFIX)}:*`);
        expect(keys.length).toBeGreaterThan(0);
        await redis.del(...keys);
        redis.disconnect();
      });
    }
    await installed.startWorker();
    const lost = loseJob();
    const published = await publish(
      installed,
      await filesOf(installed.environment, '2026-11-01', { individual: nurses(60) }),
    );
    await lost;
    expect(published.code).toBe(0);
    const result = liveResult.parse(JSON.parse(published.stdout));
    expect(result).toMatchObject({ publication: await latest(installed), rows: 62, licenses: 62 });
    expect(await live(installed)).toEqual([result.index]);

    const lostAgain = loseJob();
    const refused = await publish(
      installed,
      await filesOf(installed.environment, '2026-11-02', { individual: nurses(50) }),
    );
    await lostAgain;
    expect(refused.code).toBe(2);
    expect(JSON.parse(refused.stdout)).toMatchObject({
      state: 'refused',
      publication: await latest(installed),
      reasons: [expect.stringMatching(/^fewer_rows: 52 rows/)],
    });

    const next = await publish(
      installed,
      await filesOf(installed.environment, '2026-11-03', { individual: nurses(60) }),
    );
    expect(next.code).toBe(0);
    expect(await live(installed)).toEqual([liveResult.parse(JSON.parse(next.stdout)).index]);
  });

  test('takes turns with a second worker: one publication at a time', async () => {
    const { environment, queue } = installed;
    const workers = [await installed.startWorker(), await installed.startWorker()];
    expect(await queue.getGlobalConcurrency()).toBe(1);
    const held = installed.at(REFRESH, async () => {
      await eventually('the other one waits', async () => (await queue.getWaitingCount()) === 1);
      for (let times = 0; times < 10; times += 1) {
        expect(await queue.getJobCounts('active', 'waiting')).toEqual({ active: 1, waiting: 1 });
        await sleep(100);
      }
    });
    const publications: string[] = [];
    for (const [at, date] of ['2026-11-04', '2026-11-05'].entries()) {
      const publication = `${Date.now().toString(36)}turn${at}`;
      const files = await filesOf(installed.environment, date, { individual: nurses(2000) });
      const sources = {
        individual: await sourceAt(files.individual),
        business: await sourceAt(files.business),
      };
      const accept = ['board_changed'];
      await queue.add('publish', { publication, accept, ...sources }, { jobId: publication });
      publications.push(publication);
    }
    await held;
    await eventually(
      'both have ended',
      async () => (await queue.getJobCountByTypes('active', 'waiting')) === 0,
    );
    const { store } = environment;
    const events = await readEvents(store);
    const turns = events.filter(({ publication }) => publications.includes(publication));
    expect(turns.map(({ publication, event }) => [publications.indexOf(publication), event])).toEqual([
      ...['reading', 'loading', 'verifying', 'verifying', 'live'].map((event) => [0, event]),
      ...['reading', 'loading', 'verifying', 'verifying', 'live'].map((event) => [1, event]),
      [0, 'superseded'],
    ]);
    const taken = workers.map((worker) => worker.output().split('"msg":"publishing"').length - 1);
    expect(taken.reduce((sum, each) => sum + each, 0)).toBe(2);
  });
});
