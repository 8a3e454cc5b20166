import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type Config, localServicesPath, readConfig } from '../src/config.ts';
import { openSearchHosts } from '../src/storage/errors.ts';
import { openSearchClient } from '../src/storage/store.ts';
import { type Addresses, type ServerName, startDockerServers } from './docker-servers.ts';
import { clusterNameAt, startLocalOpenSearch, waitForOpenSearch } from './local-opensearch.ts';
import { redisProblem, startLocalRedis, waitForRedis } from './local-redis.ts';
import { freePort } from './ports.ts';
import { type RunningProcess, StartError } from './processes.ts';

const STOP_MS = 20_000;
const ANSWER_MS = 5_000;

/** Where OpenSearch and Redis answer. */
export interface Services {
  readonly opensearch: string;
  readonly redis: string;
  /** Resolves, in words, when one of them ends although nobody stopped it. */
  readonly lost: Promise<string>;
  /** Ends what was started for this, and nothing else. */
  stop(): Promise<void>;
}

/** For whom the servers are started. */
interface ServicesOptions {
  /** Ends a start that is under way. */
  readonly signal?: AbortSignal;
  /** Whether they serve for some minutes only, as for tests. */
  readonly isShortLived?: boolean;
}

/**
 * Makes OpenSearch and Redis available: at the addresses given in the environment, else those that another
 * command of this checkout runs, else in containers, else as local processes under STATE_DIR.
 *
 * @param report called with a line for each step that takes time
 * @throws {StartError} with what to do, after all that it started has been stopped
 */
export async function startServices(
  { signal = new AbortController().signal, isShortLived = false }: ServicesOptions,
  report: (line: string) => void,
): Promise<Services> {
  const config = readConfig();
  const wanted: ServerName[] = [];
  if (!isSet('REDIS_URL')) wanted.push('redis');
  else await checkGivenRedis(config);
  if (!isSet('OPENSEARCH_URL')) wanted.push('opensearch');
  else await checkGivenOpenSearch(config);
  const stateDir = resolve(config.STATE_DIR);
  // Other checkouts' servers are not mistaken for ours.
  const name = `licenses-${createHash('sha256').update(stateDir).digest('hex').slice(0, 12)}`;
  const servers =
    wanted.length === 0 ? NONE : await serversFor({ wanted, stateDir, name, signal, isShortLived, report });
  return {
    ...servers,
    opensearch: servers.addresses.opensearch ?? config.OPENSEARCH_URL,
    redis: servers.addresses.redis ?? config.REDIS_URL,
  };
}

interface Task extends Required<ServicesOptions> {
  readonly wanted: readonly ServerName[];
  readonly stateDir: string;
  /** What this checkout's servers, and the claim on them, are called. */
  readonly name: string;
  readonly report: (line: string) => void;
}

interface Servers {
  readonly addresses: Addresses;
  readonly lost: Promise<string>;
  stop(): Promise<void>;
}

const never = new Promise<never>(() => {});

const NONE: Servers = { addresses: {}, lost: never, stop: async () => {} };

/** Those of another command of this checkout, or our own once no other has the claim. */
async function serversFor(task: Task): Promise<Servers> {
  const { wanted, stateDir, name, signal, report } = task;
  let isReported = false;
  while (true) {
    signal.throwIfAborted();
    const claim = await claimed(name);
    if (claim !== undefined) return ownServers(task, claim);
    const addresses = recordedServers(stateDir);
    if (wanted.every((each) => addresses[each] !== undefined)) {
      report('Using the OpenSearch and Redis that another command of this checkout runs.');
      return { addresses, ...endingWithClaim(name) };
    }
    if (!isReported) report('Waiting for another command of this checkout to start or stop its servers …');
    isReported = true;
    await sleep(500);
  }
}

/**
 * The claim on this checkout's servers: an abstract socket, which one process can have, and which the kernel frees
 * when that process ends, however it ends.
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

/** Starts them. The claim is ours until they have been stopped. */
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

