import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { localServicesPath } from '../src/config.ts';
import { clusterNameAt } from './local-opensearch.ts';
import { redisDataFolder, redisFolder } from './local-redis.ts';

/** The servers a checkout needs. */
export type ServerName = 'opensearch' | 'redis';

/** Where servers answer. */
export type Addresses = Partial<Record<ServerName, string>>;

const REDIS_FOLDER_IN_CONTAINER = '/data';

/** A name for what this checkout starts: other checkouts' servers are not mistaken for ours. */
export function checkoutName(stateDir: string): string {
  return `licenses-${createHash('sha256').update(resolve(stateDir)).digest('hex').slice(0, 12)}`;
}

const record = z.object({ opensearch: z.string().optional(), redis: z.string().optional() });

/** Writes down where the started servers answer, for the other commands of this checkout. */
export async function recordServers(stateDir: string, addresses: Addresses): Promise<void> {
  const path = localServicesPath(stateDir);
  await writeFile(`${path}.new`, `${JSON.stringify(addresses, undefined, 2)}\n`);
  await rename(`${path}.new`, path);
}

/** Undoes `recordServers`. */
export async function forgetServers(stateDir: string): Promise<void> {
  await rm(localServicesPath(stateDir), { force: true });
}

/**
 * The servers that another command of this checkout runs.
 *
 * @returns `undefined` unless all that are wanted are written down, answer and are this checkout's own
 */
export async function runningServers(
  stateDir: string,
  wanted: readonly ServerName[],
): Promise<Addresses | undefined> {
  const written = await readRecord(stateDir);
  const found: Addresses = {};
  for (const name of wanted) {
    const url = written[name];
    if (url === undefined || !(await isOurs[name](url, stateDir))) return undefined;
    found[name] = url;
  }
  return found;
}

const isOurs: Record<ServerName, (url: string, stateDir: string) => Promise<boolean>> = {
  opensearch: async (url, stateDir) => (await clusterNameAt(url)) === checkoutName(stateDir),
  redis: async (url, stateDir) => {
    const folder = await redisDataFolder(url);
    return folder === redisFolder(stateDir) || folder === REDIS_FOLDER_IN_CONTAINER;
  },
};

async function readRecord(stateDir: string): Promise<Addresses> {
  try {
    const { opensearch, redis } = record.parse(
      JSON.parse(await readFile(localServicesPath(stateDir), 'utf8')),
    );
    return { ...(opensearch && { opensearch }), ...(redis && { redis }) };
  } catch {
    return {};
  }
}

/**
 * Claims the right to run this checkout's servers, which one process can have at a time.
 *
 * @returns the id of the process that has it already, or `undefined` when it is now ours
 */
export async function claimServers(stateDir: string): Promise<number | undefined> {
  await mkdir(stateDir, { recursive: true });
  const claim = claimPath(stateDir);
  const own = `${claim}.${process.pid}`;
  await writeFile(own, `${process.pid} ${startTime(process.pid)}`);
  try {
    await link(own, claim);
    return undefined;
  } catch {
    const [pid = '', started = ''] = (await readFile(claim, 'utf8').catch(() => '')).split(' ');
    if (Number(pid) > 0 && isRunning(Number(pid)) && startTime(Number(pid)) === started) return Number(pid);
    await rm(claim, { force: true });
    return claimServers(stateDir);
  } finally {
    await rm(own, { force: true });
  }
}

/** Gives the claim back. */
export async function releaseServers(stateDir: string): Promise<void> {
  await rm(claimPath(stateDir), { force: true });
}

/** Whether a process with this id exists. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function claimPath(stateDir: string): string {
  return join(stateDir, 'services.lock');
}

/** When a process started: ids are used again, pairs of id and time are not. Empty where there is no /proc. */
function startTime(pid: number): string {
  try {
    const [, fields = ''] = /\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return fields.split(' ')[19] ?? '';
  } catch {
    return '';
  }
}
