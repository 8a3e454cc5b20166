/** @room publishing @long */

import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { startScript, startWorker } from '../../scripts/licenses-processes.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
import { publicationHistory } from '../../src/publications/history.ts';
import { queuePrefix } from '../../src/publications/job.ts';
import { startedChildrenOf } from '../support/children.ts';
import { filesOf } from '../support/publication-days.ts';
import type { DatasetFiles } from '../support/publishing.ts';

describe('licenses publish, without a worker,', () => {
  const NO_WORKER = 'No worker is running, so nothing is published yet. Start one: npx licenses work';
  let environment: TestEnvironment;
  let started: RunningProcess[];

  beforeEach(async () => {
    environment = await testEnvironment();
    started = [];
  });
  afterEach(async () => {
    await Promise.all(started.map((each) => each.stop()));
    await environment.cleanUp();
  });

  /** Starts the command. */
  function publishing({ individual, business }: DatasetFiles): RunningProcess {
    const files = ['--individual', individual, '--business', business];
    const command = startScript('src/cli/main.ts', environment.variables, 'publish', ...files);
    started.push(command);
    return command;
  }

  async function worker(): Promise<RunningProcess> {
    const running = await startWorker(environment.variables);
    started.push(running);
    return running;
  }

  async function codeOf({ child, ended }: RunningProcess): Promise<number | null> {
    await ended;
    return child.exitCode;
  }

  async function states(): Promise<string[]> {
    const { publications } = await publicationHistory(environment.store);
    return publications.map(({ state }) => state);
  }

  test('says once that no worker is running, waits, and succeeds when one starts', async () => {
    const command = publishing(await filesOf(environment, '2026-11-20'));
    await command.printed(NO_WORKER);
    await sleep(6000);
    expect(command.child.exitCode).toBeNull();
    await worker();
    expect(await codeOf(command)).toBe(0);
    expect(command.output().split(NO_WORKER)).toHaveLength(2);
    expect(command.output()).toContain('Live: publication ');
  });

  test('ends on Ctrl-C without stopping a publication that a worker has started', async () => {
    const running = await worker();
    const command = publishing(await filesOf(environment, '2026-11-20'));
    await running.printed('"msg":"publishing"');
    const children = await startedChildrenOf(running.child.pid ?? 0);
    for (const child of children) process.kill(child, 'SIGSTOP');
    command.child.kill('SIGINT');
    expect(await codeOf(command)).toBe(130);
    for (const child of children) process.kill(child, 'SIGCONT');
    expect(command.output()).toMatch(/Publication \w+ goes on\. See how it ends: licenses publications\./);
    await running.printed('"msg":"publication ended"');
    expect(await states()).toEqual(['live']);
  });

  test('can publish other files once the lock of a killed worker has expired', async () => {
    const killed = await worker();
    const left = publishing(await filesOf(environment, '2026-11-20'));
    await killed.printed('"msg":"publishing"');
    const children = await startedChildrenOf(killed.child.pid ?? 0);
    await killed.kill();
    for (const child of children) process.kill(child, 'SIGKILL');
    left.child.kill('SIGKILL');

    const files = await filesOf(environment, '2026-11-21');
    const busy = publishing(files);
    expect(await codeOf(busy)).toBe(2);
    expect(busy.output()).toMatch(/Publication \w+ of other files or with other options is under way/);

    const redis = new Redis(environment.config.REDIS_URL);
    const locks = await redis.keys(`${queuePrefix(environment.config.INDEX_PREFIX)}:*:lock`);
    expect(locks).toHaveLength(1);
    await redis.del(...locks);
    redis.disconnect();
    const other = publishing(files);
    await other.printed(NO_WORKER);
    await worker();
    expect(await codeOf(other)).toBe(0);
    expect(await states()).toEqual(['live', 'failed']);
  });
});
