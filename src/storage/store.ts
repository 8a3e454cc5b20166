import type { Client } from '@opensearch-project/opensearch';
import type { Config } from '../config.ts';
import { type ClientOptions, openSearchClient } from './client.ts';
import { type IndexNames, indexNames } from './index-names.ts';
import { type BadDocument, badDocumentReport, printBadDocument } from './stored.ts';

/** OpenSearch as one installation uses it. Everything that the service stores is read and written through it. */
export interface Store {
  readonly client: Client;
  /** The installation's `INDEX_PREFIX`. */
  readonly prefix: string;
  readonly names: IndexNames;
  /** Counts a stored document that is not valid, and tells of it once. */
  readonly reportBad: (bad: BadDocument) => void;
}

/**
 * Binds a client to the indices of one installation.
 *
 * @param tell says once of each bad document that a reader left it out
 */
export function storeOf(client: Client, prefix: string, tell = printBadDocument): Store {
  return { client, prefix, names: indexNames(prefix), reportBad: badDocumentReport(tell) };
}

/**
 * The store that the settings name. The caller closes its client.
 *
 * @param timeoutMs how long one request may take
 */
export function openStore(
  config: Config,
  timeoutMs: number,
  { onBadDocument, ...options }: ClientOptions & { readonly onBadDocument?: (bad: BadDocument) => void } = {},
): Store {
  return storeOf(openSearchClient(config, timeoutMs, options), config.INDEX_PREFIX, onBadDocument);
}
