import { errors } from '@opensearch-project/opensearch';
import type { Config } from '../config.ts';

/** OpenSearch did not answer in time, or its response was incomplete. */
export class SearchUnavailableError extends Error {}

/** The service is overloaded. */
export class TooBusyError extends Error {}

/** The addresses of OpenSearch's nodes. */
export function openSearchNodes({ OPENSEARCH_URL: urls }: Pick<Config, 'OPENSEARCH_URL'>): string[] {
  return urls.split(',');
}

/** The HTTP status of an error response from OpenSearch; `undefined` for any other error. */
export function responseStatus(error: unknown): number | undefined {
  return error instanceof errors.ResponseError ? error.statusCode : undefined;
}

/** Whether OpenSearch was unreachable, too slow or overloaded, so that another try may succeed. */
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
 * Whether OpenSearch rejected the user: a wrong name or password, or a missing permission. (A write to a blocked index
 * also returns 403.)
 */
export function isDenied(error: unknown): error is errors.ResponseError {
  if (!(error instanceof errors.ResponseError)) return false;
  const isBlocked = error.message.startsWith('cluster_block_exception');
  return error.statusCode === 401 || (error.statusCode === 403 && !isBlocked);
}

/**
 * Explains why OpenSearch rejects this service until an operator corrects a setting: the user or the certificate.
 *
 * @returns one line for the operator; `undefined` for any other error
 */
export function refusal(error: unknown, config: Pick<Config, 'OPENSEARCH_URL'>): string | undefined {
  const hosts = hostsOf(config);
  if (isDenied(error)) {
    return error.statusCode === 401
      ? `OpenSearch at ${hosts} refuses the user or the password. Check OPENSEARCH_USERNAME and OPENSEARCH_PASSWORD.`
      : `OpenSearch at ${hosts} does not permit this to its user OPENSEARCH_USERNAME: ${error.message}`;
  }
  if (!(error instanceof errors.ConnectionError && error.message.includes('certificate'))) return undefined;
  const [problem] = error.message.split(';');
  return `The certificate of OpenSearch at ${hosts} is not trusted: ${problem}. Set OPENSEARCH_CA to the PEM file of its authority.`;
}

/** The host and port of each node, for messages. The URLs themselves may contain a password. */
function hostsOf(config: Pick<Config, 'OPENSEARCH_URL'>): string {
  const nodes = openSearchNodes(config);
  return nodes.map((node) => new URL(node).host).join(', ');
}

/**
 * Explains why OpenSearch did not carry out a request.
 *
 * @returns one line for the operator; `undefined` for any other error
 */
export function trouble(error: unknown, config: Pick<Config, 'OPENSEARCH_URL'>): string | undefined {
  const hosts = hostsOf(config);
  if (isDiskFull(error)) {
    return `OpenSearch at ${hosts} refuses to write: its disk is full. Free space there, then run the command again.`;
  }
  const refused = refusal(error, config);
  if (refused !== undefined || !isTransient(error)) return refused;
  const status = responseStatus(error);
  return status === undefined
    ? `OpenSearch does not answer at ${hosts}. Is it running (npm start), and is OPENSEARCH_URL right?`
    : `OpenSearch at ${hosts} answered with status ${status}. Its log says why. Try again when it has recovered.`;
}

/**
 * Whether OpenSearch rejected a write because its disk is nearly full. By default it creates no index when less than 10
 * % is free, and accepts no document when less than 5 % is free. It accepts writes again by itself once there is space.
 *
 * @see https://docs.opensearch.org/latest/install-and-configure/configuring-opensearch/cluster-settings/ for the
 * settings `cluster.routing.allocation.disk.watermark.high` and `.flood_stage`
 */
export function isDiskFull(error: unknown): boolean {
  return error instanceof errors.ResponseError && DISK_FULL.test(error.message);
}

const DISK_FULL = /flood-stage watermark|create-index blocked/;

/** Whether OpenSearch answered that the index does not exist. */
export function isIndexNotFound(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('index_not_found_exception');
}
