import type { Client } from '@opensearch-project/opensearch';
import { type Config, readConfig } from '../config.ts';
import { isTransient, openSearchClient, openSearchHosts } from '../storage/client.ts';
import { prepareIndices } from '../storage/templates.ts';

const REQUEST_TIMEOUT_MS = 30_000;

/**
 * Does a command's work with a client, and closes it. Of a cluster, another node is asked where one does not answer:
 * what commands do may be done twice, or is refused the second time.
 *
 * @throws {Error} in words for the operator when OpenSearch is away
 */
export async function withOpenSearch<Result>(
  work: (client: Client, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = readConfig();
  const client = openSearchClient(config, REQUEST_TIMEOUT_MS, { asksOthers: true });
  try {
    await prepareIndices(client, config.INDEX_PREFIX);
    return await work(client, config);
  } catch (error) {
    if (!isTransient(error)) throw error;
    throw new Error(
      `OpenSearch does not answer at ${openSearchHosts(config)}. Is it running (npm start), and is OPENSEARCH_URL right?`,
    );
  } finally {
    await client.close();
  }
}
