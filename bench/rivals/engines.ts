import { Client } from '@opensearch-project/opensearch';
import pg from 'pg';
import { z } from 'zod';
import { batcher } from '../../src/storage/batcher.ts';

/** A number to look up. */
export interface NumberQuery {
  /** The code of the board. */
  readonly board: string;
  /** The number in folded spelling. */
  readonly key: string;
}

/** Finds records, as JSON. */
export interface Engine {
  byNumber(query: NumberQuery): Promise<readonly string[]>;
  /** @param prefix the beginning of `BOARD/SURNAME/GIVEN` */
  byName(prefix: string): Promise<readonly string[]>;
  /** Stores an API key by its SHA-256. */
  addKey(sha256: string): Promise<void>;
  hasKey(sha256: string): Promise<boolean>;
}

/** Finds the records of many lookups in one statement, in their order. */
export interface BatchEngine {
  byNumbers(queries: readonly NumberQuery[]): Promise<readonly (readonly string[])[]>;
  byNames(prefixes: readonly string[]): Promise<readonly (readonly string[])[]>;
}

const CONNECTIONS = 16;
/** One more than the service returns. */
const MOST = 101;
/** The same for an item of a roster. */
const MOST_IN_ROSTER = 21;
const recordRows = z.array(z.object({ record: z.string() }));
const placedRecords = z.array(z.object({ place: z.coerce.number(), record: z.string() }));

/** The end of all keys with a prefix. */
const endOf = (prefix: string) => `${prefix}\u{10ffff}`;

function poolFor(url: string): pg.Pool {
  // Connections stay open: the CPU of a process of PostgreSQL that has ended would not be counted.
  return new pg.Pool({ connectionString: url, max: CONNECTIONS, idleTimeoutMillis: 0 });
}

/** One statement a lookup, prepared. */
export function postgresEngine(url: string, pool = poolFor(url)): Engine {
  const query = async (name: string, text: string, values: string[]) => {
    const { rows } = await pool.query({ name, text, values });
    return recordRows.parse(rows).map(({ record }) => record);
  };
  return {
    byNumber: ({ board, key }) =>
      query('number', 'select record from licenses where number_key = $1 and board = $2', [key, board]),
    byName: (prefix) =>
      query(
        'name',
        'select record from holders join licenses using (id) where key >= $1 and key < $2 order by key limit $3',
        [prefix, endOf(prefix), String(MOST)],
      ),
    addKey: async (sha256) => {
      await pool.query('insert into api_keys values ($1) on conflict do nothing', [sha256]);
    },
    hasKey: async (sha256) => {
      const text = 'select sha256 from api_keys where sha256 = $1';
      return (await pool.query({ name: 'key', text, values: [sha256] })).rows.length === 1;
    },
  };
}

/** One statement for a whole batch. */
export function postgresBatchEngine(
  url: string,
  mostMatches = MOST_IN_ROSTER,
  pool = poolFor(url),
): BatchEngine {
  async function records(name: string, text: string, values: readonly unknown[], wanted: number) {
    const { rows } = await pool.query({ name, text, values: [...values] });
    const found = Map.groupBy(placedRecords.parse(rows), ({ place }) => place);
    return Array.from({ length: wanted }, (_, at) => (found.get(at + 1) ?? []).map(({ record }) => record));
  }
  return {
    byNumbers: (queries) =>
      records(
        'numbers',
        'select place, record from unnest($1::text[], $2::text[]) with ordinality as asked(number_key, board, place) ' +
          'join licenses using (number_key, board)',
        [queries.map(({ key }) => key), queries.map(({ board }) => board)],
        queries.length,
      ),
    byNames: (prefixes) =>
      records(
        'names',
        'select place, record from unnest($1::text[], $2::text[]) with ordinality as asked(low, high, place), ' +
          'lateral (select id from holders where key >= low and key < high order by key limit $3) as found ' +
          'join licenses using (id) order by place',
        [prefixes, prefixes.map(endOf), mostMatches],
        prefixes.length,
      ),
  };
}

/** As many as the service has in one request to OpenSearch. */
const NUMBERS_SHARED = { maxBatchSize: 32, concurrency: 4 };
const NAMES_SHARED = { maxBatchSize: 16, concurrency: 4 };

/** As `postgresEngine`, but lookups that come at the same moment share a statement. */
export function batchedPostgresEngine(url: string): Engine {
  const pool = poolFor(url);
  const { byNumbers, byNames } = postgresBatchEngine(url, MOST, pool);
  return {
    ...postgresEngine(url, pool),
    byNumber: batcher(byNumbers, NUMBERS_SHARED),
    byName: batcher(byNames, NAMES_SHARED),
  };
}

const hits = z.object({ hits: z.object({ hits: z.array(z.object({ _source: z.unknown() })) }) });

/** OpenSearch as one begins with it: the mapping that it guesses, and its client. */
export function defaultOpenSearchEngine(url: string, index: string): Engine {
  const client = new Client({ node: url });
  const keys = `${index}-keys`;
  const records = (body: unknown) => hits.parse(body).hits.hits.map(({ _source }) => JSON.stringify(_source));
  return {
    byNumber: async ({ board, key }) => {
      const must = [
        { term: { 'number_key.keyword': { value: key } } },
        { term: { 'board_code.keyword': { value: board } } },
      ];
      return records((await client.search({ index, body: { query: { bool: { must } } } })).body);
    },
    byName: async (prefix) => {
      const query = { prefix: { 'holder_keys.keyword': { value: prefix } } };
      return records((await client.search({ index, body: { size: MOST, query } })).body);
    },
    addKey: async (sha256) => {
      await client.indices.create({ index: keys });
      await client.index({ index: keys, id: sha256, body: {}, refresh: true });
    },
    hasKey: async (sha256) => (await client.exists({ index: keys, id: sha256 })).body,
  };
}
