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
 * For an OpenSearch that is stopped after some minutes. Java's second compiler stays off: in one run on two busy
 * cores a start took 18 s of processor time instead of 30, and a start with 300 bulk requests and searches 31
 * instead of 50. An OpenSearch that keeps running would stay slow: it needs the second compiler. And the collector
 * without threads of its own, with memory that is taken only as it is used, took a start from 12 s to 8, and each
 * environment of a test from 0.9 s to 0.7.
 */
const SHORT_LIVED = '-XX:TieredStopAtLevel=1 -XX:-UseG1GC -XX:+UseSerialGC -XX:-AlwaysPreTouch';
const SHORT_LIVED_MEGABYTES = 1024;

/** Room for the data of the tests, far more than they need. */
const MEMORY_FOLDER = '/dev/shm';
const MEMORY_BYTES = 4e9;

/** Where data for some minutes go: in memory where there is room, so that no test waits for a disk. */
export async function shortLivedFolder(): Promise<string> {
  const free = await statfs(MEMORY_FOLDER).catch(() => undefined);
  return free !== undefined && free.bavail * free.bsize > MEMORY_BYTES ? MEMORY_FOLDER : tmpdir();
}

const AGENT = /^.*-javaagent:agent\/.*$/m;
const AGENT_CLASSES = /^opensearch-agent-bootstrap-.*\.jar$/;

/** What a local OpenSearch is started with. */
export interface LocalOpenSearch {
  /** Where the unpacked OpenSearch is, and a Java if one was fetched. */
  readonly stateDir: string;
  /** Where its settings, data and logs go: `opensearch` in the state folder when left out. */
  readonly folder?: string;
  /** An eighth of the machine's memory when left out, or 1 GB where it is short-lived. */
  readonly heapMegabytes?: number;
  /** Whether it is stopped after some minutes, as in tests: then it starts sooner and is slower. */
  readonly isShortLived?: boolean;
  readonly clusterName: string;
  readonly httpPort: number;
  readonly transportPort: number;
  /** How it finds others, in place of being alone. */
  readonly discovery?: Readonly<Record<string, string | readonly string[]>>;
  readonly signal: AbortSignal;
}

/**
 * Starts an OpenSearch that only this machine can reach, fetching it when it isn't there yet, and waits until it
 * answers and has found the data of earlier runs again.
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

/** The name of the cluster at an address that asks for no password; `undefined` when none answers. */
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
    // Several test files create their indices at the same time: by default, four start and others wait for seconds.
    'cluster.routing.allocation.node_initial_primaries_recoveries': 20,
    'cluster.routing.allocation.disk.threshold_enabled': false,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`);
  await writeFile(join(config, 'opensearch.yml'), lines.join(''));
  await copyFile(join(home, 'config', 'log4j2.properties'), join(config, 'log4j2.properties'));
  const jvmOptions = await readFile(join(home, 'config', 'jvm.options'), 'utf8');
  const options = await optionsFor(javaHome, state, jvmOptions);
  await writeFile(join(config, 'jvm.options'), isShortLived ? await withoutAgent(home, options) : options);
}

/**
 * Takes out the Java agent that checks each access to a file against OpenSearch's policy for its plugins; there are
 * none here. A start, about 300 new indices and 60 publications of small files took 110 s of CPU with the agent and
 * 68 s without (three runs). OpenSearch refers to classes that the agent brings along, so these stay.
 */
async function withoutAgent(home: string, jvmOptions: string): Promise<string> {
  const folder = join(home, 'agent');
  const classes = (await readdir(folder)).find((name) => AGENT_CLASSES.test(name));
  if (classes === undefined) return jvmOptions;
  return jvmOptions.replace(AGENT, `-Xbootclasspath/a:${join(folder, classes)}`);
}

/**
 * Java's own logs and dumps belong in the server's folder: the unpacked OpenSearch may serve more than one. And
 * a small Java has no vector module and would end when told to load it: searches work without, a bit slower.
 */
async function optionsFor(javaHome: string, state: string, jvmOptions: string): Promise<string> {
  const inFolder = jvmOptions.replaceAll(/=(?=(?:logs|data)(?:\/|$))/gm, `=${state}/`);
  if (await hasModule(javaHome, 'jdk.incubator.vector')) return inFolder;
  return inFolder.replaceAll(/^.*--add-modules=jdk\.incubator\.vector.*$/gm, '');
}

/** An eighth of the memory, from 512 MB to 3 GB. */
function usualHeap(): number {
  const limit = process.constrainedMemory();
  const memory = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return Math.round(Math.min(3072, Math.max(512, memory / 8 / 2 ** 20)));
}
