import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { licenses } from '../../scripts/licenses-processes.ts';
import { publicationHistory } from '../../src/publications/history.ts';
import { eventually } from '../support/eventually.ts';
import { filesOf } from '../support/publication-days.ts';
import type { DatasetFiles } from '../support/publishing.ts';
import { type Installation, installation } from '../support/worker-installation.ts';

describe('a schedule', () => {
  let installed: Installation;
  let files: DatasetFiles;
  beforeAll(async () => {
    installed = await installation();
    files = await filesOf(installed.environment, '2026-11-20');
  });
  afterEach(() => installed.stopWorkers());

  function scheduled(pattern: string): Record<string, string> {
    return {
      DATASET_INDIVIDUAL: files.individual,
      DATASET_BUSINESS: files.business,
      PUBLISH_SCHEDULE: pattern,
    };
  }

  async function states(): Promise<string[]> {
    return (await publicationHistory(installed.environment.store)).publications
      .map(({ state }) => state)
      .toReversed();
  }

  test('publishes without a command, skips live files, and ends when the setting is removed', async () => {
    const worker = await installed.startWorker(scheduled('*/1 * * * * *'));
    expect(worker.output()).toContain('"msg":"publication scheduled"');
    await eventually('one is live and two are skipped', async () => (await states()).length > 3);
    expect((await states()).slice(0, 3)).toEqual(['live', 'skipped', 'skipped']);
    const { publications } = await publicationHistory(installed.environment.store);
    expect(new Set(publications.map(({ publication }) => publication)).size).toBe(publications.length);
    for (const { publication } of publications) expect(publication).toMatch(/^[a-z0-9]+scheduled$/);
    expect(await installed.queue.getJobSchedulersCount()).toBe(1);
    await worker.stop();

    await installed.startWorker();
    expect(await installed.queue.getJobSchedulersCount()).toBe(0);
    await eventually(
      'nothing waits',
      async () => (await installed.queue.getJobCountByTypes('active', 'waiting')) === 0,
    );
    const before = await states();
    await sleep(2500);
    expect(await states()).toEqual(before);
  });

  test('that is not a cron pattern makes the worker fail with one line', async () => {
    const { variables } = installed.environment;
    const ended = await licenses({ ...variables, ...scheduled('99 99 * * *') }, 'work');
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(
      /^PUBLISH_SCHEDULE is "99 99 \* \* \*", but must be a cron pattern: [^\n]+\n$/,
    );
    expect(await installed.queue.getJobSchedulersCount()).toBe(0);
  });
});
