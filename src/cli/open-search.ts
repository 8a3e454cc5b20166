import { type Config, readConfig } from '../config.ts';
import {
  isDiskFull,
  isIndexNotFound,
  isTransient,
  openSearchHosts,
  responseStatus,
} from '../storage/client.ts';
import { openStore, type Store } from '../storage/store.ts';
import { prepareIndices, upgradeIndices } from '../storage/templates.ts';

const REQUEST_TIMEOUT_MS = 30_000;

const NOT_PREPARED =
  'This installation has no indices yet. The worker creates them: npx licenses work (npm start runs one, too).';

/** What an operator reads when OpenSearch did not do what a command asked of it. */
function trouble(error: unknown, config: Config): string {
  const hosts = openSearchHosts(config);
  if (isDiskFull(error)) {
    return `OpenSearch at ${hosts} refuses to write: its disk is full. Free space there, then run the command again.`;
  }
  const status = responseStatus(error);
  if (status !== undefined) {
    return `OpenSearch at ${hosts} answered with status ${status}. Its log says why. Try again when it has recovered.`;
  }
  return `OpenSearch does not answer at ${hosts}. Is it running (npm start), and is OPENSEARCH_URL right?`;
}

interface Options {
  /** Whether the command creates the indices of a new installation; others need a worker to have done so. */
  readonly createsIndices?: boolean;
}

/**
 * Does a command's work with the store and closes it. In a cluster, a request that one node does not answer goes to
 * the next: what commands do may be done twice, or is refused the second time.
 *
 * @throws {Error} in words for the operator when OpenSearch is away, or no worker has created the indices yet
 */
export async function withOpenSearch<Result>(
  work: (store: Store, config: Config) => Promise<Result>,
  { createsIndices = false }: Options = {},
): Promise<Result> {
  const config = readConfig();
  const store = openStore(config, REQUEST_TIMEOUT_MS, { asksOthers: true });
  try {
    if (createsIndices) await prepareIndices(store);
    else if (!(await upgradeIndices(store))) throw new Error(NOT_PREPARED);
    return await work(store, config);
  } catch (error) {
    if (isIndexNotFound(error)) throw new Error(NOT_PREPARED);
    throw isTransient(error) || isDiskFull(error) ? new Error(trouble(error, config)) : error;
  } finally {
    await store.client.close();
  }
}
