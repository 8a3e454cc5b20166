import { copyFile, mkdir, readdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { findJava, hasModule, openSearchDistribution } from './opensearch-distribution.ts';
import { type RunningProcess, startProcess, waitUntilReady } from './processes.ts';
import { privilegesOfNobody } from './unprivileged-user.ts';

const READY_MS = 180_000;
const RECOVERY_SECONDS = 30;
const ANSWER_MS = 2_000;

/**
 * JVM options for an OpenSearch that is stopped after some minutes. Java's second compiler is off: in one run on two
 * busy cores, a start took 18 s of processor time instead of 30, and a start with 300 bulk requests and searches took
 * 31 instead of 50. A long-running OpenSearch needs the second compiler; without it, it would stay slow. The serial
 * garbage collector, and memory that is allocated only when used, reduced a start from 12 s to 8, and each environment
 * of a test from 0.9 s to 0.7.
 */
const SHORT_LIVED = '-XX:TieredStopAtLevel=1 -XX:-UseG1GC -XX:+UseSerialGC -XX:-AlwaysPreTouch';
const SHORT_LIVED_MEGABYTES = 1024;

/** A folder in memory with enough space for the tests' data. They need far less. */
const MEMORY_FOLDER = '/dev/shm';
const MEMORY_BYTES = 4e9;

/**
 * The folder for data that is kept for some minutes: in memory if there is enough space, so that tests do not wait for
 * a disk.
 */
export async function shortLivedFolder(): Promise<string> {
  const free = await statfs(MEMORY_FOLDER).catch(() => undefined);
  return free !== undefined && free.bavail * free.bsize > MEMORY_BYTES ? MEMORY_FOLDER : tmpdir();
}

const AGENT = /^.*-javaagent:agent\/.*$/m;
const AGENT_CLASSES = /^opensearch-agent-bootstrap-.*\.jar$/;

/** The options of a local OpenSearch. */
export interface LocalOpenSearch {
  /** The folder of the unpacked OpenSearch, and of a Java if one was downloaded. */
  readonly stateDir: string;
  /** The folder for its configuration, data and logs. Default: `opensearch` in the state folder. */
  readonly folder?: string;
  /** Default: an eighth of the machine's memory, or 1 GB if the server is short-lived. */
  readonly heapMegabytes?: number;
  /** Whether it will be stopped after some minutes, as in tests. It then starts faster but runs more slowly. */
  readonly isShortLived?: boolean;
  readonly clusterName: string;
  readonly httpPort: number;
  readonly transportPort: number;
  /** The discovery settings. By default, it forms a cluster of one node. */
  readonly discovery?: Readonly<Record<string, string | readonly string[]>>;
  readonly signal: AbortSignal;
}

/**
 * Starts an OpenSearch that only this machine can reach, and waits until it answers and has recovered the data of
 * earlier runs. Downloads OpenSearch first if it is missing.
 */
export async function startLocalOpenSearch(wanted: LocalOpenSearch): Promise<RunningProcess> {
  const {
    stateDir,
    signal,
    isShortLived,
    heapMegabytes = isShortLived ? SHORT_LIVED_MEGABYTES : usualHeap(),
  } = wanted;
  const heap = `-Xms${heapMegabytes}m -Xmx${heapMegabytes}m`;
  const javaHome = await findJava(stateDir, signal);
  const home = await openSearchDistribution(stateDir, signal);
  const state = wanted.folder ?? join(stateDir, 'opensearch');
  await configure(home, state, javaHome, wanted);
  const program = join(home, 'bin', 'opensearch');
  const server = startProcess('OpenSearch', 'bash', [program], {
    cwd: home,
    env: {
      PATH: process.env.PATH,
      LANG: process.env.LANG,
      HOME: state,
      OPENSEARCH_JAVA_HOME: javaHome,
      OPENSEARCH_PATH_CONF: join(state, 'config'),
      OPENSEARCH_TMPDIR: join(state, 'tmp'),
      OPENSEARCH_JAVA_OPTS: `${heap} ${isShortLived ? SHORT_LIVED : ''}`,
    },
    logFile: join(stateDir, 'logs', 'opensearch.log'),
    privileges: await privilegesOfNobody([home, state], [program, join(javaHome, 'bin', 'java')]),
  });
  const url = `http://127.0.0.1:${wanted.httpPort}`;
  const answers = async () => (await clusterNameAt(url)) === wanted.clusterName;
  await waitUntilReady(server, answers, { deadlineMs: READY_MS, signal });
  await fetch(`${url}/_cluster/health?wait_for_status=yellow&timeout=${RECOVERY_SECONDS}s`, { signal }).catch(
    () => signal.throwIfAborted(),
  );
  return server;
}

const clusterInfo = z.object({ cluster_name: z.string() });

/** The name of the cluster at a URL that needs no password; `undefined` if no cluster answers. */
export async function clusterNameAt(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) });
    return clusterInfo.parse(await response.json()).cluster_name;
  } catch {
    return undefined;
  }
}

