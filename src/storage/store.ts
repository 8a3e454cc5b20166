import { readFileSync } from 'node:fs';
import { type ApiResponse, Client, Transport } from '@opensearch-project/opensearch';
import type {
  TransportRequestCallback,
  TransportRequestPromise,
} from '@opensearch-project/opensearch/lib/Transport.js';
import type { Config } from '../config.ts';
import { openSearchNodes } from './errors.ts';
import { BAD_DOCUMENT, type BadDocument, badDocumentReport } from './stored.ts';

type Sent = Parameters<Transport['request']>;

/**
 * Copies a response out of the client's own object, and drops the request. The client's object has a getter, so V8
 * keeps it until a major collection, together with everything that the object and the request refer to
 * (docs/decisions/018).
 */
class DetachingTransport extends Transport {
  override request(params: Sent[0], options?: Sent[1]): TransportRequestPromise<ApiResponse>;
  override request(...sent: Sent): TransportRequestCallback;
  override request(params: Sent[0], options?: Sent[1], callback?: Sent[2]) {
    if (callback !== undefined) return super.request(params, options, callback);
    const request = super.request(params, options);
    const response = request.then((kept) => {
      const detached = { ...kept };
      kept.body = undefined;
      params.body = '';
      params.bulkBody = '';
      return detached;
    });
    return Object.assign(response, { abort: () => request.abort() });
  }
}

const printed = ({ id, index, problem }: BadDocument) =>
  process.stderr.write(`${BAD_DOCUMENT}: ${id} of ${index} (${problem})\n`);

interface StoreOptions {
  /** Whether a request goes to the next node if one node does not answer. Only for requests that are safe to repeat. */
  readonly triesOtherNodes?: boolean;
  /** Reports an invalid document. By default, the report goes to standard error, as in commands. */
  readonly onBadDocument?: (bad: BadDocument) => void;
}

/** The OpenSearch of one installation. The service reads and writes all its data through a store. */
export type Store = Readonly<ReturnType<typeof openStore>>;

/**
 * Opens the store from the settings. The caller closes its client. The client never retries on a node that failed: the
 * caller decides how to handle a failure.
 *
 * @param timeoutMs the time limit of one request
 */
export function openStore(
  config: Config,
  timeoutMs: number,
  { triesOtherNodes = false, onBadDocument = printed }: StoreOptions = {},
) {
  const nodes = openSearchNodes(config);
  const { OPENSEARCH_USERNAME: username, OPENSEARCH_PASSWORD: password, OPENSEARCH_CA: ca } = config;
  const client = new Client({
    nodes,
    Transport: DetachingTransport,
    maxRetries: triesOtherNodes ? nodes.length - 1 : 0,
    requestTimeout: timeoutMs,
    // Every response is validated against a schema, which copies known fields only.
    disablePrototypePoisoningProtection: true,
    ...(username !== undefined && password !== undefined ? { auth: { username, password } } : {}),
    ...(ca !== undefined ? { ssl: { ca: readFileSync(ca) } } : {}),
  });
  return {
    client,
    /** The installation's `INDEX_PREFIX`. */
    prefix: config.INDEX_PREFIX,
    names: indexNames(config.INDEX_PREFIX),
    /** Counts an invalid stored document, and reports it once. */
    reportBad: badDocumentReport(onBadDocument),
  };
}

const FAMILY = 'licenses';
const DIGESTS = 'license-digests';

/** The indices whose documents must survive. @param prefix the installation's `INDEX_PREFIX` */
export function storedIndices(prefix: string) {
  return {
    /** The publication events and the epoch. */
    ledger: `${prefix}publications`,
    changes: `${prefix}changes`,
    savedRecords: `${prefix}saved-records`,
    subscriptions: `${prefix}subscriptions`,
    webhooks: `${prefix}webhooks`,
    rejectedRows: `${prefix}rejected-rows`,
    accounts: `${prefix}accounts`,
    apiKeys: `${prefix}api-keys`,
    apiKeyUsage: `${prefix}api-key-usage`,
    audit: `${prefix}audit`,
    /** Public keys. */
    signingKeys: `${prefix}signing-keys`,
    firstAnswers: `${prefix}first-answers`,
  };
}

export type StoredIndex = keyof ReturnType<typeof storedIndices>;

/** The names of an installation's indices and of its aliases. */
export function indexNames(prefix: string) {
  return {
    ...storedIndices(prefix),
    /** The alias that points to the one index of the live publication. */
    alias: `${prefix}${FAMILY}`,
    /** The alias of every index that has been live. */
    wasLive: `${prefix}was-live`,
    /** The alias of the index that a rollback replaced, until that index goes live again. */
    rolledBack: `${prefix}rolled-back`,
    licensesPattern: `${prefix}${FAMILY}-*`,
    digestsPattern: `${prefix}${DIGESTS}-*`,
  };
}

/**
 * The name of a physical index of licenses.
 *
 * @param date the dataset's run date, `YYYY-MM-DD`
 * @param build unique for each attempt
 */
export function licensesIndexName(prefix: string, date: string, build: string): string {
  return `${prefix}${FAMILY}-${date}-${build}`;
}

const NAME = /^licenses-\d{4}-\d{2}-\d{2}-[a-z0-9]+$/;

/** Whether a name has the form that `licensesIndexName` produces with this prefix. */
export function isLicensesIndexName(prefix: string, name: string): boolean {
  return name.startsWith(prefix) && NAME.test(name.slice(prefix.length));
}

/** The name of a publication's digest index, derived from the name of its index of licenses. */
export function digestIndexName(prefix: string, licensesIndex: string): string {
  return `${prefix}${DIGESTS}${licensesIndex.slice(prefix.length + FAMILY.length)}`;
}
