import { createReadStream } from 'node:fs';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { Agent, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import type { Client } from '@opensearch-project/opensearch';
import { writeSampleData } from '../sample-data/write-sample-data.ts';
import { childrenOf } from '../scripts/children.ts';
import { startWorker } from '../scripts/licenses-processes.ts';
import { startServices } from '../scripts/services.ts';
import { type Config, readConfig } from '../src/config.ts';
import { publicationDetails } from '../src/publications/history.ts';
import { deleteIndex } from '../src/publications/prune.ts';
import { newRunId } from '../src/publications/run-id.ts';
import { licensesIndexName } from '../src/storage/index-names.ts';
import { openStore, type Store } from '../src/storage/store.ts';
import { prepareIndices } from '../src/storage/templates.ts';
import { LOADING_SETTINGS } from '../workers/publish/durable.ts';
import { cpuSeconds, openSearchCpuSeconds } from './cpu.ts';
import { median } from './median.ts';
import { parsed } from './parsed.ts';
import { type DayFiles, published, removeIndices } from './published.ts';

const DATE = '2026-11-20';
const SEED = 5;
const BODY_BYTES = 8 << 20;
const TUNED_OVER_ROWS = 300_000;
/** The helper only gets slower as its index grows, so a part of the files flatters it. */
const HELPER_DOCUMENTS = 600_000;
const IN_FLIGHT_TRIED = [2, 3, 4, 6];
const MEMORY_EVERY_MS = 100;

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    rows: { type: 'string', default: '2600000' },
    rounds: { type: 'string', default: '3' },
  },
});
const rows = Number(values.rows);
const rounds = Number(values.rounds);

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** What is measured, and with what. */
interface Bench {
  readonly store: Store;
  readonly client: Client;
  readonly config: Config;
  readonly files: DayFiles;
  /** Ready-made bulk bodies, one after the other. */
  readonly bodies: { readonly path: string; readonly parts: readonly BodyPart[] };
}

interface BodyPart {
  readonly start: number;
  readonly end: number;
  readonly documents: number;
}

/** Writes what our own parser makes of the files as bulk bodies of 8 MB. */
async function writeBodies(files: Bench['files'], path: string): Promise<BodyPart[]> {
  const parts: BodyPart[] = [];
  const file = await open(path, 'w');
  let pending: string[] = [];
  let length = 0;
  let start = 0;

  async function flush(): Promise<void> {
    const body = Buffer.from(pending.join(''));
    await file.write(body);
    parts.push({ start, end: start + body.length, documents: pending.length });
    start += body.length;
    pending = [];
    length = 0;
  }

  for await (const operations of parsed(files, DATE)) {
    for (const { body } of operations) {
      pending.push(body);
      length += body.length;
      if (length >= BODY_BYTES) await flush();
    }
  }
  if (pending.length > 0) await flush();
  await file.close();
  return parts;
}

/** Creates an index as a publication does, or one with the default mapping, whose name no template has. */
async function createIndex({ client, config }: Bench, kind: 'licenses' | 'default mapping'): Promise<string> {
  const run = newRunId();
  if (kind === 'default mapping') {
    const index = `${config.INDEX_PREFIX}default-${run}`;
    await client.indices.create({
      index,
      body: { settings: { 'index.number_of_shards': 1, 'index.number_of_replicas': 0 } },
    });
    return index;
  }
  const index = licensesIndexName(config.INDEX_PREFIX, { date: DATE, run });
  await client.indices.create({ index, body: { settings: LOADING_SETTINGS } });
  return index;
}

/** How fast documents became searchable, and what that cost. */
interface Loaded {
  /** Documents a second. */
  readonly rate: number;
  /** OpenSearch's CPU, in microseconds a document. */
  readonly openSearchCpu: number;
}

