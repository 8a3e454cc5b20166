/** @room publishing */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { childrenOf } from '../../bench/usage.ts';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { licenses, startScript } from '../../scripts/licenses-processes.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
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
import { startedChildrenOf } from '../support/children.ts';
import { eventually } from '../support/eventually.ts';
import { inLongFormOnly } from '../support/fault-form.ts';
import { filesOf, nurses, published } from '../support/publication-days.ts';
import { type DatasetFiles, publishByCommand } from '../support/publishing.ts';
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
const TAKEN = '"msg":"publishing"';
const ALL_STEPS = ['reading', 'loading', 'verifying', 'verifying', 'live'] as const;

let installed: Installation;

beforeEach(async () => {
  installed = await installation();
});
afterEach(() => installed.stopWorkers());

/** What is live, and all indices. */
async function indices() {
  const { store } = installed.environment;
  const all = await licensesIndices(store);
  return { live: await indicesUnderAlias(store), all: all.map(({ index }) => index) };
}

const live = async () => (await indices()).live;

/** All publications, the one that started last first. */
const history = async () => (await publicationHistory(installed.environment.store)).publications;
const states = async () => (await history()).map(({ state }) => state);

async function eventsOf(publication: string) {
  const { events } = await publicationDetails(installed.environment.store, publication);
  return events.filter(({ event }) => event !== 'queued').map(({ event }) => event);
}

const files = (date: string, count = 20) =>
  filesOf(installed.environment, date, { individual: nurses(count) });

const untilIdle = () =>
  eventually(
    'nothing waits or runs',
    async () => (await installed.queue.getJobCountByTypes('active', 'waiting')) === 0,
  );

