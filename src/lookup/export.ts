import { createHash } from 'node:crypto';
import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { cursorText, lastPosition } from '../changes/feed.ts';
import type { LiveFeed } from '../changes/service.ts';
import { recordText, storedLicense } from '../licenses/license.ts';
import { completeness, countDocuments, requireComplete } from '../storage/checked-search.ts';
import { SearchUnavailableError } from '../storage/errors.ts';
import type { Lookups } from './service.ts';

/** What an export is of. */
export interface ExportOrigin {
  readonly publication: string;
  /** The publication's run date, `YYYY-MM-DD`. */
  readonly date: string;
  /** How many records the publication has. */
  readonly records: number;
  /** The place in the feed of changes from which a copy of these records is kept current. */
  readonly cursor: string;
}

/** Every record of one publication. */
export interface LicensesExport extends ExportOrigin {
  /**
   * The records as lines of JSON, many lines at a time, and the line that ends them (`exportEnd`). Each page is read when
   * it is asked for.
   *
   * @throws {SearchUnavailableError} when not every record could be read
   */
  readonly pages: AsyncIterable<string>;
}

export type LicenseExports = ReturnType<typeof licenseExports>;

/** The last line of an export. */
export const exportEnd = z.object({
  records: z.int().describe('How many lines are above'),
  sha256: z.string().describe('The SHA-256 of the bytes above, uncompressed, their last line break included'),
});

const RECORDS_A_PAGE = 256;

/** Single lookups wait while so many records are checked and written. Where none has begun lately, a page is done at once. */
const RECORDS_BESIDE_LOOKUPS = 64;

/** OpenSearch keeps a scroll this long between two pages. A client that reads so slowly has been cut off before. */
const SCROLL_KEPT = '1m';

/** The most that the next records wait for single lookups. */
const MAX_GIVE_WAY_MS = 50;

const MAX_TRIES = 3;

/**
 * Exports of the live publication.
 *
 * @param live asks OpenSearch which publication is live; it must not answer from what it knew before the call
 */
export function licenseExports(
  client: Client,
  live: () => Promise<LiveFeed>,
  singles: Pick<Lookups, 'idle' | 'hadSingle'>,
) {
  async function originOf({ index, publication, date, state }: LiveFeed): Promise<ExportOrigin> {
    const records = await countDocuments(client, index);
    return {
      publication,
      date,
      records,
      cursor: cursorText({ feed: state.feed, position: lastPosition(state) }),
    };
  }

  return {
    /** What an export that begins now is of. */
    origin: async (): Promise<ExportOrigin> => originOf(await live()),
    /**
     * Exports one publication. The index that it reads may be deleted meanwhile: then `pages` fails.
     *
     * @param work is given the export when its first page has been read from the publication that is live
     * @param signal stops the reading
     * @throws {SearchUnavailableError} when OpenSearch does not answer
     */
    async whole(work: (exported: LicensesExport) => Promise<void>, signal: AbortSignal): Promise<void> {
      for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
        const source = await live();
        const scroll = scrollOf(client, source.index);
        try {
          const began = await Promise.all([originOf(source), scroll.next()]).catch((error: unknown) => ({
            error,
          }));
          signal.throwIfAborted();
          // What was live may have been pruned before it was read.
          if ((await live()).index !== source.index) continue;
          if ('error' in began) throw began.error;
          const [origin, first] = began;
          return await work({ ...origin, pages: linesOf(scroll, first, origin.records, singles, signal) });
        } finally {
          await scroll.clear();
        }
      }
      throw new SearchUnavailableError('Publications went live faster than an export could begin.');
    },
  };
}

const scrollId = z.object({ _scroll_id: z.string() });

const page = completeness.extend({ hits: z.object({ hits: z.array(z.object({ _source: z.unknown() })) }) });

const exportedLicense = storedLicense.omit({ source_row: true, keys: true });

/** A page that is asked for twice would be skipped. */
const ONCE = { maxRetries: 0 };

type Scroll = ReturnType<typeof scrollOf>;

/** All records of a physical index, in the order in which they lie there. */
function scrollOf(client: Client, index: string) {
  let id: string | undefined;
  let underWay: Promise<unknown> = Promise.resolve();

  async function ask() {
    const { body } =
      id === undefined
        ? await client.search(
            {
              index,
              scroll: SCROLL_KEPT,
              allow_partial_search_results: false,
              body: { size: RECORDS_A_PAGE, sort: ['_doc'] },
            },
            ONCE,
          )
        : await client.scroll({ body: { scroll_id: id, scroll: SCROLL_KEPT } }, ONCE);
    ({ _scroll_id: id } = scrollId.parse(body));
    const { hits, ...complete } = page.parse(body);
    requireComplete(complete);
    return hits.hits.map((hit) => hit._source);
  }

  return {
    /** The next page; an empty one after the last. @throws {SearchUnavailableError} when it is partial */
    next: () => {
      const asked = ask();
      underWay = asked.catch(() => undefined);
      return asked;
    },
    /** Frees what OpenSearch holds for it. */
    clear: async (): Promise<void> => {
      await underWay;
      if (id === undefined) return;
      const cleared = { body: { scroll_id: [id] } };
      id = undefined;
      // Where OpenSearch is away, it forgets the scroll by itself.
      await client.clearScroll(cleared).catch(() => undefined);
    },
  };
}

async function* linesOf(
  scroll: Scroll,
  first: Awaited<ReturnType<Scroll['next']>>,
  expected: number,
  singles: Pick<Lookups, 'idle' | 'hadSingle'>,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const hash = createHash('sha256');
  let read = 0;
  for (let records = first; records.length > 0; records = await scroll.next()) {
    for (let at = 0; at < records.length; ) {
      const some = records.slice(at, singles.hadSingle() ? at + RECORDS_BESIDE_LOOKUPS : undefined);
      at += some.length;
      const lines = withoutLineBreaks(some.map(lineOf).join(''));
      hash.update(lines);
      yield lines;
      await singles.idle(MAX_GIVE_WAY_MS);
      signal.throwIfAborted();
    }
    read += records.length;
  }
  await scroll.clear();
  if (read !== expected) {
    throw new SearchUnavailableError(`The publication has ${expected} records; ${read} were read.`);
  }
  yield `${JSON.stringify({ records: read, sha256: hash.digest('hex') } satisfies z.output<typeof exportEnd>)}\n`;
}

/** @throws {ZodError} for a document that is no license */
function lineOf(source: unknown): string {
  return `${recordText(exportedLicense.parse(source))}}\n`;
}

/** Some programs also end a line at these characters, which JSON does not have to escape. */
function withoutLineBreaks(json: string): string {
  return json.replace(
    /[\u0085\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