/** The ceiling: ready-made bodies pushed by a client that does nothing else, refresh included. */
async function ceiling(bench: Bench, inFlight: number, parts: readonly BodyPart[]): Promise<Loaded> {
  const { client, config, bodies } = bench;
  const index = await createIndex(bench, 'licenses');
  const file = await open(bodies.path);
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight });
  const url = new URL(`/${index}/_bulk?filter_path=errors`, config.OPENSEARCH_URL);
  const left = [...parts];

  async function push({ start, end }: BodyPart): Promise<void> {
    const body = Buffer.allocUnsafe(end - start);
    await file.read(body, 0, body.length, start);
    const answer = await new Promise<string>((resolve, reject) => {
      const request = httpRequest(url, {
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/x-ndjson', 'content-length': body.length },
      });
      request.on('error', reject).on('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        response.on('end', () => resolve(text)).on('error', reject);
      });
      request.end(body);
    });
    if (answer !== '{"errors":false}') throw new Error(`A bulk request failed: ${answer.slice(0, 200)}`);
  }

  async function pushNext(): Promise<void> {
    for (let part = left.shift(); part !== undefined; part = left.shift()) await push(part);
  }

  const cpuBefore = await openSearchCpuSeconds(client);
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: inFlight }, pushNext));
  await client.indices.refresh({ index });
  const seconds = (performance.now() - startedAt) / 1000;
  const openSearchCpu = (await openSearchCpuSeconds(client)) - cpuBefore;
  agent.destroy();
  await file.close();
  await deleteIndex(client, index);
  const documents = documentsIn(parts);
  return { rate: documents / seconds, openSearchCpu: (openSearchCpu * 1e6) / documents };
}

function documentsIn(parts: readonly BodyPart[]): number {
  return parts.reduce((sum, { documents }) => sum + documents, 0);
}

/** How many requests in flight serve the plain client best. */
async function tunedInFlight(bench: Bench): Promise<number> {
  const share = Math.ceil((bench.bodies.parts.length * TUNED_OVER_ROWS) / Math.max(rows, TUNED_OVER_ROWS));
  const parts = bench.bodies.parts.slice(0, share);
  await ceiling(bench, 3, parts);
  let best = { inFlight: 0, rate: 0 };
  for (const inFlight of IN_FLIGHT_TRIED) {
    const { rate } = await ceiling(bench, inFlight, parts);
    print(`plain client, ${inFlight} in flight: ${Math.round(rate)} documents/s`);
    if (rate > best.rate) best = { inFlight, rate };
  }
  return best.inFlight;
}

/** The client's own bulk helper into a default mapping, with the first 600,000 documents. Documents a second. */
async function bulkHelper(bench: Bench): Promise<number> {
  const { client, bodies } = bench;
  const index = await createIndex(bench, 'default mapping');
  async function* documents() {
    let isDocument = false;
    let left = HELPER_DOCUMENTS;
    for await (const line of createInterface({ input: createReadStream(bodies.path) })) {
      if (left === 0) return;
      if (isDocument) left -= 1;
      if (isDocument) yield JSON.parse(line);
      isDocument = !isDocument;
    }
  }
  const startedAt = performance.now();
  const { successful, failed } = await client.helpers.bulk({
    datasource: documents(),
    onDocument: () => ({ index: { _index: index } }),
    refreshOnCompletion: index,
  });
  const seconds = (performance.now() - startedAt) / 1000;
  if (failed > 0) print(`helpers.bulk lost ${failed} documents`);
  await deleteIndex(client, index);
  return successful / seconds;
}

interface Published extends Loaded {
  readonly mebibytes: number;
  readonly seconds: number;
  /** CPU of the worker and its child, in microseconds a document. */
  readonly workerCpu: number;
  /** Seconds of each step. */
  readonly steps: Readonly<Record<string, number>>;
}

