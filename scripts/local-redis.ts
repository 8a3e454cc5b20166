import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { installDebianPackage } from './debian-packages.ts';
import { type RunningProcess, StartError, startProcess, waitUntilReady } from './processes.ts';
import { isInstalled } from './program-path.ts';

const READY_MS = 60_000;
const ANSWER_MS = 2_000;

/** Where a local Redis keeps its data. */
export function redisFolder(stateDir: string): string {
  return join(stateDir, 'redis');
}

/**
 * Starts a Redis that only this machine can reach.
 *
 * @returns at once; `waitForRedis` says when it is ready
 */
export async function startLocalRedis(
  stateDir: string,
  port: number,
  report: (line: string) => void,
): Promise<RunningProcess> {
  if (!isInstalled('redis-server') && !(await installDebianPackage('redis-server', report))) {
    throw new StartError(
      'Redis is missing: install `redis-server` 7 or newer, or set REDIS_URL to one that runs.',
    );
  }
  const folder = redisFolder(stateDir);
  await mkdir(folder, { recursive: true });
  const settings = {
    port: String(port),
    bind: '127.0.0.1',
    dir: folder,
    appendonly: 'yes',
    'maxmemory-policy': 'noeviction',
    daemonize: 'no',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  return startProcess('Redis', 'redis-server', args, { logFile: join(stateDir, 'logs', 'redis.log') });
}

/** Waits until a started Redis has read its data and answers. */
export async function waitForRedis(redis: RunningProcess, url: string, signal: AbortSignal): Promise<void> {
  const answers = async () => (await redisProblem(url)) === undefined;
  await waitUntilReady(redis, answers, { deadlineMs: READY_MS, signal });
}

/** Why a Redis can't be used; `undefined` when it answers. */
export async function redisProblem(url: string): Promise<string | undefined> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: ANSWER_MS,
    commandTimeout: ANSWER_MS,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    retryStrategy: null,
  });
  let problem: unknown;
  redis.on('error', (error) => {
    problem = error;
  });
  try {
    await redis.connect();
    await redis.ping();
    return undefined;
  } catch (error) {
    const cause = problem ?? error;
    return cause instanceof Error ? cause.message : String(cause);
  } finally {
    redis.disconnect();
  }
}
