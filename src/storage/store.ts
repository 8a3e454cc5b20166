import type { Client } from '@opensearch-project/opensearch';
import type { Config } from '../config.ts';
import { type ClientOptions, openSearchClient } from './client.ts';
import { type IndexNames, indexNames } from './index-names.ts';

/** OpenSearch as one installation uses it. Everything that the service stores is read and written through it. */
export interface Store {
  readonly client: Client;
  /** The installation's `INDEX_PREFIX`. */
  readonly prefix: string;
  readonly names: IndexNames;
}

/** Binds a client to the indices of one installation. */
export function storeOf(client: Client, prefix: string): Store {
  return { client, prefix, names: indexNames(prefix) };
}

/**
 * The store that the settings name. The caller closes its client.
 *
 * @param timeoutMs how long one request may take
 */
export function openStore(config: Config, timeoutMs: number, options?: ClientOptions): Store {
  return storeOf(openSearchClient(config, timeoutMs, options), config.INDEX_PREFIX);
}
