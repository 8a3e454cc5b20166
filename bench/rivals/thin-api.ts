import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { z } from 'zod';
import { boardByName } from '../../src/licenses/boards.ts';
import { numberKey } from '../../src/licenses/number.ts';
import { givenNamesKey, surnameKey } from '../../src/licenses/person-name.ts';
import {
  type BatchEngine,
  batchedPostgresEngine,
  defaultOpenSearchEngine,
  type Engine,
  postgresBatchEngine,
  postgresEngine,
} from './engines.ts';

/** A thin API over another engine: a key, a limit, one lookup, JSON. Run as a process of its own. */
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

function engineOf({ ENGINE, ENGINE_URL, ENGINE_INDEX }: typeof settings): Engine {
  if (ENGINE === 'postgres') return postgresEngine(ENGINE_URL);
  if (ENGINE === 'postgres-batched') return batchedPostgresEngine(ENGINE_URL);
  return defaultOpenSearchEngine(ENGINE_URL, ENGINE_INDEX);
}

const engine = engineOf(settings);
const batchEngine = settings.ENGINE === 'postgres' ? postgresBatchEngine(settings.ENGINE_URL) : undefined;
const limiter = new RateLimiterRedis({
  storeClient: new Redis(settings.REDIS_URL),
  keyPrefix: `bench-rival:${settings.PORT}`,
  points: 1_000_000_000,
  duration: 60,
});
const keyHash = Buffer.from(settings.KEY_SHA256, 'hex');

const asked = z.union([
  z.object({ board: z.string(), license_number: z.string() }),
  z.object({ board: z.string(), last_name: z.string(), first_name: z.string() }),
]);

const batch = z.union([
  z.object({ items: z.array(z.object({ board: z.string(), license_number: z.string() })) }),
  z.object({
    items: z.array(z.object({ board: z.string(), last_name: z.string(), first_name: z.string() })),
  }),
]);

function namePrefix({
  board,
  last_name: last,
  first_name: first,
}: {
  board: string;
  last_name: string;
  first_name: string;
}) {
  return `${boardByName(board)?.code ?? ''}/${surnameKey(last)}/${givenNamesKey(first)}`;
}

async function answerBatch(engine: BatchEngine, body: unknown): Promise<string> {
  const { items } = batch.parse(body);
  const numbers = items.flatMap((item) => ('license_number' in item ? [numberKey(item.license_number)] : []));
  const names = items.flatMap((item) => ('last_name' in item ? [namePrefix(item)] : []));
  const found = numbers.length > 0 ? await engine.byNumbers(numbers) : await engine.byNames(names);
  return `{"results":[${found.map((records) => `[${records.join(',')}]`).join(',')}]}`;
}

async function answer(request: IncomingMessage): Promise<string> {
  const key = createHash('sha256').update(String(request.headers['x-api-key'])).digest();
  if (!timingSafeEqual(key, keyHash)) return '{"detail":"Invalid or inactive API key"}';
  await limiter.consume(request.socket.remoteAddress ?? '');
  const json: unknown = JSON.parse(await text(request));
  if (request.url === '/batch' && batchEngine !== undefined) return answerBatch(batchEngine, json);
  const body = asked.parse(json);
  if ('license_number' in body) {
    return (await engine.byNumber(numberKey(body.license_number)))[0] ?? '{"found":false}';
  }
  const records = await engine.byName(namePrefix(body));
  return `{"found":true,"count":${records.length},"multiple":[${records.join(',')}]}`;
}

createServer(async (request, response) => {
  try {
    const json = await answer(request);
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) })
      .end(json);
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
}).listen(settings.PORT, '127.0.0.1', () => process.stdout.write('ready\n'));
