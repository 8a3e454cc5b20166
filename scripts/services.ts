import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { localServicesPath, readConfig } from '../src/config.ts';
import { type Addresses, type ServerName, startDockerServers } from './docker-servers.ts';
import { clusterNameAt, shortLivedFolder, startLocalOpenSearch } from './local-opensearch.ts';
import { startLocalRedis } from './local-redis.ts';
import { freePort } from './ports.ts';
import { endInWords, print, type RunningProcess, StartError } from './processes.ts';

const STOP_MS = 20_000;

/** The addresses of OpenSearch and Redis. */
export interface Services {
  readonly opensearch: string;
  readonly redis: string;
  /** Resolves with a description when one of the servers ends unexpectedly. */
  readonly lost: Promise<string>;
  /** Stops only the servers that were started for this command. */
  stop(): Promise<void>;
}

interface ServicesOptions {
  /** Aborts a start that is under way. */
  readonly signal?: AbortSignal;
  /** Whether the servers are needed for some minutes only, as for tests. */
  readonly isShortLived?: boolean;
}

/**
 * Makes OpenSearch and Redis available. In order of preference: the addresses in the environment, the servers that
 * another command of this checkout runs, containers, local processes under STATE_DIR.
 *
 * @throws {StartError} with what to do, after stopping everything that was started
 */
export async function startServices({
  signal = new AbortController().signal,
  isShortLived = false,
}: ServicesOptions): Promise<Services> {
  const config = readConfig();
  const wanted: ServerName[] = [];
  if (isMissing('REDIS_URL')) wanted.push('redis');
  if (isMissing('OPENSEARCH_URL')) wanted.push('opensearch');
  const stateDir = resolve(config.STATE_DIR);
  // The name is unique for each checkout, so that servers of other checkouts are not used by mistake.
  const name = `licenses-${createHash('sha256').update(stateDir).digest('hex').slice(0, 12)}`;
  const servers =
    wanted.length === 0 ? NONE : await serversFor({ wanted, stateDir, name, signal, isShortLived });
  return {
    ...servers,
    opensearch: servers.addresses.opensearch ?? config.OPENSEARCH_URL,
    redis: servers.addresses.redis ?? config.REDIS_URL,
  };
}

interface Task extends Required<ServicesOptions> {
  readonly wanted: readonly ServerName[];
  readonly stateDir: string;
  /** The name of this checkout's servers and of the claim on them. */
  readonly name: string;
}

interface Servers {
  readonly addresses: Addresses;
  readonly lost: Promise<string>;
  stop(): Promise<void>;
}

const never = new Promise<never>(() => {});

const NONE: Servers = { addresses: {}, lost: never, stop: async () => {} };

/** The servers of another command of this checkout, or our own once no other command holds the claim. */
async function serversFor(task: Task): Promise<Servers> {
  const { wanted, stateDir, name, signal } = task;
  let isReported = false;
  while (true) {
    signal.throwIfAborted();
    const claim = await claimed(name);
    if (claim !== undefined) return ownServers(task, claim);
    const addresses = recordedServers(stateDir);
    if (wanted.every((each) => addresses[each] !== undefined)) {
      print('Using the OpenSearch and Redis that another command of this checkout runs.');
      return { addresses, ...endingWithClaim(name) };
    }
    if (!isReported) print('Waiting for another command of this checkout to start or stop its servers …');
    isReported = true;
    await sleep(500);
  }
}

/**
 * The claim on this checkout's servers. It is an abstract socket, which only one process can hold; the kernel frees it
 * however that process ends.
 */
async function claimed(name: string): Promise<Server | undefined> {
  const claim = createServer((follower) => follower.unref()).listen(`\0${name}`);
  claim.unref();
  return once(claim, 'listening').then(
    () => claim,
    () => undefined,
  );
}

function endingWithClaim(name: string): Pick<Servers, 'lost' | 'stop'> {
  const { promise: lost, resolve: end } = Promise.withResolvers<string>();
  const owner = connect(`\0${name}`);
  owner.on('error', () => undefined);
  owner.on('close', () => end('The command that ran OpenSearch and Redis for this one has ended.'));
  return { lost, stop: async () => void owner.destroy() };
}

