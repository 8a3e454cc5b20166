import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { print } from '../../scripts/processes.ts';
import { deleteIndex } from '../../src/publications/fence.ts';
import { newId } from '../../src/publications/metadata.ts';
import { licensesIndexName } from '../../src/storage/store.ts';
import { LOADING_SETTINGS } from '../../workers/publish/build.ts';
import type { Loaded, PublishReport, Setting } from '../reports/publish.ts';
import { DATE } from '../service.ts';
import { cpuSeconds, openSearchPids } from '../usage.ts';
import { type Bench, type BodyPart, documentsIn, joined, SMALLEST_MEGABYTES } from './bodies.ts';

const TUNED_OVER_ROWS = 300_000;
/** The sizes of bodies and numbers of parallel requests to try, around the best values. */
const TRIED: readonly Setting[] = [
  ...[2, 3, 4, 6].map((inFlight) => ({ bodyMegabytes: 8, inFlight })),
  ...[SMALLEST_MEGABYTES, 4, 16].map((bodyMegabytes) => ({ bodyMegabytes, inFlight: 6 })),
];
const FIRST: Setting = { bodyMegabytes: 8, inFlight: 3 };

/** The helper gets slower as its index grows, so measuring it with a part of the files favors it. */
export const HELPER_DOCUMENTS = 600_000;

/** The upper bound: a client that only sends prepared bodies, including the refresh. */
export async function ceiling(
  { bodies, environment }: Bench,
  { bodyMegabytes, inFlight }: Setting,
  parts: readonly BodyPart[],
): Promise<Loaded> {
  const { client, config } = environment;
  const index = licensesIndexName(config.INDEX_PREFIX, DATE, newId());
  await client.indices.create({ index, body: { settings: LOADING_SETTINGS } });
  const file = await open(bodies.path);
  const url = new URL(`/${index}/_bulk?filter_path=errors`, config.OPENSEARCH_URL);
  const left = joined(parts, bodyMegabytes);

  async function pushNext(): Promise<void> {
    for (let part = left.shift(); part !== undefined; part = left.shift()) await push(part, file, url);
  }

  const pids = await openSearchPids(client);
  const cpuBefore = await cpuSeconds(pids);
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: inFlight }, pushNext));
  await client.indices.refresh({ index });
  const seconds = (performance.now() - startedAt) / 1000;
  const openSearchCpu = (await cpuSeconds(pids)) - cpuBefore;
  await file.close();
  await deleteIndex({ client }, index);
  const documents = documentsIn(parts);
  return { rate: documents / seconds, openSearchCpu: (openSearchCpu * 1e6) / documents };
}

async function push({ start, end }: BodyPart, file: FileHandle, url: URL): Promise<void> {
  const body = Buffer.allocUnsafe(end - start);
  await file.read(body, 0, body.length, start);
  const headers = { 'content-type': 'application/x-ndjson' };
  const answer = await (await fetch(url, { method: 'POST', headers, body })).text();
  if (answer !== '{"errors":false}') throw new Error(`A bulk request failed: ${answer.slice(0, 200)}`);
}

/** Finds the body size and the number of parallel requests that are fastest for the plain client. */
export async function tunedSetting(bench: Bench): Promise<Pick<PublishReport, 'tried' | 'setting'>> {
  const share = Math.ceil(
    (bench.bodies.parts.length * TUNED_OVER_ROWS) / Math.max(bench.rows, TUNED_OVER_ROWS),
  );
  const parts = bench.bodies.parts.slice(0, share);
  await ceiling(bench, FIRST, parts);
  const tried: PublishReport['tried'] = [];
  for (const setting of TRIED) {
    const { bodyMegabytes, inFlight } = setting;
    const { rate } = await ceiling(bench, setting, parts);
    print(`bodies of ${bodyMegabytes} MB, ${inFlight} in flight: ${Math.round(rate)} documents/s`);
    tried.push({ setting, rate });
  }
  const [fastest] = tried.toSorted((one, other) => other.rate - one.rate);
  return { tried, setting: fastest?.setting ?? FIRST };
}

/** Measures the client's bulk helper with a default mapping and 600,000 documents. @returns documents per second */
export async function bulkHelper({ bodies, environment }: Bench): Promise<number> {
  const { client, config } = environment;
  // No index template matches this name.
  const index = `${config.INDEX_PREFIX}default-${newId()}`;
  const settings = { 'index.number_of_shards': 1, 'index.number_of_replicas': 0 };
  await client.indices.create({ index, body: { settings } });
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
  await deleteIndex({ client }, index);
  return successful / seconds;
}
