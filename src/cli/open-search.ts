import type { Client } from '@opensearch-project/opensearch';
import { type Config, readConfig } from '../config.ts';
import { isIndexNotFound, isTransient, openSearchClient, openSearchHosts } from '../storage/client.ts';
import { hasIndices, prepareIndices } from '../storage/templates.ts';

const REQUEST_TIMEOUT_MS = 30_000;

const NOT_PREPARED =
  'This installation has no indices yet. The worker creates them: npx licenses work (npm start runs one, too).';

interface Options {
  /** Whether the command creates indices that are missing; others need a worker to have done so. */
  readonly createsIndices?: boolean;
}

/**
 * Does a command's work with a client, and closes it. Of a cluster, another node is asked where one does not answer:
 * what commands do may be done twice, or is refused the second time.
 *
 * @throws {Error} in words for the operator when OpenSearch is away, or no worker has created the indices yet
 */
export async function withOpenSearch<Result>(
  work: (client: Client, config: Config) => Promise<Result>,
  { createsIndices = false }: Options = {},
): Promise<Result> {
  const config = readConfig();
  const client = openSearchClient(config, REQUEST_TIMEOUT_MS, { asksOthers: true });
  try {
    if (createsIndices) await prepareIndices(client, config.INDEX_PREFIX);
    else if (!(await hasIndices(client, config.INDEX_PREFIX))) throw new Error(NOT_PREPARED);
    return await work(client, config);
  } catch (error) {
    if (isIndexNotFound(error)) throw new Error(NOT_PREPARED);
    if (!isTransient(error)) throw error;
    throw new Error(
      `OpenSearch does not answer at ${openSearchHosts(config)}. Is it running (npm start), and is OPENSEARCH_URL right?`,
    );
  } finally {
    await client.close();
  }
}
