import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@opensearch-project/opensearch';
import { countDocuments, documentsById } from '../../src/storage/checked-search.ts';
import { sum } from './judgement.ts';
import { sentLicense, type Tally } from './tally.ts';

/**
 * The loaded index differs from the sent documents. It must never go live, even if the operator forces it, but another
 * load may succeed. If OpenSearch crashes during a load, it loses documents that it acknowledged in the last seconds
 * (`index.translog.durability`). Only this check notices that.
 */
export class VerificationError extends Error {}

/**
 * Flushes the loaded index to disk, makes it searchable and compares it with the sent documents: the total count, the
 * count of each board, and a sample of each board read back in full. The flush comes first, so that a crash after the
 * comparison can't lose anything that was compared.
 *
 * @param onBoards called with the number of verified boards and the total
 * @throws {VerificationError} at the first difference
 */
export async function verifyIndex(
  client: Client,
  index: string,
  { boards }: Pick<Tally, 'boards'>,
  onBoards: (verified: number, all: number) => void,
): Promise<void> {
  await client.indices.flush({ index, wait_if_ongoing: true });
  await client.indices.refresh({ index });
  const total = sum([...boards.values()].map(({ licenses }) => licenses));
  const all = await countDocuments(client, index);
  if (all !== total) throw new VerificationError(`The index has ${all} licenses, but ${total} were sent.`);

  for (const [at, [board, { licenses, sample }]] of [...boards].entries()) {
    onBoards(at, boards.size);
    const atBoard = await countDocuments(client, index, { term: { board } });
    if (atBoard !== licenses) {
      throw new VerificationError(
        `The index has ${atBoard} licenses of ${board}, but ${licenses} were sent.`,
      );
    }
    if (sample.length === 0) continue;
    const found = await documentsById(client, { index, body: { ids: sample.map(({ id }) => id) } });
    for (const [at, document] of sample.entries()) {
      if (!isDeepStrictEqual(found[at]?._source, sentLicense(document))) {
        throw new VerificationError(`License ${document.id} reads back otherwise than it was sent.`);
      }
    }
  }
}