describe('a worker', () => {
  beforeEach(() => published(installed.environment, '2026-10-20'));

  test('that gets SIGTERM during a load hands the publication back, and the next worker completes it', async () => {
    const directory = join(installed.environment.folder, 'many');
    const many = await writeSampleData({ directory, rows: MANY_ROWS, seed: 2, date: '2026-10-25' });
    const before = await indices();
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
    for (const id of children) expect(() => process.kill(id, 0)).toThrow('ESRCH');
    expect(await indices()).toEqual(before);

    const publication = (await history())[0]?.publication ?? '';
    const job = await installed.queue.getJob(publication);
    expect(await job?.getState()).toBe('waiting');
    expect(await eventsOf(publication)).toEqual(['reading', 'loading']);
    expect(await installed.queue.getDeduplicationJobId(PUBLISH_DEDUPLICATION_ID)).toBe(publication);

    await installed.startWorker(settings);
    const { code, stdout } = await publishing;
    expect(code).toBe(0);
    const result = liveResult.parse(JSON.parse(stdout));
    expect(result).toMatchObject({ publication, rows: MANY_ROWS });
    expect(await live()).toEqual([result.index]);
    const { body } = await installed.environment.client.count({ index: result.index });
    expect(body.count).toBeGreaterThanOrEqual(result.licenses);
    expect(await eventsOf(publication)).toEqual(['reading', 'loading', ...ALL_STEPS]);
  });

  test('waits until OpenSearch has found every index again, and writes its progress to the job', async () => {
    const { client, store } = installed.environment;
    const index = store.names.changes;
    const worker = await installed.startWorker();
    const filter = 'index.routing.allocation.include._name';
    await client.indices.delete({ index });
    const body = { settings: { [filter]: 'nowhere' } };
    await client.indices.create({ index, wait_for_active_shards: '0', body });
    const publishing = publish(installed, await files('2026-10-24'));
    await installed.at(/_cluster\/health/, () => undefined);
    // The first request has waited for the index in vain.
    await installed.at(/_cluster\/health/, () =>
      client.indices.putSettings({ index, body: { [filter]: null } }),
    );
    const { code, stdout } = await publishing;
    expect(code).toBe(0);
    // It has used no attempt up meanwhile.
    expect(worker.output().split(TAKEN)).toHaveLength(2);
    const { publication } = liveResult.parse(JSON.parse(stdout));
    const job = await installed.queue.getJob(publication);
    expect(publishProgress.parse(job?.progress)).toMatchObject({ step: 'cleaning up' });
    expect(worker.output()).toContain('"msg":"publication ended"');
  });

  test('fails a publication whose verification fails at every attempt, and the command exits 1', async () => {
    const worker = await installed.startWorker();
    const before = await indices();
    const { client, variables } = installed.environment;
    const forced = 'it must not help';
    const publishing = publishByCommand(variables, await files('2026-10-27'), '--force', forced);
    for (let attempts = 0; attempts < ATTEMPTS; attempts += 1) {
      await installed.at(REFRESH, (path) =>
        client.delete({ index: path.split('/')[1] ?? '', id: 'NUR/RN.900007' }),
      );
    }
    const reason = 'The index has 21 licenses, but 22 were sent.';
    const says = new RegExp(`^Attempt 1 failed: ${reason} .*Failed: ${reason}\n$`, 's');
    expect(await publishing).toMatchObject({ code: 1, stderr: expect.stringMatching(says) });
    expect(await indices()).toEqual(before);
    await eventually('the ledger says that it failed', async () => (await states())[0] === 'failed');
    expect((await history())[0]).toMatchObject({ forced, reasons: [reason] });
    expect(worker.output().split(TAKEN)).toHaveLength(ATTEMPTS + 1);
  });

  test('whose process pauses before its flip and resumes after a rollback cannot flip', async () => {
    const { environment } = installed;
    const worker = await installed.startWorker();
    const { index } = await published(environment, '2026-10-28');
    let stopped: number[] = [];
    const woken = installed.at(REFRESH, async () => {
      stopped = await childrenOf(worker.child.pid ?? 0);
      for (const child of stopped) process.kill(child, 'SIGSTOP');
      await published(environment, '2026-10-30');
      await rollBack(environment.store);
      for (const child of stopped) process.kill(child, 'SIGCONT');
    });
    const [paused] = await Promise.all([publish(installed, await files('2026-10-29')), woken]);
    expect(stopped).not.toEqual([]);
    expect(paused.code).toBe(2);
    const fenced = { state: 'refused', reasons: [expect.stringMatching(/^fenced: /)] };
    expect(JSON.parse(paused.stdout)).toMatchObject(fenced);
    await untilIdle();
    expect(await live()).toEqual([index]);
  });

  test('whose job Redis lost completes the publication or refuses it, and the command says so', async () => {
    /** Publishes, and deletes the queue's data when the load has started. */
    async function publishedWithoutJob(date: string, count: number) {
      const { config } = installed.environment;
      const lost = installed.at(BULK, async () => {
        const redis = new Redis(config.REDIS_URL);
        const keys = await redis.keys(`${queuePrefix(config.INDEX_PREFIX)}:*`);
        expect(keys.length).toBeGreaterThan(0);
        await redis.del(...keys);
        redis.disconnect();
      });
      const { code, stdout } = await publish(installed, await files(date, count));
      await lost;
      const publication = (await history())[0]?.publication ?? '';
      return { code, result: JSON.parse(stdout), publication };
    }
    await installed.startWorker();
    const { publication, code, result } = await publishedWithoutJob('2026-11-01', 60);
    expect([code, result]).toMatchObject([0, { publication, state: 'live', rows: 62, licenses: 62 }]);
    expect(await live()).toEqual([result.index]);

    const again = await publishedWithoutJob('2026-11-02', 50);
    const reasons = [expect.stringMatching(/^fewer_rows: 52 rows/)];
    expect(again.code).toBe(2);
    expect(again.result).toMatchObject({ state: 'refused', publication: again.publication, reasons });

    const next = await publish(installed, await files('2026-11-03', 60));
    expect(await live()).toEqual([liveResult.parse(JSON.parse(next.stdout)).index]);
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
      const paths = await files(date, 2000);
      const individual = await sourceAt(paths.individual);
      const business = await sourceAt(paths.business);
      const job = { publication, individual, business, accept: ['board_changed'] };
      await queue.add('publish', job, { jobId: publication });
      publications.push(publication);
    }
    await held;
    await untilIdle();
    const events = await readEvents(environment.store);
    const turns = events.filter(({ publication }) => publications.includes(publication));
    expect(turns.map(({ publication, event }) => [publications.indexOf(publication), event])).toEqual([
      ...ALL_STEPS.map((event) => [0, event]),
      ...ALL_STEPS.map((event) => [1, event]),
      [0, 'superseded'],
    ]);
    const taken = workers.map((worker) => worker.output().split(TAKEN).length - 1);
    expect(taken.reduce((sum, each) => sum + each, 0)).toBe(2);
  });
});

