import { createHash } from 'node:crypto';
import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { latestCursor } from '../changes/feed.ts';
import { type LiveFeed, readFromOne } from '../changes/service.ts';
import { recordText, storedLicense } from '../licenses/license.ts';
import { countDocuments, pagesOf } from '../storage/checked-search.ts';
import type { Lookups } from './service.ts';

export type LicenseExports = ReturnType<typeof licenseExports>;

const RECORDS_A_PAGE = 256;

/**
 * Single lookups wait while this many records are checked and written. If none arrived lately, a whole page is written
 * at once.
 */
const RECORDS_BESIDE_LOOKUPS = 64;

/** How long the next records wait for single lookups at most. */
const MAX_GIVE_WAY_MS = 50;

/**
 * Describes an export: the publication with its run date, the number of records, and the cursor from which the feed
 * keeps a copy of these records current.
 */
async function originOf(client: Client, { index, publication, date, state }: LiveFeed) {
  return { publication, date, records: await countDocuments(client, index), cursor: latestCursor(state) };
}

export type ExportOrigin = Awaited<ReturnType<typeof originOf>>;

/**
 * Exports of the live publication.
 *
 * @param live asks OpenSearch which publication is live; it must not answer from a cache
 */
export function licenseExports(
  client: Client,
  live: () => Promise<LiveFeed>,
  singles: Pick<Lookups, 'idle' | 'hadSingle'>,
) {
  return {
    /** The origin of an export that begins now. */
    origin: async () => originOf(client, await live()),
    /**
     * Exports one publication. If its index is deleted meanwhile, `pages` fails.
     *
     * @param work gets the export after its first page has been read from the live publication. `pages` has the records
     *   as lines of JSON, many lines at a time, and the line that ends them. Each page is read on request, and fails
     *   with `SearchUnavailableError` if not every record could be read.
     * @param signal stops the reading
     * @throws {SearchUnavailableError} when OpenSearch does not answer
     */
    async whole(
      work: (exported: ExportOrigin & { readonly pages: AsyncIterable<string> }) => Promise<void>,
      signal: AbortSignal,
    ): Promise<void> {
      await readFromOne(async () => {
        const source = await live();
        const read = pagesOf(client, source.index, page, { size: RECORDS_A_PAGE, sort: ['_doc'] });
        try {
          const beginning = Promise.all([originOf(client, source), read.next()]);
          await beginning.catch(() => undefined);
          signal.throwIfAborted();
          // The live publication may have been pruned before it was read.
          if ((await live()).index !== source.index) return undefined;
          const [origin, first] = await beginning;
          await work({ ...origin, pages: linesOf(first.value ?? [], read, singles, signal) });
          return true;
        } finally {
          await read.return(undefined);
        }
      });
    },
  };
}

const page = z.array(z.object({ _source: z.unknown() }));

const exportedLicense = storedLicense.omit({ source_row: true, keys: true });

async function* linesOf(
  first: z.output<typeof page>,
  others: AsyncIterator<z.output<typeof page>, undefined>,
  singles: Pick<Lookups, 'idle' | 'hadSingle'>,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const hash = createHash('sha256');
  let read = 0;
  let records: typeof first | undefined = first;
  while (records !== undefined) {
    for (let at = 0; at < records.length; ) {
      const some = records.slice(at, singles.hadSingle() ? at + RECORDS_BESIDE_LOOKUPS : undefined);
      at += some.length;
      const lines = withoutLineBreaks(
        some.map(({ _source }) => `${recordText(exportedLicense.parse(_source))}}\n`).join(''),
      );
      hash.update(lines);
      yield lines;
      await singles.idle(MAX_GIVE_WAY_MS);
      signal.throwIfAborted();
    }
    read += records.length;
    records = (await others.next()).value;
  }
  // The hash covers the uncompressed bytes above, including their last line break.
  yield `${JSON.stringify({ records: read, sha256: hash.digest('hex') })}\n`;
}

/** Some programs also end a line at these characters, which JSON does not have to escape. */
function withoutLineBreaks(json: string): string {
  return json.replace(
    /[\u0085\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