async function configure(
  home: string,
  state: string,
  javaHome: string,
  { clusterName, httpPort, transportPort, discovery, isShortLived = false }: LocalOpenSearch,
): Promise<void> {
  const config = join(state, 'config');
  await rm(join(state, 'tmp'), { recursive: true, force: true });
  for (const name of ['config', 'data', 'logs', 'tmp']) await mkdir(join(state, name), { recursive: true });
  const settings = {
    'cluster.name': clusterName,
    ...(discovery ?? { 'discovery.type': 'single-node' }),
    'network.host': '127.0.0.1',
    'http.port': httpPort,
    'transport.port': transportPort,
    'path.data': join(state, 'data'),
    'path.logs': join(state, 'logs'),
    'action.auto_create_index': false,
    // Several test files create their indices at the same time. By default, four shards start at a time and the others
    // wait for seconds.
    'cluster.routing.allocation.node_initial_primaries_recoveries': 20,
    'cluster.routing.allocation.disk.threshold_enabled': false,
    // The serial garbage collector lets garbage fill the heap. Without this setting, OpenSearch would take the garbage
    // for overload and refuse requests with 429, for up to a minute every ten minutes under steady load.
    ...(isShortLived && { 'indices.breaker.total.use_real_memory': false }),
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`);
  await writeFile(join(config, 'opensearch.yml'), lines.join(''));
  await copyFile(join(home, 'config', 'log4j2.properties'), join(config, 'log4j2.properties'));
  const jvmOptions = await readFile(join(home, 'config', 'jvm.options'), 'utf8');
  const options = await optionsFor(javaHome, state, jvmOptions);
  await writeFile(join(config, 'jvm.options'), isShortLived ? await withoutAgent(home, options) : options);
}

/**
 * Disables the Java agent that checks each file access against OpenSearch's policy for plugins; no plugins are used
 * here. One start, about 300 new indices and 60 publications of small files took 110 s of CPU with the agent and 68 s
 * without (three runs). The agent's classes stay on the class path, because OpenSearch refers to them.
 */
async function withoutAgent(home: string, jvmOptions: string): Promise<string> {
  const folder = join(home, 'agent');
  const classes = (await readdir(folder)).find((name) => AGENT_CLASSES.test(name));
  if (classes === undefined) return jvmOptions;
  return jvmOptions.replace(AGENT, `-Xbootclasspath/a:${join(folder, classes)}`);
}

/**
 * Java's own logs and dumps belong in the server's folder, because several servers may use the same unpacked
 * OpenSearch. A small Java has no vector module and would exit if told to load it; searches work without it, a bit more
 * slowly.
 */
async function optionsFor(javaHome: string, state: string, jvmOptions: string): Promise<string> {
  const inFolder = jvmOptions.replaceAll(/=(?=(?:logs|data)(?:\/|$))/gm, `=${state}/`);
  if (await hasModule(javaHome, 'jdk.incubator.vector')) return inFolder;
  return inFolder.replaceAll(/^.*--add-modules=jdk\.incubator\.vector.*$/gm, '');
}

/** An eighth of the memory, but at least 512 MB and at most 3 GB. */
function usualHeap(): number {
  const limit = process.constrainedMemory();
  const memory = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return Math.round(Math.min(3072, Math.max(512, memory / 8 / 2 ** 20)));
}
