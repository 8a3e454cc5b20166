/** @room publishing */

import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { childrenOf } from '../../bench/usage.ts';
import { licenses, startScript } from '../../scripts/licenses-processes.ts';
import type { CommandResult } from '../../scripts/processes.ts';
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
import { countDocuments } from '../../src/storage/checked-search.ts';
import { startedChildrenOf } from '../support/children.ts';
import { eventually } from '../support/eventually.ts';
import { inLongFormOnly } from '../support/fault-form.ts';
import { filesOf, nurses, published } from '../support/publication-days.ts';
import { type DatasetFiles, publishByCommand } from '../support/publishing.ts';
import { type Installation, installation, publish } from '../support/worker-installation.ts';

/** Some bulk requests, so that a load has not ended when the first one is answered. */
const MANY = 8000;
const ATTEMPTS = PUBLISH_JOB_OPTIONS.attempts;

const liveResult = z.object({ publication: z.string(), index: z.string(), licenses: z.int() });

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

/** What a command said that has published. */
function liveIn({ code, stdout }: CommandResult) {
  expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ state: 'live' })]);
  return liveResult.parse(JSON.parse(stdout));
}

/** All publications, the one that started last first. */
const history = async () => (await publicationHistory(installed.environment.store)).publications;
const states = async () => (await history()).map(({ state }) => state);

async function eventsOf(publication: string) {
  const { events } = await publicationDetails(installed.environment.store, publication);
  return events.filter(({ event }) => event !== 'queued').map(({ event }) => event);
}

const files = (date: string, count = 20) =>
  filesOf(installed.environment, date, { individual: nurses(count) });

const jobs = () => installed.queue.getJobCountByTypes('active', 'waiting');
const untilIdle = () => eventually('nothing waits or runs', async () => (await jobs()) === 0);

/** Deletes what Redis has of the queue. @returns how many keys that were */
async function deleteOfQueue(keys: string): Promise<number> {
  const { REDIS_URL, INDEX_PREFIX } = installed.environment.config;
  const redis = new Redis(REDIS_URL);
  const deleted = await redis.del(await redis.keys(`${queuePrefix(INDEX_PREFIX)}:${keys}`));
  redis.disconnect();
  return deleted;
}

describe('a worker', () => {
  beforeEach(() => published(installed.environment, '2026-10-20'));

  test('that gets SIGTERM during a load hands the publication back, and the next worker completes it', async () => {
    const before = await indices();
    const worker = await installed.startWorker();
    let children: number[] = [];
    const held = installed.at(BULK, async () => {
      children = await childrenOf(worker.child.pid ?? 0);
      worker.child.kill('SIGTERM');
      await worker.printed('worker stopping');
      // It tells its process, which stops when OpenSearch has answered.
      await sleep(200);
    });
    const publishing = publish(installed, await files('2026-10-25', MANY));
    await held;
    await worker.ended;
    expect([worker.child.exitCode, children.length]).toEqual([0, 1]);
    for (const id of children) expect(() => process.kill(id, 0)).toThrow('ESRCH');
    expect(await indices()).toEqual(before);

    const publication = (await history())[0]?.publication ?? '';
    const job = await installed.queue.getJob(publication);
    expect(await job?.getState()).toBe('waiting');
    expect(await eventsOf(publication)).toEqual(['reading', 'loading']);
    expect(await installed.queue.getDeduplicationJobId(PUBLISH_DEDUPLICATION_ID)).toBe(publication);

    await installed.startWorker();
    const result = liveIn(await publishing);
    expect(result).toMatchObject({ publication, licenses: MANY + 2 });
    expect(await live()).toEqual([result.index]);
    expect(await countDocuments(installed.environment.client, result.index)).toBe(MANY + 2);
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
    const release = { index, body: { [filter]: null } };
    await installed.at(/_cluster\/health/, () => client.indices.putSettings(release));
    const { publication } = liveIn(await publishing);
    // It has used no attempt up meanwhile.
    expect(worker.output().split(TAKEN)).toHaveLength(2);
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

  test('whose job Redis lost completes the publication or refuses it, and the command says so', async () => {
    /** Publishes, and deletes the queue's data when the load has started. */
    async function publishedWithoutJob(date: string, count: number): Promise<CommandResult> {
      const lost = installed.at(BULK, async () => expect(await deleteOfQueue('*')).toBeGreaterThan(0));
      const [ended] = await Promise.all([publish(installed, await files(date, count)), lost]);
      return ended;
    }
    await installed.startWorker();
    const { index, ...result } = liveIn(await publishedWithoutJob('2026-11-01', 60));
    expect(result).toEqual({ publication: (await history())[0]?.publication, licenses: 62 });
    expect(await live()).toEqual([index]);

    const { code, stdout } = await publishedWithoutJob('2026-11-02', 50);
    const reasons = [expect.stringMatching(/^fewer_rows: 52 rows/)];
    const { publication } = (await history())[0] ?? {};
    expect([code, JSON.parse(stdout)]).toMatchObject([2, { state: 'refused', publication, reasons }]);
  });

  test('takes turns with a second worker: one publication at a time', async () => {
    const { environment, queue } = installed;
    const workers = [await installed.startWorker(), await installed.startWorker()];
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
      const { individual, business } = await files(date);
      const sources = { individual: await sourceAt(individual), business: await sourceAt(business) };
      await queue.add('publish', { publication, ...sources }, { jobId: publication });
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
    const printed = workers.map((worker) => worker.output());
    expect(printed.join().split(TAKEN)).toHaveLength(3);
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
    for (const { publication } of await history()) expect(publication).toMatch(/^[a-z0-9]+scheduled$/);
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
    const settings = { ...installed.environment.variables, ...(await scheduled('99 99 * * *')) };
    const says = /^PUBLISH_SCHEDULE is "99 99 \* \* \*", but must be a cron pattern: [^\n]+\n$/;
    const ended = await licenses(settings, 'work');
    expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(says) });
  });
});

inLongFormOnly(() =>
  test('other files can be published once the lock of a killed worker has expired', async () => {
    const { variables } = installed.environment;
    const publishing = ({ individual, business }: DatasetFiles) => {
      const given = ['--individual', individual, '--business', business];
      return startScript('src/cli/main.ts', variables, 'publish', ...given);
    };
    const killed = await installed.startWorker();
    const left = publishing(await files('2026-11-20'));
    await killed.printed(TAKEN);
    const children = await startedChildrenOf(killed.child.pid ?? 0);
    await killed.kill();
    for (const child of children) process.kill(child, 'SIGKILL');
    left.child.kill('SIGKILL');

    const others = await files('2026-11-21');
    const busy = /Publication \w+ of other files or with other options is under way/;
    const refused = { code: 2, output: expect.stringMatching(busy) };
    expect(await publishByCommand(variables, others)).toMatchObject(refused);
    expect(await deleteOfQueue('*:lock')).toBe(1);
    const other = publishing(others);
    await other.printed('No worker is running, so nothing is published yet. Start one: npx licenses work');
    await installed.startWorker();
    await other.ended;
    expect([other.child.exitCode, await states()]).toEqual([0, ['live', 'failed']]);
  }),
);
