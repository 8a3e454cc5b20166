import type { API } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { bulk, documentsById, search } from './checked-search.ts';
import { isIndexNotFound, responseStatus } from './errors.ts';
import type { IndexNames, Store } from './store.ts';
import { BadDocumentError, type Checked, checked, type Salvage } from './stored.ts';

/** The indices of documents that must survive. */
export const STORED_INDICES = [
  'ledger',
  'changes',
  'savedRecords',
  'subscriptions',
  'webhooks',
  'rejectedRows',
  'accounts',
  'apiKeys',
  'apiKeyUsage',
  'audit',
  'signingKeys',
  'firstAnswers',
] as const satisfies readonly (keyof IndexNames)[];

export type StoredIndex = (typeof STORED_INDICES)[number];

/** How many documents of an index are read or written at once. A saved record may have 5 MB, others a few KB. */
export function documentsAtOnce(index: StoredIndex): number {
  return index === 'savedRecords' ? 15 : 1000;
}

/** The checks of the stored documents of each index. */
export type DocumentChecks = Readonly<Record<StoredIndex, (stored: unknown, id: string) => Checked<unknown>>>;

/** Which version of a document was read; `undefined` where there was none. */
export type Version = { readonly if_seq_no: number; readonly if_primary_term: number } | undefined;

/** The sort values of a document; blank for one that lacks the field. */
export type Sort = (string | number)[];

type SearchBody = NonNullable<API.Search_RequestBody>;

const CREATED = 201;
const CONFLICT = 409;

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
  /** What else must hold. */
  readonly isStoredUnder?: (id: string, document: Stored) => boolean;
  /** What stands in for a document that is not valid; it is left out unless given. */
  readonly salvage?: Salvage;
}

/**
 * All documents of one kind in an index. What is written is checked by the schema by which it is read. A reader of
 * several leaves out what is not valid, and the store reports it.
 */
