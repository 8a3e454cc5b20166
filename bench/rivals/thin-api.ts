import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { KEY_CACHED_MS } from '../../src/access/api-keys.ts';
import { limitsConnection, rateLimit } from '../../src/access/rate-limit.ts';
import { boardByName } from '../../src/licenses/boards.ts';
import { numberKey } from '../../src/licenses/number.ts';
import { givenNamesKey, surnameKey } from '../../src/licenses/person-name.ts';
import { bufferedLog } from '../../src/telemetry/process.ts';
import {
  type BatchEngine,
  batchedPostgresEngine,
  defaultOpenSearchEngine,
  type Engine,
  postgresBatchEngine,
  postgresEngine,
} from './engines.ts';

/**
 * A thin API over another engine, run as a process of its own. As the service, it counts each request in Redis (by
 * the service's own limiter, which shares its calls), looks the key up by its hash and believes it for five seconds,
 * refuses boards that do not exist, and writes a line into the log. It finds the record as it was stored.
 */
const settings = z
  .object({
    ENGINE: z.enum(['postgres', 'postgres-batched', 'default-opensearch']),
    ENGINE_URL: z.string(),
    ENGINE_INDEX: z.string().default(''),
    REDIS_URL: z.string(),
    PORT: z.coerce.number(),
    KEY_SHA256: z.string(),
  })
  .parse(process.env);

const NO_LIMIT = 1_000_000_000;
const KEYS_REMEMBERED = 10_000;

function engineOf({ ENGINE, ENGINE_URL, ENGINE_INDEX }: typeof settings): Engine {
  if (ENGINE === 'postgres') return postgresEngine(ENGINE_URL);
  if (ENGINE === 'postgres-batched') return batchedPostgresEngine(ENGINE_URL);
  return defaultOpenSearchEngine(ENGINE_URL, ENGINE_INDEX);
}

const engine = engineOf(settings);
const batchEngine = settings.ENGINE === 'postgres' ? postgresBatchEngine(settings.ENGINE_URL) : undefined;
const limit = rateLimit(limitsConnection(settings.REDIS_URL), `bench-rival:${settings.PORT}`, NO_LIMIT, []);
const { log } = bufferedLog('thin API', 'info');
const activeKeys = new LRUCache<string, boolean>({
  max: KEYS_REMEMBERED,
  ttl: KEY_CACHED_MS,
  fetchMethod: (sha256) => engine.hasKey(sha256),
});

const byNumber = z.object({ board: z.string(), license_number: z.string() });
const byName = z.object({ board: z.string(), last_name: z.string(), first_name: z.string() });
const lookup = z.union([byNumber, byName]);
const batch = z.union([z.object({ items: z.array(byNumber) }), z.object({ items: z.array(byName) })]);

interface Answer {
  readonly status: number;
  readonly json: string;
}

/** @throws {RangeError} for a name that no board has */
function boardCode(name: string): string {
  const board = boardByName(name);
  if (board === undefined) throw new RangeError(`Unknown board: ${name}`);
  return board.code;
}

function numberQuery({ board, license_number: number }: z.output<typeof byNumber>) {
  return { board: boardCode(board), key: numberKey(number) };
}

function namePrefix({ board, last_name: last, first_name: first }: z.output<typeof byName>): string {
  return `${boardCode(board)}/${surnameKey(last)}/${givenNamesKey(first)}`;
}

async function answerBatch(engine: BatchEngine, body: unknown): Promise<Answer> {
  const { items } = batch.parse(body);
  const numbers = items.flatMap((item) => ('license_number' in item ? [numberQuery(item)] : []));
  const names = items.flatMap((item) => ('last_name' in item ? [namePrefix(item)] : []));
  const found = numbers.length > 0 ? await engine.byNumbers(numbers) : await engine.byNames(names);
  return { status: 200, json: `{"results":[${found.map((records) => `[${records.join(',')}]`).join(',')}]}` };
}

async function answerLookup(body: unknown): Promise<Answer> {
  const asked = lookup.parse(body);
  if ('license_number' in asked) {
    const [record] = await engine.byNumber(numberQuery(asked));
    return record === undefined ? { status: 404, json: '{"found":false}' } : { status: 200, json: record };
  }
  const records = await engine.byName(namePrefix(asked));
  return { status: 200, json: `{"found":true,"count":${records.length},"multiple":[${records.join(',')}]}` };
}

async function isActive(key: string): Promise<boolean> {
  const sha256 = createHash('sha256').update(key).digest('hex');
  return activeKeys.get(sha256) ?? (await activeKeys.fetch(sha256)) === true;
}

async function answer(request: IncomingMessage): Promise<Answer> {
  await limit.spend(request.socket.remoteAddress ?? '');
  if (!(await isActive(String(request.headers['x-api-key'])))) {
    return { status: 401, json: '{"detail":"Invalid or inactive API key"}' };
  }
  const body: unknown = JSON.parse(await text(request));
  try {
    const isBatch = request.url === '/batch' && batchEngine !== undefined;
    return await (isBatch ? answerBatch(batchEngine, body) : answerLookup(body));
  } catch (error) {
    if (error instanceof RangeError) return { status: 400, json: '{"detail":"Unknown board"}' };
    throw error;
  }
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [arrivedAt, requestId] = [performance.now(), randomUUID()];
  const { status, json } = await answer(request).catch((error: unknown) => ({
    status: 500,
    json: JSON.stringify({ detail: String(error) }),
  }));
  response
    .writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(json),
      'x-request-id': requestId,
    })
    .end(json);
  const ms = Math.round((performance.now() - arrivedAt) * 10) / 10;
  log.info({ requestId, method: request.method, path: request.url, status, ms }, 'request');
}

await engine.addKey(settings.KEY_SHA256);
createServer(respond).listen(settings.PORT, '127.0.0.1', () => process.stdout.write('ready\n'));
