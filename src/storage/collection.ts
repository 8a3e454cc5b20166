import type { API } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { bulk, documentsById, search } from './checked-search.ts';
import { isIndexNotFound, responseStatus } from './errors.ts';
import type { Store, StoredIndex } from './store.ts';
import { BadDocumentError, type Checked, checked } from './stored.ts';

/**
 * How many documents of an index are read or written at once. A saved record may take 5 MB, other documents a few KB.
 */
export function documentsAtOnce(index: StoredIndex): number {
  return index === 'savedRecords' ? 15 : 1000;
}

/** The validation of stored documents, by index. */
export type DocumentChecks = Readonly<Record<StoredIndex, (stored: unknown, id: string) => Checked<unknown>>>;

/** The version of a document as it was read; `undefined` if there was no document. */
export type Version = { readonly if_seq_no: number; readonly if_primary_term: number } | undefined;

/** The sort values of a document; blank for a missing field. */
export type Sort = (string | number)[];

type SearchBody = NonNullable<API.Search_RequestBody>;

const CONFLICT = 409;
const MAX_LISTED = 10_000;

const stored = z.object({ _id: z.string(), _source: z.unknown().optional() });
const versioned = stored.extend({ _seq_no: z.int(), _primary_term: z.int() });
const hits = z.object({
  hits: z.object({
    hits: z.array(
      stored.extend({
        sort: z.array(z.union([z.string(), z.number(), z.null().transform(() => '')])).optional(),
      }),
    ),
  }),
});

interface Options<Stored> {
  /** An additional condition that a stored document must meet. */
  readonly isStoredUnder?: (id: string, document: Stored) => boolean;
  /** Whether the valid parts of an invalid document are kept. By default, the whole document is left out. */
  readonly keepsValidParts?: boolean;
  /** The order of lists. */
  readonly order?: NonNullable<SearchBody['sort']>;
}

/**
 * All documents of one kind in an index. The same schema validates reads and writes. Reading several documents skips
 * invalid ones, and the store reports them.
 */