export function collection<Schema extends z.ZodType<Readonly<Record<string, unknown>>>>(
  index: StoredIndex,
  schema: Schema,
  { isStoredUnder = () => true, salvage }: Options<z.output<Schema>> = {},
) {
  type Stored = z.output<Schema>;

  function check(source: unknown, id: string): Checked<Stored> {
    const found = checked(schema, source, salvage);
    const isMisplaced = found.document !== undefined && !isStoredUnder(id, found.document);
    return isMisplaced ? { problem: 'it is stored under another id' } : found;
  }

  /** @throws {ZodError} for a document that could not be read again */
  function valid(document: Stored): Stored {
    return schema.parse(document);
  }

  /** The document, or what is left of it; what is wrong is reported. */
  function checkedAndReported(store: Store, id: string, source: unknown): Checked<Stored> {
    const found = check(source, id);
    if (found.problem !== undefined)
      store.reportBad({ index: store.names[index], id, problem: found.problem });
    return found;
  }

  /**
   * The document of an id; `undefined` where there is none.
   *
   * @throws {BadDocumentError} when it is not valid
   * @throws {ResponseError} also when the index is missing: nobody knows what it had, such as a deactivated account, and a
   * write would create it without its template
   */
  async function read(store: Store, id: string, timeoutMs?: number) {
    try {
      const { body } = await store.client.get(
        { index: store.names[index], id },
        timeoutMs === undefined ? {} : { requestTimeout: timeoutMs },
      );
      const { _source, _seq_no, _primary_term } = versioned.parse(body);
      const { document, problem = '' } = checkedAndReported(store, id, _source);
      if (document === undefined) throw new BadDocumentError({ index: store.names[index], id, problem });
      return { document, version: { if_seq_no: _seq_no, if_primary_term: _primary_term } };
    } catch (error) {
      if (responseStatus(error) === 404 && !isIndexNotFound(error)) return undefined;
      throw error;
    }
  }

  /** The valid documents of some ids, in their order. @throws {SearchUnavailableError} when some could not be read */
  async function readAll(store: Store, ids: readonly string[]): Promise<readonly Stored[]> {
    if (ids.length === 0) return [];
    const found = await documentsById(store.client, { index: store.names[index], body: { ids: [...ids] } });
    const all = found.map((doc) => doc && checkedAndReported(store, doc._id, doc._source).document);
    return all.filter((document) => document !== undefined);
  }

  /** @throws {SearchUnavailableError} when the response is partial */
  async function searchDocuments(store: Store, body: SearchBody) {
    const request = { index: store.names[index], body: { track_total_hits: false, ...body } };
    const found = (await search(store.client, hits, request)).hits.hits;
    const all = found.map(({ _id, _source }) => checkedAndReported(store, _id, _source).document);
    const firstBad = all.indexOf(undefined);
    return {
      /** The valid ones. */
      documents: all.filter((document) => document !== undefined),
      count: found.length,
      /** The sort values of the first that is not valid, and of the last that was found. */
      firstBad: found[firstBad]?.sort,
      last: found.at(-1)?.sort,
    };
  }

  /**
   * All valid documents that match, in pages of `size`.
   *
   * @param body with a sort by which no two documents are the same
   * @throws {SearchUnavailableError} when a response is partial
   */
  async function* pages(
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
  }

  /** Adds a document, under an id that OpenSearch gives it, and makes it searchable. */
  async function append({ client, names }: Store, document: Stored): Promise<void> {
    await client.index({ index: names[index], body: valid(document), refresh: true });
  }

  /** Writes a document under an id, in place of the one before. */
  async function put({ client, names }: Store, id: string, document: Stored): Promise<void> {
    await client.index({ index: names[index], id, body: valid(document) });
  }

  /** Writes documents under their ids, in one request. @throws {SearchUnavailableError} when not all were taken */
  async function putAll(
    { client, names }: Store,
    documents: readonly (readonly [id: string, document: Stored])[],
  ): Promise<void> {
    if (documents.length === 0) return;
    const body = documents.flatMap(([id, document]) => [{ index: { _id: id } }, valid(document)]);
    await bulk(client, { index: names[index], body });
  }

  /**
   * Writes documents under ids that are free, in one request, and makes them searchable. A document that is there stays.
   *
   * @returns of each, whether it was written
   * @throws {SearchUnavailableError} when not all were taken
   */
  async function createAll(
    { client, names }: Store,
    documents: readonly (readonly [id: string, document: Stored])[],
  ): Promise<readonly boolean[]> {
    if (documents.length === 0) return [];
    const body = documents.flatMap(([id, document]) => [{ create: { _id: id } }, valid(document)]);
    const statuses = await bulk(client, { index: names[index], body, refresh: true }, [CONFLICT]);
    return statuses.map((status) => status === CREATED);
  }

  /** Writes a document in place of the version that was read. @returns whether nothing had changed it since */
  async function replace(store: Store, id: string, version: Version, document: Stored): Promise<boolean> {
    const condition = version ?? { op_type: 'create' as const };
    const body = valid(document);
    const { statusCode } = await store.client.index(
      { index: store.names[index], id, body, refresh: true, ...condition },
      { ignore: [CONFLICT] },
    );
    return statusCode !== CONFLICT;
  }

  /**
   * Makes another document of the one of an id. When somebody else writes it meanwhile, it is done again with what they
   * wrote.
   *
   * @param change gives the new document; `undefined` where nothing changes
   * @returns the document as it is now
   * @throws what `change` and `read` throw
   */
  async function update(
    store: Store,
    id: string,
    change: (current: Stored | undefined) => Stored | undefined,
  ): Promise<Stored | undefined> {
    for (;;) {
      const current = await read(store, id);
      const next = change(current?.document);
      if (next === undefined) return current?.document;
      if (await replace(store, id, current?.version, next)) return next;
    }
  }

  /** @returns whether there was one */
  async function remove({ client, names }: Store, id: string): Promise<boolean> {
    const removed = await client.delete({ index: names[index], id, refresh: true }, { ignore: [404] });
    return removed.statusCode !== 404;
  }

  return {
    schema,
    check,
    valid,
    read,
    readAll,
    search: searchDocuments,
    pages,
    append,
    put,
    putAll,
    createAll,
    replace,
    update,
    remove,
  };
}
