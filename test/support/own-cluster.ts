import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { startLocalOpenSearch, waitForOpenSearch } from '../../scripts/local-opensearch.ts';
import { freePorts } from '../../scripts/ports.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
import { readConfig } from '../../src/config.ts';

const START_WITHIN_MS = 240_000;
const STOP_MS = 20_000;
const HEAP_MEGABYTES = 384;

/** One OpenSearch of a cluster, which comes back on the same port with its data. */
export interface ClusterNode {
  readonly url: string;
  /** SIGKILL. @throws {Error} when it had ended before */
  kill(): Promise<void>;
  /** Starts it again and waits until it answers. */
  start(): Promise<void>;
}

/** An OpenSearch cluster that a test has for itself. */
export interface OwnCluster {
  readonly nodes: readonly ClusterNode[];
  /** Waits until the first node sees so many nodes. */
  hasNodes(count: number): Promise<void>;
  /** Waits until all nodes are in it and every index has all of its copies. */
  isWhole(): Promise<void>;
  /** Stops it and removes its folders. */
  stop(): Promise<void>;
}

/** A cluster of so many nodes on this machine, with small heaps. */
export async function ownCluster(size: number): Promise<OwnCluster> {
  const folders = await Promise.all(
    Array.from({ length: size }, () => mkdtemp(join(tmpdir(), 'licenses-cluster-'))),
  );
  const clusterName = basename(folders[0] ?? '');
  const httpPorts = await freePorts(size);
  const transportPorts = await freePorts(size);
  const names = httpPorts.map((_, at) => `node-${at + 1}`);

  async function started(at: number): Promise<RunningProcess> {
    const httpPort = httpPorts[at] ?? 0;
    const signal = AbortSignal.timeout(START_WITHIN_MS);
    const server = await startLocalOpenSearch({
      stateDir: resolve(readConfig().STATE_DIR),
      folder: folders[at] ?? '',
      heapMegabytes: HEAP_MEGABYTES,
      isShortLived: true,
      clusterName,
      httpPort,
      transportPort: transportPorts[at] ?? 0,
      discovery: {
        'node.name': names[at] ?? '',
        'discovery.seed_hosts': transportPorts.map((port) => `127.0.0.1:${port}`),
        'cluster.initial_cluster_manager_nodes': names,
      },
      environment: process.env,
      signal,
      report: () => undefined,
    });
    await waitForOpenSearch(server, urlOf(httpPort), clusterName, signal);
    return server;
  }

  const servers = await Promise.all(names.map((_, at) => started(at)));
  const nodes = httpPorts.map((port, at) => ({
    url: urlOf(port),
    kill: async () => {
      await servers[at]?.kill();
    },
    start: async () => {
      servers[at] = await started(at);
    },
  }));

  async function isHealthy(wanted: string): Promise<void> {
    const health = await fetch(`${urlOf(httpPorts[0] ?? 0)}/_cluster/health?${wanted}&timeout=90s`);
    if (health.status !== 200) throw new Error(`The cluster is not as it must be: ${await health.text()}`);
  }
  const isWhole = () => isHealthy(`wait_for_nodes=${size}&wait_for_status=green`);

  await isWhole();
  return {
    nodes,
    hasNodes: (count) => isHealthy(`wait_for_nodes=${count}`),
    isWhole,
    stop: async () => {
      await Promise.all(servers.map((server) => server.stop(STOP_MS)));
      await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
    },
  };
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}