const addressRecord = z.object({ opensearch: z.string().exactOptional(), redis: z.string().exactOptional() });

/** Where the servers of this checkout answer, as their command has written down for the others. */
function recordedServers(stateDir: string): Addresses {
  try {
    return addressRecord.parse(JSON.parse(readFileSync(localServicesPath(stateDir), 'utf8')));
  } catch {
    return {};
  }
}

/** A command that was killed leaves servers that are still ending: two must not write to the same data. */
async function earlierServersGone({ stateDir, name, signal, report }: Task): Promise<void> {
  const { opensearch } = recordedServers(stateDir);
  await rm(localServicesPath(stateDir), { force: true });
  const deadline = Date.now() + STOP_MS;
  while (opensearch !== undefined && (await clusterNameAt(opensearch)) === name) {
    signal.throwIfAborted();
    if (Date.now() > deadline) {
      throw new StartError(`The OpenSearch of an earlier run still runs at ${opensearch}: end it.`);
    }
    report('Waiting for the OpenSearch of an earlier run to end …');
    await sleep(1000);
  }
}

async function inContainers({ wanted, name, signal, report }: Task): Promise<Servers | undefined> {
  report('Starting OpenSearch and Redis …');
  try {
    const servers = await startDockerServers(name, wanted, signal);
    return servers && { ...servers, lost: never };
  } catch (error) {
    signal.throwIfAborted();
    report(`${error instanceof Error ? error.message : error}\nStarting them as local processes instead.`);
    return undefined;
  }
}

async function asLocalProcesses({ wanted, name: clusterName, ...task }: Task): Promise<Servers> {
  const { stateDir, signal, report } = task;
  const started: RunningProcess[] = [];
  let stopping = false;
  const stop = async () => {
    stopping = true;
    for (const server of started.toReversed()) await server.stop(STOP_MS);
  };
  const addresses: Addresses = {};
  try {
    if (wanted.includes('redis')) {
      const port = await freePort();
      addresses.redis = `redis://127.0.0.1:${port}`;
      const redis = await startLocalRedis(stateDir, port, report);
      started.push(redis);
      await waitForRedis(redis, addresses.redis, signal);
    }
    if (wanted.includes('opensearch')) {
      const [httpPort, transportPort] = [await freePort(), await freePort()];
      addresses.opensearch = `http://127.0.0.1:${httpPort}`;
      const opensearch = await startLocalOpenSearch({ ...task, clusterName, httpPort, transportPort });
      started.push(opensearch);
      await waitForOpenSearch(opensearch, addresses.opensearch, clusterName, signal);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const ends = started.map(async (server) => {
    const how = await server.ended;
    return stopping ? never : `${server.name} has ended (${how}). Its last lines:\n${server.lastLines()}`;
  });
  return { addresses, stop, lost: Promise.race([never, ...ends]) };
}

async function checkGivenOpenSearch(config: Config): Promise<void> {
  const client = openSearchClient(config, ANSWER_MS);
  try {
    await client.info();
  } catch (error) {
    throw unreachable('OPENSEARCH_URL', openSearchHosts(config), error instanceof Error ? error.message : '');
  } finally {
    await client.close();
  }
}

async function checkGivenRedis(config: Config): Promise<void> {
  const problem = await redisProblem(config.REDIS_URL);
  if (problem !== undefined) throw unreachable('REDIS_URL', new URL(config.REDIS_URL).host, problem);
}

/** The address may hold a password: only host and port are shown. */
function unreachable(setting: string, host: string, problem: string): StartError {
  return new StartError(
    `${setting} is set, but nothing usable answers at ${host} (${problem}): start that server, or unset ${setting} to have one started here.`,
  );
}

function isSet(setting: 'OPENSEARCH_URL' | 'REDIS_URL'): boolean {
  return (process.env[setting] ?? '').trim() !== '';
}