/** One publication by a worker of its own, from request to flipped alias, and what its processes held at most. */
async function publication(bench: Bench): Promise<Published> {
  const { store, client, config } = bench;
  const worker = await startWorker({
    OPENSEARCH_URL: config.OPENSEARCH_URL,
    REDIS_URL: config.REDIS_URL,
    INDEX_PREFIX: config.INDEX_PREFIX,
    LOG_LEVEL: 'info',
  });
  let most = 0;
  const workerProcesses = async () => {
    const pid = worker.child.pid ?? 0;
    return [pid, ...(await childrenOf(pid))];
  };
  const watch = setInterval(async () => {
    const processes = await workerProcesses();
    const resident = await Promise.all(processes.map(residentKibibytes));
    most = Math.max(
      most,
      resident.reduce((sum, each) => sum + each, 0),
    );
  }, MEMORY_EVERY_MS);
  try {
    const cpuBefore = await openSearchCpuSeconds(client);
    const startedAt = performance.now();
    const result = await published(config, bench.files, { force: 'bench' });
    const seconds = (performance.now() - startedAt) / 1000;
    const openSearchCpu = (await openSearchCpuSeconds(client)) - cpuBefore;
    const workerCpu = (await Promise.all((await workerProcesses()).map(cpuSeconds))).reduce(
      (sum, each) => sum + each,
      0,
    );
    const documents = result.licenses + result.endorsements;
    const details = await publicationDetails(store, result.publication);
    return {
      rate: documents / seconds,
      openSearchCpu: (openSearchCpu * 1e6) / documents,
      workerCpu: (workerCpu * 1e6) / documents,
      mebibytes: most / 1024,
      seconds,
      steps: details.summary.seconds ?? {},
    };
  } finally {
    clearInterval(watch);
    await worker.stop();
  }
}

async function residentKibibytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
}

async function measure(bench: Bench): Promise<void> {
  const inFlight = await tunedInFlight(bench);
  const ceilings: Loaded[] = [];
  const publications: Published[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const pushed = await ceiling(bench, inFlight, bench.bodies.parts);
    ceilings.push(pushed);
    print(
      `round ${round}: ceiling ${Math.round(pushed.rate)} documents/s, CPU of OpenSearch ${pushed.openSearchCpu.toFixed(1)} µs`,
    );
    const each = await publication(bench);
    publications.push(each);
    print(
      `round ${round}: publication ${Math.round(each.rate)} documents/s in ${each.seconds.toFixed(1)} s, ${Math.round(each.mebibytes)} MiB, ` +
        `CPU of OpenSearch ${each.openSearchCpu.toFixed(1)} µs, of the worker ${each.workerCpu.toFixed(1)} µs a document; ` +
        Object.entries(each.steps)
          .map(([step, took]) => `${step} ${took} s`)
          .join(', '),
    );
  }
  const helper = await bulkHelper(bench);
  const [most, ours] = [
    median(ceilings.map(({ rate }) => rate)),
    median(publications.map(({ rate }) => rate)),
  ];
  const mebibytes = Math.max(...publications.map((each) => each.mebibytes));
  print(
    `\n| ${rows} rows, median of ${rounds} | documents/s | publication is |\n| --- | ---: | ---: |\n` +
      `| publication, file to flipped alias | ${Math.round(ours)} | 1 |\n` +
      `| ceiling: ready-made bodies, ${inFlight} in flight | ${Math.round(most)} | ${(ours / most).toFixed(2)} of it |\n` +
      `| helpers.bulk, default mapping | ${Math.round(helper)} | ${(ours / helper).toFixed(2)} times it |\n` +
      `\nWorker and child process together: ${Math.round(mebibytes)} MiB resident at the most.`,
  );
}

/** Generates the files under a prefix of its own, measures, and removes everything. */
async function main(): Promise<void> {
  const services = await startServices({}, (line) => process.stderr.write(`${line}\n`));
  const prefix = `bench-${newRunId()}-`;
  const config = {
    ...readConfig({ INDEX_PREFIX: prefix, KEEP_PUBLICATIONS: '1' }),
    OPENSEARCH_URL: services.opensearch,
    REDIS_URL: services.redis,
  };
  const store = openStore(config, 600_000);
  const { client } = store;
  const directory = await mkdtemp(join(tmpdir(), prefix));
  try {
    await prepareIndices(store);
    const files = await writeSampleData({ directory, rows, seed: SEED, date: DATE });
    const path = join(directory, 'bodies.ndjson');
    await measure({ store, client, config, files, bodies: { path, parts: await writeBodies(files, path) } });
  } finally {
    await removeIndices(store);
    await client.close();
    await rm(directory, { recursive: true, force: true });
    await services.stop();
  }
}

await main();
