import { readFileSync } from 'node:fs';
import { Client, errors } from '@opensearch-project/opensearch';
import type { Config } from '../config.ts';

/** The addresses of OpenSearch's nodes. */
export function openSearchNodes({ OPENSEARCH_URL: urls }: Pick<Config, 'OPENSEARCH_URL'>): string[] {
  return urls.split(',');
}

/** Host and port of each node, for messages: the addresses may hold a password. */
export function openSearchHosts(config: Pick<Config, 'OPENSEARCH_URL'>): string {
  return openSearchNodes(config)
    .map((node) => new URL(node).host)
    .join(', ');
}

export interface ClientOptions {
  /** Whether what one node does not answer goes to the next: for what may be done twice. */
  readonly asksOthers?: boolean;
}

/**
 * A client for OpenSearch that never retries at the node that failed: who asks decides what a failure means.
 *
 * @param timeoutMs how long one request may take
 */
export function openSearchClient(
  config: Config,
  timeoutMs: number,
  { asksOthers = false }: ClientOptions = {},
): Client {
  const nodes = openSearchNodes(config);
  const { OPENSEARCH_USERNAME: username, OPENSEARCH_PASSWORD: password, OPENSEARCH_CA: ca } = config;
  return new Client({
    nodes,
    maxRetries: asksOthers ? nodes.length - 1 : 0,
    requestTimeout: timeoutMs,
    // Every answer is checked against a schema, which takes over known fields only.
    disablePrototypePoisoningProtection: true,
    ...(username !== undefined && password !== undefined ? { auth: { username, password } } : {}),
    ...(ca !== undefined ? { ssl: { ca: readFileSync(ca) } } : {}),
  });
}

/** The HTTP status of an error that OpenSearch answered with; `undefined` for any other error. */
export function responseStatus(error: unknown): number | undefined {
  return error instanceof errors.ResponseError ? error.statusCode : undefined;
}

/** Whether OpenSearch could not be reached, did not answer in time or refused for load: worth another try. */
export function isTransient(error: unknown): boolean {
  const status = responseStatus(error);
  if (status !== undefined) return status === 429 || status >= 500;
  return (
    error instanceof errors.ConnectionError ||
    error instanceof errors.TimeoutError ||
    error instanceof errors.NoLivingConnectionsError
  );
}

/**
 * Whether OpenSearch refused to write because its disk is nearly full. By default it creates no index when less than
 * 10 % is free, and takes no document when less than 5 % is free. It writes again by itself when there is space.
 *
 * @see https://docs.opensearch.org/latest/install-and-configure/configuring-opensearch/cluster-settings/ for the
 *   settings `cluster.routing.allocation.disk.watermark.high` and `.flood_stage`
 */
export function isDiskFull(error: unknown): boolean {
  return error instanceof errors.ResponseError && DISK_FULL.test(error.message);
}

const DISK_FULL = /flood-stage watermark|create-index blocked/;

/** Whether OpenSearch answered that the index does not exist. */
export function isIndexNotFound(error: unknown): boolean {
  return error instanceof errors.ResponseError && error.message.startsWith('index_not_found_exception');
}
