import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { installDebianPackage } from './debian-packages.ts';
import { type RunningProcess, StartError, startProcess, waitUntilReady } from './processes.ts';
import { isInstalled } from './program-path.ts';

const READY_MS = 60_000;
const ANSWER_MS = 2_000;

/** The folder for the data of a local Redis. */
export function redisFolder(stateDir: string): string {
  return join(stateDir, 'redis');
}

/** Starts a Redis that only this machine can reach, and waits until it has loaded its data and answers. */
export async function startLocalRedis(
  stateDir: string,
  port: number,
  signal: AbortSignal,
): Promise<RunningProcess> {
  if (!isInstalled('redis-server') && !(await installDebianPackage('redis-server'))) {
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
  const redis = startProcess('Redis', 'redis-server', args, { logFile: join(stateDir, 'logs', 'redis.log') });
  const url = `redis://127.0.0.1:${port}`;
  return waitUntilReady(redis, () => answers(url), { deadlineMs: READY_MS, signal });
}

async function answers(url: string): Promise<boolean> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: ANSWER_MS,
    commandTimeout: ANSWER_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: null,
  });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    await redis.ping();
    return true;
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
}