/** Starts the servers. The claim is held until they have been stopped. */
async function ownServers(task: Task, claim: Server): Promise<Servers> {
  const record = localServicesPath(task.stateDir);
  try {
    await earlierServersGone(task);
    const servers = (await inContainers(task)) ?? (await asLocalProcesses(task));
    await mkdir(task.stateDir, { recursive: true });
    await writeFile(`${record}.new`, `${JSON.stringify(servers.addresses, undefined, 2)}\n`);
    await rename(`${record}.new`, record);
    return {
      ...servers,
      async stop() {
        await rm(record, { force: true });
        await servers.stop();
        claim.close();
      },
    };
  } catch (error) {
    claim.close();
    throw error;
  }
}

const addressRecord = z.object({
  opensearch: z.string().exactOptional(),
  redis: z.string().exactOptional(),
  api: z.string().exactOptional(),
});

/** Records the API's address for other commands of this checkout. @returns a function that removes the record */
export async function recordApi(stateDir: string, api: string): Promise<() => Promise<void>> {
  const path = localServicesPath(stateDir);
  const write = async (addresses: object) => writeFile(path, `${JSON.stringify(addresses, undefined, 2)}\n`);
  await mkdir(resolve(stateDir), { recursive: true });
  await write({ ...recordedServers(stateDir), api });
  return async () => {
    const { api: _, ...servers } = recordedServers(stateDir);
    await (Object.keys(servers).length > 0 ? write(servers) : rm(path, { force: true }));
  };
}

/** The addresses that the running command of this checkout has recorded. */
function recordedServers(stateDir: string): Addresses & { api?: string } {
  try {
    return addressRecord.parse(JSON.parse(readFileSync(localServicesPath(stateDir), 'utf8')));
  } catch {
    return {};
  }
}

/** Waits until servers left by a killed command have ended, because two servers must not write to the same data. */
async function earlierServersGone({ stateDir, name, signal }: Task): Promise<void> {
  const { opensearch } = recordedServers(stateDir);
  await rm(localServicesPath(stateDir), { force: true });
  const deadline = Date.now() + STOP_MS;
  while (opensearch !== undefined && (await clusterNameAt(opensearch)) === name) {
    signal.throwIfAborted();
    if (Date.now() > deadline) {
      throw new StartError(`The OpenSearch of an earlier run still runs at ${opensearch}: end it.`);
    }
    print('Waiting for the OpenSearch of an earlier run to end …');
    await sleep(1000);
  }
}

async function inContainers({ wanted, name, signal }: Task): Promise<Servers | undefined> {
  print('Starting OpenSearch and Redis …');
  try {
    const servers = await startDockerServers(name, wanted, signal);
    return servers && { ...servers, lost: never };
  } catch (error) {
    signal.throwIfAborted();
    print(`${error instanceof Error ? error.message : error}\nStarting them as local processes instead.`);
    return undefined;
  }
}

async function asLocalProcesses({ wanted, name: clusterName, ...task }: Task): Promise<Servers> {
  const { stateDir, signal, isShortLived } = task;
  // A killed command leaves its folder behind.
  const folder = isShortLived ? join(await shortLivedFolder(), clusterName) : join(stateDir, 'opensearch');
  if (isShortLived) await rm(folder, { recursive: true, force: true });
  const started: RunningProcess[] = [];
  let stopping = false;
  const stop = async () => {
    stopping = true;
    for (const server of started.toReversed()) await server.stop(STOP_MS);
    if (isShortLived) await rm(folder, { recursive: true, force: true });
  };
  const addresses: Addresses = {};
  try {
    if (wanted.includes('redis')) {
      const port = await freePort();
      addresses.redis = `redis://127.0.0.1:${port}`;
      started.push(await startLocalRedis(stateDir, port, signal));
    }
    if (wanted.includes('opensearch')) {
      const [httpPort, transportPort] = [await freePort(), await freePort()];
      addresses.opensearch = `http://127.0.0.1:${httpPort}`;
      started.push(await startLocalOpenSearch({ ...task, folder, clusterName, httpPort, transportPort }));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const ends = started.map(async (server) => {
    const end = await endInWords(server);
    return stopping ? never : end;
  });
  return { addresses, stop, lost: Promise.race([never, ...ends]) };
}

function isMissing(setting: 'OPENSEARCH_URL' | 'REDIS_URL'): boolean {
  return (process.env[setting] ?? '').trim() === '';
}