describe('a schedule', () => {
  async function scheduled(pattern: string): Promise<Record<string, string>> {
    const { individual, business } = await files('2026-11-20');
    return { DATASET_INDIVIDUAL: individual, DATASET_BUSINESS: business, PUBLISH_SCHEDULE: pattern };
  }

  test('publishes without a command, skips live files, and ends when the setting is removed', async () => {
    const { queue } = installed;
    const worker = await installed.startWorker(await scheduled('*/1 * * * * *'));
    expect(worker.output()).toContain('"msg":"publication scheduled"');
    await eventually('one is live and two are skipped', async () => (await states()).length > 3);
    expect((await states()).slice(-3)).toEqual(['skipped', 'skipped', 'live']);
    const ids = (await history()).map(({ publication }) => publication);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[a-z0-9]+scheduled$/);
    expect(await queue.getJobSchedulersCount()).toBe(1);
    await worker.stop();

    await installed.startWorker();
    expect(await queue.getJobSchedulersCount()).toBe(0);
    await untilIdle();
    const before = await states();
    await sleep(2500);
    expect(await states()).toEqual(before);
  });

  test('that is not a cron pattern makes the worker fail with one line', async () => {
    const { variables } = installed.environment;
    const { code, stdout, stderr } = await licenses(
      { ...variables, ...(await scheduled('99 99 * * *')) },
      'work',
    );
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^PUBLISH_SCHEDULE is "99 99 \* \* \*", but must be a cron pattern: [^\n]+\n$/);
    expect(await installed.queue.getJobSchedulersCount()).toBe(0);
  });
});

inLongFormOnly(() =>
  describe('licenses publish, without a worker,', () => {
    const NO_WORKER = 'No worker is running, so nothing is published yet. Start one: npx licenses work';

    /** Starts the command. */
    function publishing({ individual, business }: DatasetFiles): RunningProcess {
      const given = ['--individual', individual, '--business', business];
      return startScript('src/cli/main.ts', installed.environment.variables, 'publish', ...given);
    }

    async function codeOf({ child, ended }: RunningProcess): Promise<number | null> {
      await ended;
      return child.exitCode;
    }

    /** The process of the publication that a worker has begun. */
    async function childrenPublishing(worker: RunningProcess): Promise<number[]> {
      await worker.printed(TAKEN);
      return startedChildrenOf(worker.child.pid ?? 0);
    }

    test('says once that no worker is running, waits, and succeeds when one starts', async () => {
      const command = publishing(await files('2026-11-20'));
      await command.printed(NO_WORKER);
      await sleep(6000);
      expect(command.child.exitCode).toBeNull();
      await installed.startWorker();
      expect(await codeOf(command)).toBe(0);
      expect(command.output().split(NO_WORKER)).toHaveLength(2);
      expect(command.output()).toContain('Live: publication ');
    });

    test('ends on Ctrl-C without stopping a publication that a worker has started', async () => {
      const worker = await installed.startWorker();
      const command = publishing(await files('2026-11-20'));
      const children = await childrenPublishing(worker);
      for (const child of children) process.kill(child, 'SIGSTOP');
      command.child.kill('SIGINT');
      expect(await codeOf(command)).toBe(130);
      for (const child of children) process.kill(child, 'SIGCONT');
      expect(command.output()).toMatch(/Publication \w+ goes on\. See how it ends: licenses publications\./);
      await worker.printed('"msg":"publication ended"');
      expect(await states()).toEqual(['live']);
    });

    test('can publish other files once the lock of a killed worker has expired', async () => {
      const { REDIS_URL, INDEX_PREFIX } = installed.environment.config;
      const killed = await installed.startWorker();
      const left = publishing(await files('2026-11-20'));
      const children = await childrenPublishing(killed);
      await killed.kill();
      for (const child of children) process.kill(child, 'SIGKILL');
      left.child.kill('SIGKILL');

      const others = await files('2026-11-21');
      const busy = publishing(others);
      expect(await codeOf(busy)).toBe(2);
      expect(busy.output()).toMatch(/Publication \w+ of other files or with other options is under way/);

      const redis = new Redis(REDIS_URL);
      const locks = await redis.keys(`${queuePrefix(INDEX_PREFIX)}:*:lock`);
      expect(locks).toHaveLength(1);
      await redis.del(...locks);
      redis.disconnect();
      const other = publishing(others);
      await other.printed(NO_WORKER);
      await installed.startWorker();
      expect(await codeOf(other)).toBe(0);
      expect(await states()).toEqual(['live', 'failed']);
    });
  }),
);
