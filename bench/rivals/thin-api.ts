import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { LRUCache } from 'lru-cache';
import pg from 'pg';
import { z } from 'zod';
import { KEY_CACHED_MS } from '../../src/access/api-keys.ts';
import { limitsConnection, rateLimit } from '../../src/access/rate-limit.ts';
import { boardByName } from '../../src/licenses/boards.ts';
import { numberKey } from '../../src/licenses/fold.ts';
import { givenNamesKey, surnameKey } from '../../src/licenses/names.ts';
import { batcher } from '../../src/storage/batcher.ts';
import { bufferedLog } from '../../src/telemetry/process.ts';

/**
 * A thin API over PostgreSQL, run as a process of its own. As the service, it counts each request in Redis (by the
 * service's own limiter, which shares its calls), looks the key up by its hash and believes it for five seconds,
 * refuses boards that do not exist, and writes a line into the log. It finds the record as it was stored. A lookup has
 * a statement of its own at `/`, shares one at `/batched`, and has many items at `/batch`.
 */
const settings = z
  .object({
    POSTGRES_URL: z.string(),
    REDIS_URL: z.string(),
    PORT: z.coerce.number(),
    KEY_SHA256: z.string(),
  })
  .parse(process.env);

const NO_LIMIT = 1_000_000_000;
const KEYS_REMEMBERED = 10_000;
const CONNECTIONS = 16;
/** One more than the service returns. */
const MOST = 101;
/** The same for an item of a roster. */
const MOST_IN_ROSTER = 21;
/** As many as the service has in one request to OpenSearch. */
const NUMBERS_SHARED = { maxBatchSize: 32, concurrency: 4 };
const NAMES_SHARED = { maxBatchSize: 16, concurrency: 4 };

const byNumber = z.object({ board: z.string(), license_number: z.string() });
const byName = z.object({ board: z.string(), last_name: z.string(), first_name: z.string() });
const lookup = z.union([byNumber, byName]);
const batch = z.union([z.object({ items: z.array(byNumber) }), z.object({ items: z.array(byName) })]);
const recordRows = z.array(z.object({ record: z.string() }));
const placedRecords = z.array(z.object({ place: z.coerce.number(), record: z.string() }));

// Connections stay open: the CPU of a process of PostgreSQL that has ended would not be counted.
const pool = new pg.Pool({
  connectionString: settings.POSTGRES_URL,
  max: CONNECTIONS,
  idleTimeoutMillis: 0,
});
const limit = rateLimit(limitsConnection(settings.REDIS_URL), `bench-rival:${settings.PORT}`, NO_LIMIT, []);
const { log } = bufferedLog('thin API', 'info');
const activeKeys = new LRUCache<string, boolean>({
  max: KEYS_REMEMBERED,
  ttl: KEY_CACHED_MS,
  fetchMethod: async (sha256) => {
    const query = 'select sha256 from api_keys where sha256 = $1';
    return (await pool.query({ name: 'key', text: query, values: [sha256] })).rows.length === 1;
  },
});

/** A number to look up: the code of the board, and the number in folded spelling. */
interface NumberQuery {
  readonly board: string;
  readonly key: string;
}

/** Finds records, as JSON; a name by the beginning of `BOARD/SURNAME/GIVEN`. */
interface Engine {
  byNumber(query: NumberQuery): Promise<readonly string[]>;
  byName(prefix: string): Promise<readonly string[]>;
}

/** The end of all keys with a prefix. */
const endOf = (prefix: string) => `${prefix}\u{10ffff}`;

async function records(name: string, query: string, values: string[]): Promise<string[]> {
  const { rows } = await pool.query({ name, text: query, values });
  return recordRows.parse(rows).map(({ record }) => record);
}

/** One statement a lookup, prepared. */
const single: Engine = {
  byNumber: ({ board, key }) =>
    records('number', 'select record from licenses where number_key = $1 and board = $2', [key, board]),
  byName: (prefix) =>
    records(
      'name',
      'select record from holders join licenses using (id) where key >= $1 and key < $2 order by key limit $3',
      [prefix, endOf(prefix), String(MOST)],
    ),
};

/** The records of many lookups by one statement, in their order. */
async function placed(name: string, query: string, values: readonly unknown[], wanted: number) {
  const { rows } = await pool.query({ name, text: query, values: [...values] });
  const found = Map.groupBy(placedRecords.parse(rows), ({ place }) => place);
  return Array.from({ length: wanted }, (_, at) => (found.get(at + 1) ?? []).map(({ record }) => record));
}

function byNumbers(queries: readonly NumberQuery[]) {
  return placed(
    'numbers',
    'select place, record from unnest($1::text[], $2::text[]) with ordinality as asked(number_key, board, place) ' +
      'join licenses using (number_key, board)',
    [queries.map(({ key }) => key), queries.map(({ board }) => board)],
    queries.length,
  );
}

function byNames(prefixes: readonly string[], mostMatches: number) {
  return placed(
    'names',
    'select place, record from unnest($1::text[], $2::text[]) with ordinality as asked(low, high, place), ' +
      'lateral (select id from holders where key >= low and key < high order by key limit $3) as found ' +
      'join licenses using (id) order by place',
    [prefixes, prefixes.map(endOf), mostMatches],
    prefixes.length,
  );
}

/** Lookups that come at the same moment share a statement. */
const batched: Engine = {
  byNumber: batcher(byNumbers, NUMBERS_SHARED),
  byName: batcher((prefixes: readonly string[]) => byNames(prefixes, MOST), NAMES_SHARED),
};

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

function numberQuery({ board, license_number: number }: z.output<typeof byNumber>): NumberQuery {
  return { board: boardCode(board), key: numberKey(number) };
}

function namePrefix({ board, last_name: last, first_name: first }: z.output<typeof byName>): string {
  return `${boardCode(board)}/${surnameKey(last)}/${givenNamesKey(first)}`;
}

async function answerBatch(body: unknown): Promise<Answer> {
  const { items } = batch.parse(body);
  const numbers = items.flatMap((item) => ('license_number' in item ? [numberQuery(item)] : []));
  const names = items.flatMap((item) => ('last_name' in item ? [namePrefix(item)] : []));
  const found = numbers.length > 0 ? await byNumbers(numbers) : await byNames(names, MOST_IN_ROSTER);
  return { status: 200, json: `{"results":[${found.map((each) => `[${each.join(',')}]`).join(',')}]}` };
}

async function answerLookup(engine: Engine, body: unknown): Promise<Answer> {
  const asked = lookup.parse(body);
  if ('license_number' in asked) {
    const [record] = await engine.byNumber(numberQuery(asked));
    return record === undefined ? { status: 404, json: '{"found":false}' } : { status: 200, json: record };
  }
  const found = await engine.byName(namePrefix(asked));
  return { status: 200, json: `{"found":true,"count":${found.length},"multiple":[${found.join(',')}]}` };
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
    if (request.url === '/batch') return await answerBatch(body);
    return await answerLookup(request.url === '/batched' ? batched : single, body);
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

await pool.query('insert into api_keys values ($1) on conflict do nothing', [settings.KEY_SHA256]);
createServer(respond).listen(settings.PORT, '127.0.0.1', () => process.stdout.write('ready\n'));