export function collection<Schema extends z.ZodType<Readonly<Record<string, unknown>>>>(
  index: StoredIndex,
  schema: Schema,
  { isStoredUnder = () => true, keepsValidParts = false, order = [] }: Options<z.output<Schema>> = {},
) {
  type Stored = z.output<Schema>;
  type Documents = readonly (readonly [id: string, document: Stored])[];

  function check(source: unknown, id: string): Checked<Stored> {
    const found = checked(schema, source, keepsValidParts);
    const isMisplaced = found.document !== undefined && !isStoredUnder(id, found.document);
    return isMisplaced ? { problem: 'it is stored under another id' } : found;
  }

  /** The valid document or its valid parts. Problems are reported. */
  function checkedAndReported(store: Store, id: string, source: unknown): Checked<Stored> {
    const found = check(source, id);
    if (found.problem !== undefined)
      store.reportBad({ index: store.names[index], id, problem: found.problem });
    return found;
  }

  /**
   * The document with this id; `undefined` if there is none.
   *
   * @throws {BadDocumentError} when the document is invalid
   * @throws {ResponseError} also when the index is missing: its contents are then unknown, such as a deactivated
   * account, and a write would create the index without its template
   */
  async function read(store: Store, id: string, options: { readonly requestTimeout?: number } = {}) {
    try {
      const { body } = await store.client.get({ index: store.names[index], id }, options);
      const { _source, _seq_no, _primary_term } = versioned.parse(body);
      const { document, problem = '' } = checkedAndReported(store, id, _source);
      if (document === undefined) throw new BadDocumentError({ index: store.names[index], id, problem });
      return { document, version: { if_seq_no: _seq_no, if_primary_term: _primary_term } };
    } catch (error) {
      if (responseStatus(error) === 404 && !isIndexNotFound(error)) return undefined;
      throw error;
    }
  }

  /** @throws {SearchUnavailableError} when the response is partial */
  async function searchDocuments(store: Store, body: SearchBody) {
    const request = { index: store.names[index], body: { track_total_hits: false, ...body } };
    const found = (await search(store.client, hits, request)).hits.hits;
    const all = found.map(({ _id, _source }) => checkedAndReported(store, _id, _source).document);
    const firstBad = all.indexOf(undefined);
    return {
      /** The valid documents. */
      documents: all.filter((document) => document !== undefined),
      count: found.length,
      /** The sort values of the first invalid document, and of the last document found. */
      firstBad: found[firstBad]?.sort,
      last: found.at(-1)?.sort,
    };
  }

  /** @throws {ZodError} for a document that could not be read back */
  const valid = (document: Stored): Stored => schema.parse(document);

  function write(
    { client, names }: Store,
    document: Stored,
    request: Omit<API.Index_Request, 'index' | 'body'>,
  ) {
    return client.index({ index: names[index], body: valid(document), ...request }, { ignore: [CONFLICT] });
  }

  /** Replaces the version of a document that was read. @returns whether nobody had changed the document since */
  async function replace(store: Store, id: string, version: Version, document: Stored): Promise<boolean> {
    const condition = version ?? { op_type: 'create' as const };
    return (await write(store, document, { id, refresh: true, ...condition })).statusCode !== CONFLICT;
  }

  async function writeAll({ client, names }: Store, operation: 'index' | 'create', documents: Documents) {
    if (documents.length === 0) return [];
    const body = documents.flatMap(([id, each]) => [{ [operation]: { _id: id } }, valid(each)]);
    return bulk(client, { index: names[index], body, refresh: operation === 'create' }, [CONFLICT]);
  }

  return {
    schema,
    check,
    valid,
    read,
    search: searchDocuments,
    replace,

    /** The valid documents with these ids, in order. @throws {SearchUnavailableError} when some could not be read */
    async readAll(store: Store, ids: readonly string[]): Promise<readonly Stored[]> {
      if (ids.length === 0) return [];
      const found = await documentsById(store.client, { index: store.names[index], body: { ids: [...ids] } });
      const all = found.map((doc) => doc && checkedAndReported(store, doc._id, doc._source).document);
      return all.filter((document) => document !== undefined);
    },

    /**
     * All valid documents that match, in pages of `size`.
     *
     * @param body has a sort in which no two documents are equal
     * @throws {SearchUnavailableError} when a response is partial
     */
    async *pages(
      store: Store,
      body: SearchBody & { readonly size: number },
    ): AsyncGenerator<readonly Stored[], void, undefined> {
      let after: Sort | undefined;
      do {
        const { documents, count, last } = await searchDocuments(store, {
          ...body,
          ...(after === undefined ? {} : { search_after: after }),
        });
        if (documents.length > 0) yield documents;
        after = count < body.size ? undefined : last;
      } while (after !== undefined);
    },

    /** The first documents in the order of lists, at most 10,000. */
    async list(store: Store, size = MAX_LISTED): Promise<readonly Stored[]> {
      return (await searchDocuments(store, { sort: order, size: Math.min(size, MAX_LISTED) })).documents;
    },

    /** Adds a document with an id chosen by OpenSearch, and makes it searchable. */
    async append(store: Store, document: Stored): Promise<void> {
      await write(store, document, { refresh: true });
    },

    /** Writes a document with this id, replacing any existing one. */
    async put(store: Store, id: string, document: Stored): Promise<void> {
      await write(store, document, { id });
    },

    /** Writes documents with their ids, in one request. @throws {SearchUnavailableError} when some were rejected */
    async putAll(store: Store, documents: Documents): Promise<void> {
      await writeAll(store, 'index', documents);
    },

    /**
     * Creates documents whose ids are still free, in one request, and makes them searchable. An existing document stays
     * as it is.
     *
     * @returns whether each document was written
     * @throws {SearchUnavailableError} when some were rejected
     */
    async createAll(store: Store, documents: Documents): Promise<readonly boolean[]> {
      return (await writeAll(store, 'create', documents)).map((status) => status !== CONFLICT);
    },

    /**
     * Replaces the document with this id by a changed one. If someone else writes the document meanwhile, the change is
     * applied again to the new version.
     *
     * @param change returns the new document; or its argument, or `undefined`, to change nothing
     * @returns the last result of `change`
     * @throws the errors of `change` and `read`
     */
    async update<Changed extends Stored | undefined>(
      store: Store,
      id: string,
      change: (current: Stored | undefined) => Changed,
    ): Promise<Changed> {
      for (;;) {
        const current = await read(store, id);
        const next = change(current?.document);
        if (next === undefined || next === current?.document) return next;
        if (await replace(store, id, current?.version, next)) return next;
      }
    },

    /** @returns whether the document existed */
    async remove({ client, names }: Store, id: string): Promise<boolean> {
      const removed = await client.delete({ index: names[index], id, refresh: true }, { ignore: [404] });
      return removed.statusCode !== 404;
    },

    /** Deletes all documents that match, and hides them at once. Documents that are changed meanwhile stay. */
    async removeWhere({ client, names }: Store, query: NonNullable<SearchBody['query']>): Promise<void> {
      const request = { index: names[index], conflicts: 'proceed', refresh: true } as const;
      await client.deleteByQuery({ ...request, body: { query } });
    },
  };
}
