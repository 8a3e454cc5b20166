import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@opensearch-project/opensearch';
import { z } from 'zod';
import { numberQuery } from '../../src/licenses/queries.ts';
import { searchLicenses } from '../../src/search/license-search.ts';
import type { PublicationDocument } from './parse.ts';

/** The loaded index is not what was sent. It must never go live, whatever the operator says. */
export class VerificationError extends Error {}

/** How many documents of each board are read back and compared. */
const SAMPLE_PER_BOARD = 20;

/** A document to be read back. Only text of its own: a part of a row would keep a megabyte of the file. */
type SampledDocument = Pick<PublicationDocument, 'sourceRow' | 'body'>;

/** What was sent, as far as it is checked afterwards. Memory does not grow with the publication. */
export interface SentDocuments {
  readonly counts: Map<string, number>;
  readonly samples: Map<string, SampledDocument[]>;
}

/** Notes one more document sent, keeping a uniform sample of each board (reservoir sampling). */
export function noteSent({ counts, samples }: SentDocuments, document: PublicationDocument): void {
  const count = (counts.get(document.board) ?? 0) + 1;
  counts.set(document.board, count);
  const sample = samples.get(document.board) ?? [];
  const { sourceRow, body } = document;
  if (sample.length < SAMPLE_PER_BOARD) {
    sample.push({ sourceRow, body });
    samples.set(document.board, sample);
  } else {
    const at = Math.floor(Math.random() * count);
    if (at < SAMPLE_PER_BOARD) sample[at] = { sourceRow, body };
  }
}

/** Takes back a document that was sent but not taken, and so set aside. */
export function noteRefused({ counts, samples }: SentDocuments, document: PublicationDocument): void {
  counts.set(document.board, (counts.get(document.board) ?? 0) - 1);
  const sample = samples.get(document.board) ?? [];
  samples.set(
    document.board,
    sample.filter(({ sourceRow }) => sourceRow !== document.sourceRow),
  );
}

/**
 * Makes the loaded index searchable and compares it with what was sent: the count in all and at each board,
 * a sample of each board read back whole, and one licence of each found by its number as a user would.
 *
 * @throws {VerificationError} at the first difference
 */
export async function verifyIndex(client: Client, index: string, sent: SentDocuments): Promise<void> {
  await client.indices.refresh({ index });
  const total = [...sent.counts.values()].reduce((sum, count) => sum + count, 0);
  const found = await countDocuments(client, index, { match_all: {} });
  if (found !== total)
    throw new VerificationError(`The index has ${found} licences, but ${total} were sent.`);

  for (const [board, count] of sent.counts) {
    const atBoard = await countDocuments(client, index, { term: { board } });
    if (atBoard !== count) {
      throw new VerificationError(`The index has ${atBoard} licences of ${board}, but ${count} were sent.`);
    }
    const sample = (sent.samples.get(board) ?? []).map(sentLicense);
    await compareWithSent(client, index, sample);
    const [first] = sample;
    if (first !== undefined) await findByNumber(client, index, first.license_number);
  }
}

const license = z.looseObject({ license_number: z.string() });

function sentLicense({ body }: SampledDocument): z.output<typeof license> {
  return license.parse(JSON.parse(body.split('\n')[1] ?? ''));
}

const countResponse = z.object({ count: z.int(), _shards: z.object({ failed: z.literal(0) }) });

async function countDocuments(
  client: Client,
  index: string,
  query: { match_all: Record<string, never> } | { term: { board: string } },
): Promise<number> {
  const response = await client.count({ index, body: { query } });
  return countResponse.parse(response.body).count;
}

const mgetResponse = z.object({ docs: z.array(z.object({ _source: z.unknown() })) });

async function compareWithSent(
  client: Client,
  index: string,
  sample: readonly z.output<typeof license>[],
): Promise<void> {
  if (sample.length === 0) return;
  const ids = sample.map(({ license_number }) => license_number);
  const response = await client.mget({ index, body: { ids } });
  const { docs } = mgetResponse.parse(response.body);
  for (const [at, sent] of sample.entries()) {
    if (!isDeepStrictEqual(docs[at]?._source, sent)) {
      throw new VerificationError(`Licence ${sent.license_number} reads back otherwise than it was sent.`);
    }
  }
}

async function findByNumber(client: Client, index: string, number: string): Promise<void> {
  const query = numberQuery(number);
  const found = query === undefined ? [] : await searchLicenses(client, index, query);
  if (!found.some((license) => license.license_number === number)) {
    throw new VerificationError(`Licence ${number} is in the index but is not found by its number.`);
  }
}
