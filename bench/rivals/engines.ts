import { Client } from '@opensearch-project/opensearch';
import pg from 'pg';
import { z } from 'zod';
import { batcher } from '../../src/storage/batcher.ts';

/** Finds records, as JSON. */
export interface Engine {
  byNumber(key: string): Promise<readonly string[]>;
  /** @param prefix the beginning of `BOARD/SURNAME/GIVEN` */
  byName(prefix: string): Promise<readonly string[]>;
}

/** Finds the records of many lookups in one statement, in their order. */
export interface BatchEngine {
  byNumbers(keys: readonly string[]): Promise<readonly (readonly string[])[]>;
  byNames(prefixes: readonly string[]): Promise<readonly (readonly string[])[]>;
}

const CONNECTIONS = 16;
const MOST = 101;
const recordRows = z.array(z.object({ record: z.string() }));

/** One statement a lookup, prepared. */
export function postgresEngine(url: string): Engine {
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS });
  const query = async (name: string, text: string, values: string[]) => {
    const { rows } = await pool.query({ name, text, values });
    return recordRows.parse(rows).map(({ record }) => record);
  };
  return {
    byNumber: (key) => query('number', 'select record from licenses where number_key = $1', [key]),
    byName: (prefix) =>
      query(
        'name',
        'select record from holders join licenses using (id) where key >= $1 and key < $2 order by key limit $3',
        [prefix, `${prefix}\u{10ffff}`, String(MOST)],
      ),
  };
}

const keyedRecords = z.array(z.object({ number_key: z.string(), record: z.string() }));

/** As `postgresEngine`, but lookups by number that come at the same moment share a statement. */
export function batchedPostgresEngine(url: string): Engine {
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS });
  const byNumber = batcher(
    async (keys: readonly string[]) => {
      const { rows } = await pool.query({
        name: 'numbers',
        text: 'select number_key, record from licenses where number_key = any($1)',
        values: [keys],
      });
      const found = Map.groupBy(keyedRecords.parse(rows), ({ number_key: key }) => key);
      return keys.map((key) => (found.get(key) ?? []).map(({ record }) => record));
    },
    { maxBatchSize: 64, concurrency: 2 },
  );
  return { ...postgresEngine(url), byNumber };
}

const MOST_IN_BATCH = 21;
const placedRecords = z.array(z.object({ place: z.coerce.number(), record: z.string() }));

/** One statement for a whole batch. */
export function postgresBatchEngine(url: string): BatchEngine {
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS });
  return {
    byNumbers: async (keys) => {
      const text = 'select number_key, record from licenses where number_key = any($1)';
      const { rows } = await pool.query({ name: 'numbers', text, values: [keys] });
      const found = Map.groupBy(keyedRecords.parse(rows), ({ number_key: key }) => key);
      return keys.map((key) => (found.get(key) ?? []).map(({ record }) => record));
    },
    byNames: async (prefixes) => {
      const text =
        'select place, record from unnest($1::text[], $2::text[]) with ordinality as asked(low, high, place), ' +
        'lateral (select id from holders where key >= low and key < high order by key limit $3) as found ' +
        'join licenses using (id) order by place';
      const values = [prefixes, prefixes.map((prefix) => `${prefix}\u{10ffff}`), MOST_IN_BATCH];
      const { rows } = await pool.query({ name: 'names', text, values });
      const found = Map.groupBy(placedRecords.parse(rows), ({ place }) => place);
      return prefixes.map((_, at) => (found.get(at + 1) ?? []).map(({ record }) => record));
    },
  };
}

const hits = z.object({ hits: z.object({ hits: z.array(z.object({ _source: z.unknown() })) }) });

/** OpenSearch as one begins with it: the mapping that it guesses, and its client. */
export function defaultOpenSearchEngine(url: string, index: string): Engine {
  const client = new Client({ node: url });
  const records = (body: unknown) => hits.parse(body).hits.hits.map(({ _source }) => JSON.stringify(_source));
  return {
    byNumber: async (key) => {
      const query = { term: { 'number_key.keyword': { value: key } } };
      return records((await client.search({ index, body: { query } })).body);
    },
    byName: async (prefix) => {
      const query = { prefix: { 'holder_keys.keyword': { value: prefix } } };
      return records((await client.search({ index, body: { size: MOST, query } })).body);
    },
  };
}
