import { type FileHandle, open } from 'node:fs/promises';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { print } from '../../scripts/terminal.ts';
import { deleteIndex } from '../../src/publications/fence.ts';
import { openSearchCpuSeconds } from '../cpu.ts';
import type { Loaded, PublishReport, Setting } from '../reports/publish.ts';
import { type Bench, type BodyPart, createIndex } from './bench.ts';
import { documentsIn, joined, SMALLEST_MEGABYTES } from './bodies.ts';

const TUNED_OVER_ROWS = 300_000;
const IN_FLIGHT_TRIED = [2, 3, 4, 6];
const MEGABYTES_TRIED = [SMALLEST_MEGABYTES, 4, 8, 16];
/** The setting from which each of the two is tuned. */
const FIRST: Setting = { bodyMegabytes: 8, inFlight: 3 };

/** The ceiling: ready-made bodies pushed by a client that does nothing else, refresh included. */
export async function ceiling(
  bench: Bench,
  { bodyMegabytes, inFlight }: Setting,
  parts: readonly BodyPart[],
): Promise<Loaded> {
  const { bodies, environment } = bench;
  const { client, config } = environment;
  const index = await createIndex(bench, 'licenses');
  const file = await open(bodies.path);
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight });
  const url = new URL(`/${index}/_bulk?filter_path=errors`, config.OPENSEARCH_URL);
  const left = joined(parts, bodyMegabytes);

  async function pushNext(): Promise<void> {
    for (let part = left.shift(); part !== undefined; part = left.shift())
      await push(part, { file, url, agent });
  }

  const cpuBefore = await openSearchCpuSeconds(client);
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: inFlight }, pushNext));
  await client.indices.refresh({ index });
  const seconds = (performance.now() - startedAt) / 1000;
  const openSearchCpu = (await openSearchCpuSeconds(client)) - cpuBefore;
  agent.destroy();
  await file.close();
  await deleteIndex({ client }, index);
  const documents = documentsIn(parts);
  return { rate: documents / seconds, openSearchCpu: (openSearchCpu * 1e6) / documents };
}

interface Target {
  readonly file: FileHandle;
  readonly url: URL;
  readonly agent: Agent;
}

async function push({ start, end }: BodyPart, { file, url, agent }: Target): Promise<void> {
  const body = Buffer.allocUnsafe(end - start);
  await file.read(body, 0, body.length, start);
  const request = httpRequest(url, {
    method: 'POST',
    agent,
    headers: { 'content-type': 'application/x-ndjson', 'content-length': body.length },
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.on('error', reject).on('response', resolve);
  });
  request.end(body);
  const answer = await text(await answered);
  if (answer !== '{"errors":false}') throw new Error(`A bulk request failed: ${answer.slice(0, 200)}`);
}

/** Which bodies, and how many requests in flight, serve the plain client best; first the one, then the other. */
export async function tunedSetting(bench: Bench): Promise<Pick<PublishReport, 'tried' | 'setting'>> {
  const share = Math.ceil(
    (bench.bodies.parts.length * TUNED_OVER_ROWS) / Math.max(bench.rows, TUNED_OVER_ROWS),
  );
  const parts = bench.bodies.parts.slice(0, share);
  const tried: PublishReport['tried'] = [];
  const fastest = () => tried.toSorted((one, other) => other.rate - one.rate)[0]?.setting ?? FIRST;

  async function attempt(setting: Setting): Promise<void> {
    const { rate } = await ceiling(bench, setting, parts);
    print(
      `plain client, bodies of ${setting.bodyMegabytes} MB, ${setting.inFlight} in flight: ${Math.round(rate)} documents/s`,
    );
    tried.push({ setting, rate });
  }

  await ceiling(bench, FIRST, parts);
  for (const inFlight of IN_FLIGHT_TRIED) await attempt({ ...FIRST, inFlight });
  const { inFlight } = fastest();
  for (const bodyMegabytes of MEGABYTES_TRIED) {
    if (bodyMegabytes !== FIRST.bodyMegabytes) await attempt({ bodyMegabytes, inFlight });
  }
  return { tried, setting: fastest() };
}
