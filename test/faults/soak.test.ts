/** @room soak @long */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { residentMebibytes } from '../../bench/usage.ts';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { atEndOfTestFile } from '../../scripts/clean-up.ts';
import { testEnvironment } from '../../scripts/environment.ts';
import { SCRIPTS, startApi, startScript, startWorker } from '../../scripts/licenses-processes.ts';
import { apiClient, waitForLive } from '../support/api.ts';
import { sendRoster } from '../support/rosters.ts';
import { HIGH_LIMITS } from '../support/service.ts';

const MINUTES = 60;
const ROWS = 20_000;
/** The live publication changes this often. */
const PUBLISH_EVERY_MINUTES = 4;
const CALLERS = 4;
/** What a process may hold at the end beyond what it held after the first quarter. */
const MAY_GROW = { mebibytes: 60, descriptors: 20, redisKeys: 60 };

type Sample = Record<keyof typeof MAY_GROW, number>;

test(
  'an hour of lookups and publications leaves nothing behind',
  async () => {
    const environment = await testEnvironment(HIGH_LIMITS);
    const { config, variables, folder } = environment;
    const worker = await startWorker(variables);
    const api = await startApi(variables);
    const pids = [worker.child.pid ?? 0, api.child.pid ?? 0];
    const redis = new Redis(config.REDIS_URL);
    atEndOfTestFile(async () => redis.disconnect());
    const rest = await apiClient(environment);
    const days = ['2026-11-20', '2026-11-21'];
    const files = await Promise.all(
      days.map((date, seed) => writeSampleData({ directory: join(folder, date), rows: ROWS, date, seed })),
    );

    let published = 0;
    /** Publishes without a time limit of its own, since a busy machine takes minutes. */
    async function publish(): Promise<void> {
      const { individual = '', business = '' } = files[published % files.length] ?? {};
      const parameters = ['--individual', individual, '--business', business, '--force', 'the next day'];
      const command = startScript(SCRIPTS.licenses, variables, 'publish', ...parameters);
      await command.ended;
      if (command.child.exitCode !== 0) throw new Error(command.output());
      published += 1;
      await waitForLive(environment);
    }

    let answered = 0;
    let busy = 0;
    const wrong: string[] = [];
    async function callUntil(end: number): Promise<void> {
      const board = 'Nursing Board';
      while (Date.now() < end) {
        const license_number = `RN.${100_000 + (answered % 5000)}`;
        const answers = [
          await rest.verify({ board, license_number }),
          await rest.get('/api/v1/lookup/boards'),
          await sendRoster(rest, { board, items: [{ license_number }, { last_name: 'Smith' }] }),
          await rest.callTool('verify_license', { board, license_number }),
          await rest.get(`/?q=${license_number}`),
        ];
        answered += answers.length;
        for (const { status, text } of answers) {
          if (status === 503) busy += 1;
          else if ((status !== 200 && status !== 404) || text.includes('"error":{"code"'))
            wrong.push(`${status} ${text.slice(0, 200)}`);
        }
        await sleep(50);
      }
    }

    async function sampled(): Promise<Sample> {
      const open = await Promise.all(pids.map(async (pid) => (await readdir(`/proc/${pid}/fd`)).length));
      return {
        mebibytes: await residentMebibytes(pids),
        descriptors: open.reduce((sum, each) => sum + each, 0),
        redisKeys: await redis.dbsize(),
      };
    }

    const samples: Sample[] = [];
    async function publishUntil(end: number): Promise<void> {
      for (let minute = 1; Date.now() < end; minute += 1) {
        await sleep(60_000);
        if (minute % PUBLISH_EVERY_MINUTES === 0) await publish();
        samples.push(await sampled());
      }
    }

    await publish();
    const end = Date.now() + MINUTES * 60_000;
    await Promise.all([publishUntil(end), ...Array.from({ length: CALLERS }, () => callUntil(end))]);
    expect(wrong).toEqual([]);
    // A machine that does much else lets a few searches take too long.
    expect(busy).toBeLessThan(answered / 100);
    const quarter = Math.floor(samples.length / 4);
    for (const key of ['mebibytes', 'descriptors', 'redisKeys'] as const) {
      const before = median(samples.slice(quarter, 2 * quarter).map((sample) => sample[key]));
      const after = median(samples.slice(-quarter).map((sample) => sample[key]));
      expect([key, after < before + MAY_GROW[key], before, after]).toEqual([key, true, before, after]);
    }
  },
  (MINUTES + 10) * 60_000,
);

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;
