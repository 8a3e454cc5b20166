import type { Client } from '@opensearch-project/opensearch';
import { type Config, readConfig } from '../config.ts';
import { prepareIndices } from '../publications/indices.ts';
import { isTransient, openSearchClient } from '../search/client.ts';

const REQUEST_TIMEOUT_MS = 30_000;

/**
 * Does a command's work with a client, and closes it.
 *
 * @throws {Error} in words for the operator when OpenSearch is away
 */
export async function withOpenSearch<Result>(
  work: (client: Client, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = readConfig();
  const client = openSearchClient(config, REQUEST_TIMEOUT_MS);
  try {
    await prepareIndices(client, config.INDEX_PREFIX);
    return await work(client, config);
  } catch (error) {
    if (!isTransient(error)) throw error;
    const where = new URL(config.OPENSEARCH_URL).host;
    throw new Error(
      `OpenSearch does not answer at ${where}. Is it running (npm start), and is OPENSEARCH_URL right?`,
    );
  } finally {
    await client.close();
  }
}
