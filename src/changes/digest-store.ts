import { z } from 'zod';
import { responseStatus } from '../storage/client.ts';
import { SearchUnavailableError } from '../storage/errors.ts';
import { digestIndexName } from '../storage/index-names.ts';
import type { Store } from '../storage/store.ts';
import { BadDocumentError, checked } from '../storage/stored.ts';
import { DIGEST_PARTS, type Digest, isWholePart } from './digest.ts';

/** The names of the columns of both files, from which the rows' hashes were made. */
export const digestColumns = z.object({
  individual: z.array(z.string()),
  business: z.array(z.string()),
});

export type DigestColumns = Readonly<z.output<typeof digestColumns>>;

/** About how much one request writes or reads. At 2.6 million licenses, a part is about 0.4 MB. */
const REQUEST_BYTES = 4 * 2 ** 20;
/** The parts that the first request reads: at ten times the data, still one request of bounded size. */
const FIRST_PARTS = 8;

/** Stores the digest of a publication, for as long as its index is kept. */
export async function writeDigest(
  { client, prefix }: Store,
  licensesIndex: string,
  digest: Digest,
  columns: DigestColumns,
): Promise<void> {
  const index = digestIndexName(prefix, licensesIndex);
  await client.indices.create({
    index,
    body: { mappings: { _meta: { columns: digestColumns.parse(columns) } } },
  });
  let body: object[] = [];
  let bytes = 0;
  for (let part = 0; part < DIGEST_PARTS; part += 1) {
    const entries = digest.part(part).toString('base64');
    body.push({ index: { _id: String(part) } }, { entries });
    bytes += entries.length;
    if (bytes < REQUEST_BYTES && part < DIGEST_PARTS - 1) continue;
    const response = await client.bulk({ index, body });
    if (response.body.errors) throw new SearchUnavailableError('OpenSearch did not take the whole digest.');
    [body, bytes] = [[], 0];
  }
  await client.indices.flush({ index, wait_if_ongoing: true });
}

const mappingsResponse = z.record(
  z.string(),
  z.object({ mappings: z.object({ _meta: z.unknown().optional() }) }),
);

/**
 * The columns of a publication's digest; `undefined` when it has none, as those of earlier versions, or none that are
 * valid.
 */
export async function readDigestColumns(
  { client, prefix, reportBad }: Store,
  licensesIndex: string,
): Promise<DigestColumns | undefined> {
  const index = digestIndexName(prefix, licensesIndex);
  try {
    const { body } = await client.indices.getMapping({ index });
    const [stored] = Object.values(mappingsResponse.parse(body));
    const { document, problem } = checked(z.object({ columns: digestColumns }), stored?.mappings._meta);
    if (problem !== undefined) reportBad({ index, id: '_meta', problem });
    return document?.columns;
  } catch (error) {
    if (responseStatus(error) === 404) return undefined;
    throw error;
  }
}

const partsResponse = z.object({
  docs: z.array(z.object({ _id: z.string(), _source: z.unknown().optional() })),
});
const storedPart = z.object({ entries: z.base64() });

/**
 * The parts of a publication's stored digest, in order.
 *
 * @throws {BadDocumentError} when one is missing or not valid
 */
export async function* readDigest(
  { client, prefix, reportBad }: Store,
  licensesIndex: string,
): AsyncGenerator<Buffer, void, undefined> {
  const index = digestIndexName(prefix, licensesIndex);
  for (let [first, count] = [0, FIRST_PARTS]; first < DIGEST_PARTS; ) {
    const ids = Array.from({ length: Math.min(count, DIGEST_PARTS - first) }, (_, at) => String(first + at));
    const { body } = await client.mget({ index, body: { ids } });
    let bytes = 0;
    for (const { _id: id, _source } of partsResponse.parse(body).docs) {
      const { document, problem = '' } = checked(storedPart, _source);
      const part = document && Buffer.from(document.entries, 'base64');
      if (part === undefined || !isWholePart(part)) {
        reportBad({ index, id, problem });
        throw new BadDocumentError({ index, id, problem });
      }
      bytes += document?.entries.length ?? 0;
      yield part;
    }
    first += ids.length;
    // All parts are about equally large.
    if (bytes < REQUEST_BYTES / 2) count *= 2;
  }
}
