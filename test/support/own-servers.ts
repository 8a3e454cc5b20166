import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { startLocalOpenSearch, waitForOpenSearch } from '../../scripts/local-opensearch.ts';
import { redisFolder, startLocalRedis, waitForRedis } from '../../scripts/local-redis.ts';
import { freePort } from '../../scripts/ports.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
import { readConfig } from '../../src/config.ts';

const START_WITHIN_MS = 240_000;
const STOP_MS = 20_000;
const HEAP_MEGABYTES = 512;

/** A server that a test has for itself, so that it may kill it. It comes back on the same port. */
export interface OwnServer {
  readonly url: string;
  /** SIGKILL. @throws {Error} when it had ended before */
  kill(): Promise<void>;
  /** SIGSTOP: it takes connections but answers nothing. */
  pause(): void;
  /** SIGCONT */
  resume(): void;
  /** Whether anything takes connections at its address. */
  isListening(): Promise<boolean>;
  /** Starts it again and waits until it answers. */
  start(): Promise<void>;
  /** Deletes what it has stored. Only while it is killed. */
  loseData(): Promise<void>;
  /** Stops it and removes its folder. */
  stop(): Promise<void>;
}

/** How a kind of server is started in a folder of its own, and where in there its data are. */
interface ServerKind {
  readonly url: string;
  readonly folder: string;
  readonly data: string;
  readonly start: (signal: AbortSignal) => Promise<RunningProcess>;
}

/** An OpenSearch that runs; it shares nothing with the one of `npm test` but the program. */
export async function ownOpenSearch(): Promise<OwnServer> {
  const folder = await mkdtemp(join(tmpdir(), 'licenses-opensearch-'));
  const [httpPort, transportPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${httpPort}`;
  const clusterName = basename(folder);
  return running({
    url,
    folder,
    data: join(folder, 'data'),
    start: async (signal) => {
      const server = await startLocalOpenSearch({
        stateDir: resolve(readConfig().STATE_DIR),
        folder,
        heapMegabytes: HEAP_MEGABYTES,
        isShortLived: true,
        clusterName,
        httpPort,
        transportPort,
        environment: process.env,
        signal,
        report: () => undefined,
      });
      await waitForOpenSearch(server, url, clusterName, signal);
      return server;
    },
  });
}

/** A Redis that runs, with nothing in it. */
export async function ownRedis(): Promise<OwnServer> {
  const folder = await mkdtemp(join(tmpdir(), 'licenses-redis-'));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  return running({
    url,
    folder,
    data: redisFolder(folder),
    start: async (signal) => {
      const server = await startLocalRedis(folder, port, () => undefined);
      await waitForRedis(server, url, signal);
      return server;
    },
  });
}

async function running({ url, folder, data, start }: ServerKind): Promise<OwnServer> {
  let server = await start(AbortSignal.timeout(START_WITHIN_MS));
  return {
    url,
    kill: () => server.kill(),
    pause: () => void server.child.kill('SIGSTOP'),
    resume: () => void server.child.kill('SIGCONT'),
    isListening: () => isListening(url),
    start: async () => {
      server = await start(AbortSignal.timeout(START_WITHIN_MS));
    },
    loseData: () => rm(data, { recursive: true, force: true }),
    stop: async () => {
      await server.stop(STOP_MS);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Whether anything takes connections at an address. */
function isListening(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
