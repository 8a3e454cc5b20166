import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@opensearch-project/opensearch';
import { countDocuments, documentsById } from '../../src/storage/checked-search.ts';
import { type SampledDocument, sentLicense, type Tally } from './tally.ts';

/**
 * The loaded index is not what was sent. It must never go live, even if the operator forces it; another load may
 * succeed. An OpenSearch that crashes during a load loses documents that it had acknowledged in the last seconds
 * (`index.translog.durability`). Only this check notices.
 */
export class VerificationError extends Error {}

type VerifiedTally = Pick<Tally, 'boards' | 'samples'>;

/**
 * Puts the loaded index on disk, makes it searchable and compares it with what was sent: the count in all and at each
 * board, and a sample of each board read back whole. In this order: a crash after the comparison can lose nothing that was compared.
 *
 * @param onBoards gets how many boards are verified, and of how many
 * @throws {VerificationError} at the first difference
 */
export async function verifyIndex(
  client: Client,
  index: string,
  sent: VerifiedTally,
  onBoards: (verified: number, all: number) => void,
): Promise<void> {
  await client.indices.flush({ index, wait_if_ongoing: true });
  await client.indices.refresh({ index });
  const total = [...sent.boards.values()].reduce((sum, { licenses }) => sum + licenses, 0);
  const found = await countDocuments(client, index);
  if (found !== total)
    throw new VerificationError(`The index has ${found} licenses, but ${total} were sent.`);

  for (const [at, [board, { licenses: count }]] of [...sent.boards].entries()) {
    onBoards(at, sent.boards.size);
    const atBoard = await countDocuments(client, index, { term: { board } });
    if (atBoard !== count) {
      throw new VerificationError(`The index has ${atBoard} licenses of ${board}, but ${count} were sent.`);
    }
    await compareWithSent(client, index, sent.samples.get(board) ?? []);
  }
}

async function compareWithSent(
  client: Client,
  index: string,
  sample: readonly SampledDocument[],
): Promise<void> {
  if (sample.length === 0) return;
  const found = await documentsById(client, { index, body: { ids: sample.map(({ id }) => id) } });
  for (const [at, document] of sample.entries()) {
    if (!isDeepStrictEqual(found[at]?._source, sentLicense(document))) {
      throw new VerificationError(`License ${document.id} reads back otherwise than it was sent.`);
    }
  }
}
