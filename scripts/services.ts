import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Config, readConfig } from '../src/config.ts';
import { openSearchHosts } from '../src/storage/errors.ts';
import { openSearchClient } from '../src/storage/store.ts';
import { dockerAnswers, startDockerServers } from './docker-servers.ts';
import { startLocalOpenSearch, waitForOpenSearch } from './local-opensearch.ts';
import { redisProblem, startLocalRedis, waitForRedis } from './local-redis.ts';
import { freePort } from './ports.ts';
import { type RunningProcess, StartError } from './processes.ts';
import {
  type Addresses,
  checkoutName,
  claimServers,
  forgetServers,
  isRunning,
  recordServers,
  releaseServers,
  runningServers,
  type ServerName,
} from './shared-servers.ts';

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
export interface ServicesOptions {
  /** The settings; `process.env` when left out. */
  readonly environment?: NodeJS.ProcessEnv;
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
  { environment = process.env, signal = new AbortController().signal, isShortLived = false }: ServicesOptions,
  report: (line: string) => void,
): Promise<Services> {
  const config = readConfig(environment);
  const wanted: ServerName[] = [];
  if (!isSet(environment.REDIS_URL)) wanted.push('redis');
  else await checkGivenRedis(config);
  if (!isSet(environment.OPENSEARCH_URL)) wanted.push('opensearch');
  else await checkGivenOpenSearch(config);
  const stateDir = resolve(config.STATE_DIR);
  const task = { wanted, stateDir, environment, signal, isShortLived, report };
  const servers = wanted.length === 0 ? NONE : ((await borrowedServers(task)) ?? (await ownServers(task)));
  return {
    ...servers,
    opensearch: servers.addresses.opensearch ?? config.OPENSEARCH_URL,
    redis: servers.addresses.redis ?? config.REDIS_URL,
  };
}

interface Task extends Required<ServicesOptions> {
  readonly wanted: readonly ServerName[];
  readonly stateDir: string;
  readonly report: (line: string) => void;
}

interface Servers {
  readonly addresses: Addresses;
  readonly lost: Promise<string>;
  stop(): Promise<void>;
}

const never = new Promise<never>(() => {});

const NONE: Servers = { addresses: {}, lost: never, stop: async () => {} };

/** Those of another command of this checkout; `undefined` once the right to start them is ours. */
async function borrowedServers({ wanted, stateDir, signal, report }: Task): Promise<Servers | undefined> {
  let isReported = false;
  while (true) {
    signal.throwIfAborted();
    const owner = await claimServers(stateDir);
    if (owner === undefined) return undefined;

    const addresses = await runningServers(stateDir, wanted);
    if (addresses !== undefined) {
      report(`Using the OpenSearch and Redis that process ${owner} of this checkout runs.`);
      return { addresses, ...endingWith(owner) };
    }
    if (!isReported)
      report(`Waiting for process ${owner} of this checkout, which starts or stops its servers …`);
    isReported = true;
    await sleep(500);
  }
}

function endingWith(owner: number): Pick<Servers, 'lost' | 'stop'> {
  const { promise, resolve: end } = Promise.withResolvers<string>();
  const timer = setInterval(() => {
    if (!isRunning(owner)) end(`Process ${owner}, which ran OpenSearch and Redis for this one, has ended.`);
  }, 1000);
  return { lost: promise, stop: async () => clearInterval(timer) };
}

/** Starts them; the claim on this checkout's servers is ours until they have been stopped. */
async function ownServers(task: Task): Promise<Servers> {
  const { stateDir } = task;
  try {
    await earlierServersGone(task);
    const servers = (await inContainers(task)) ?? (await asLocalProcesses(task));
    await recordServers(stateDir, servers.addresses);
    return {
      ...servers,
      async stop() {
        await forgetServers(stateDir);
        await servers.stop();
        await releaseServers(stateDir);
      },
    };
  } catch (error) {
    await releaseServers(stateDir);
    throw error;
  }
}

/** A command that was killed leaves servers that are still ending: two must not write to the same data. */
async function earlierServersGone({ wanted, stateDir, signal, report }: Task): Promise<void> {
  const deadline = Date.now() + STOP_MS;
  for (const name of wanted) {
    while ((await runningServers(stateDir, [name])) !== undefined) {
      signal.throwIfAborted();
      if (Date.now() > deadline) {
        throw new StartError(
          `The ${name} of an earlier run still runs at the address in services.json: end it.`,
        );
      }
      report(`Waiting for the ${name} of an earlier run to end …`);
      await sleep(1000);
    }
  }
  await forgetServers(stateDir);
}

async function inContainers({ wanted, stateDir, signal, report }: Task): Promise<Servers | undefined> {
  if (!(await dockerAnswers())) return undefined;
  report('Starting OpenSearch and Redis with docker compose …');
  try {
    const { addresses, stop } = await startDockerServers(stateDir, wanted, signal);
    return { addresses, stop, lost: never };
  } catch (error) {
    signal.throwIfAborted();
    report(`${error instanceof Error ? error.message : error}\nStarting them as local processes instead.`);
    return undefined;
  }
}

async function asLocalProcesses({ wanted, report, ...task }: Task): Promise<Servers> {
  const { stateDir, signal } = task;
  const started: RunningProcess[] = [];
  let stopping = false;
  const stop = async () => {
    stopping = true;
    for (const server of started.toReversed()) await server.stop(STOP_MS);
  };
  const addresses: Addresses = {};
  try {
    if (wanted.includes('redis')) {
      report('Starting Redis …');
      const redisPort = await freePort();
      addresses.redis = `redis://127.0.0.1:${redisPort}`;
      const redis = await startLocalRedis(stateDir, redisPort, report);
      started.push(redis);
      await waitForRedis(redis, addresses.redis, signal);
    }
    if (wanted.includes('opensearch')) {
      report('Starting OpenSearch …');
      const httpPort = await freePort();
      addresses.opensearch = `http://127.0.0.1:${httpPort}`;
      const clusterName = checkoutName(stateDir);
      const transportPort = await freePort();
      const opensearch = await startLocalOpenSearch({
        ...task,
        report,
        clusterName,
        httpPort,
        transportPort,
      });
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

function isSet(value: string | undefined): boolean {
  return value !== undefined && value.trim() !== '';
}
