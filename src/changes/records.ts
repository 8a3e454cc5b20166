import { z } from 'zod';
import { type LicenseRecord, licenseRecord } from '../licenses/license-record.ts';
import type { Store } from '../storage/store.ts';

const recordsResponse = z.object({
  docs: z.array(
    z.union([
      z.object({ _id: z.string(), found: z.literal(true), _source: licenseRecord }),
      z.object({ _id: z.string(), found: z.literal(false) }),
    ]),
  ),
});

/**
 * Some licenses of a publication, by document id.
 *
 * @param index its physical index
 * @throws {ZodError} when OpenSearch could not read one of them
 */
export async function recordsOf(
  { client }: Store,
  index: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, LicenseRecord>> {
  if (ids.length === 0) return new Map();
  const { body } = await client.mget({ index, realtime: false, body: { ids: [...ids] } });
  const { docs } = recordsResponse.parse(body);
  return new Map(docs.flatMap((doc) => (doc.found ? [[doc._id, doc._source] as const] : [])));
}
