import { once as event } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { atEndOfTestFile, once } from '../../scripts/clean-up.ts';
import { shortLivedFolder, startLocalOpenSearch } from '../../scripts/local-opensearch.ts';
import { redisFolder, startLocalRedis } from '../../scripts/local-redis.ts';
import { freePort, freePorts } from '../../scripts/ports.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
import { readConfig } from '../../src/config.ts';
import { times } from './fixtures.ts';

const STOP_MS = 20_000;

const startsInTime = () => AbortSignal.timeout(240_000);

/** Creates a folder that is removed at the end of the test file. */
async function ownFolder(parent: string, name: string): Promise<string> {
  const folder = await mkdtemp(join(parent, name));
  atEndOfTestFile(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A server that belongs to one test, which may kill it. It restarts on the same port. */
export type OwnServer = Awaited<ReturnType<typeof running>>;

/** A running OpenSearch. It shares only the program with the one of `npm test`. */
export async function ownOpenSearch(): Promise<OwnServer> {
  const folder = await ownFolder(await shortLivedFolder(), 'licenses-opensearch-');
  const [httpPort, transportPort] = [await freePort(), await freePort()];
  const place = { folder, heapMegabytes: 512, clusterName: basename(folder), httpPort, transportPort };
  return running(`http://127.0.0.1:${httpPort}`, join(folder, 'data'), () => startOpenSearch(place));
}

/** Starts an OpenSearch and waits until it answers. */
function startOpenSearch(
  place: Omit<Parameters<typeof startLocalOpenSearch>[0], 'stateDir' | 'isShortLived' | 'signal'>,
): Promise<RunningProcess> {
  const stateDir = resolve(readConfig().STATE_DIR);
  return startLocalOpenSearch({ ...place, stateDir, isShortLived: true, signal: startsInTime() });
}

/** A running, empty Redis. */
export async function ownRedis(): Promise<OwnServer> {
  const folder = await ownFolder(tmpdir(), 'licenses-redis-');
  const port = await freePort();
  const start = () => startLocalRedis(folder, port, startsInTime());
  return running(`redis://127.0.0.1:${port}`, redisFolder(folder), start);
}

async function running(url: string, data: string, start: () => Promise<RunningProcess>) {
  let server = await start();
  const stop = once(() => server.stop(STOP_MS));
  atEndOfTestFile(stop);
  return {
    url,
    /** Sends SIGKILL. @throws {Error} when it had ended before */
    kill: () => server.kill(),
    /** Sends SIGSTOP: the server then accepts connections but answers nothing. */
    pause: () => void server.child.kill('SIGSTOP'),
    resume: () => void server.child.kill('SIGCONT'),
    /** Whether its address accepts connections. */
    isListening: () => isListening(url),
    /** Starts it again and waits until it answers. */
    start: async () => {
      server = await start();
    },
    /** Deletes its stored data. Only while it is killed. */
    loseData: () => rm(data, { recursive: true, force: true }),
    stop,
  };
}

/** Whether an address accepts connections. */
async function isListening(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const connected = await event(socket, 'connect').catch(() => undefined);
  socket.destroy();
  return connected !== undefined;
}

/** A cluster of this many nodes on this machine, with small heaps. */
export async function ownCluster(size: number) {
  const parent = await shortLivedFolder();
  const folders = await Promise.all(times(size, () => ownFolder(parent, 'licenses-cluster-')));
  const clusterName = basename(folders[0] ?? '');
  const httpPorts = await freePorts(size);
  const transportPorts = await freePorts(size);
  const names = httpPorts.map((_, at) => `node-${at + 1}`);

  const started = (at: number) =>
    startOpenSearch({
      ...{ folder: folders[at] ?? '', heapMegabytes: 384, clusterName },
      ...{ httpPort: httpPorts[at] ?? 0, transportPort: transportPorts[at] ?? 0 },
      discovery: {
        'node.name': names[at] ?? '',
        'discovery.seed_hosts': transportPorts.map((port) => `127.0.0.1:${port}`),
        'cluster.initial_cluster_manager_nodes': names,
      },
    });

  const servers = await Promise.all(names.map((_, at) => started(at)));
  const nodes = httpPorts.map((port, at) => ({
    url: `http://127.0.0.1:${port}`,
    /** Sends SIGKILL. @throws {Error} when it had ended before */
    kill: async () => {
      await servers[at]?.kill();
    },
    start: async () => {
      servers[at] = await started(at);
    },
  }));

  async function isHealthy(wanted: string): Promise<void> {
    const health = await fetch(`${nodes[0]?.url}/_cluster/health?${wanted}&timeout=90s`);
    if (health.status !== 200) throw new Error(`The cluster is not as it must be: ${await health.text()}`);
  }
  const isWhole = () => isHealthy(`wait_for_nodes=${size}&wait_for_status=green`);

  await isWhole();
  return {
    nodes,
    /** Waits until the first node sees this many nodes. */
    hasNodes: (count: number) => isHealthy(`wait_for_nodes=${count}`),
    /** Waits until all nodes have joined and every index has all its copies. */
    isWhole,
  };
}
