import type { LookupAddress } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { callbackify } from 'node:util';
import ipaddr from 'ipaddr.js';
import { SERVICE_VERSION } from '../config.ts';
import { DAY_MS } from '../licenses/dates.ts';
import { BadRequestError } from '../licenses/lookup.ts';

/** The time limit for a request, from the DNS lookup to the last header of the response. */
export const WITHIN_MS = 15_000;
const MAX_URL_CHARACTERS = 500;
const MAX_HEADER_BYTES = 8192;
/** How much of a response body is read, because some receivers fail if it is not read. The body is not kept. */
const MAX_BODY_BYTES = 4096;
/** After this time, the host's next address is tried in parallel. */
const NEXT_ADDRESS_AFTER_MS = 1000;
const USER_AGENT = `Ohio-License-Verification/${SERVICE_VERSION}`;

/**
 * Maps an error's name and code to the reason why a receiver did not answer. Error messages are not used, because they
 * may contain text that the receiver sent.
 */
const REASONS = [
  [/ADDRESS_NOT_ALLOWED/, 'address not allowed'],
  [/ENOTFOUND|EAI_|ENODATA/, 'host not found'],
  [/ECONNREFUSED/, 'connection refused'],
  [/EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL/, 'host unreachable'],
  [/CERT|SIGNATURE|ERR_TLS|ERR_SSL|EPROTO|HOSTNAME_MISMATCH/, 'TLS failed'],
  [/ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT/, 'timeout'],
  [/ECONNRESET|EPIPE|ECONNABORTED|UND_ERR_SOCKET/, 'connection closed'],
  [/HTTPParserError|UND_ERR_HEADERS_OVERFLOW/, 'not an HTTP response'],
  [/^/, 'request failed'],
] as const satisfies readonly (readonly [RegExp, string])[];

export const FAILURES = REASONS.map(([, reason]) => reason);

/** The receiver's response, or the reason for a failure. The reason contains nothing that the receiver sent. */
interface Answer {
  readonly status?: number;
  /** The wait in the Retry-After header, at most 24 hours. */
  readonly retryAfterMs?: number | undefined;
  readonly reason?: (typeof FAILURES)[number] | undefined;
}

interface Options {
  /** The time limit, from the DNS lookup to the last header. */
  readonly withinMs?: number;
  /** Resolves a host name to its addresses. */
  readonly addressesOf?: (host: string) => Promise<readonly LookupAddress[]>;
  /** The CA certificates to trust instead of the usual ones, in PEM format. */
  readonly ca?: string | undefined;
}

/**
 * Posts JSON. A redirect is returned like any other response, and no proxy is used.
 *
 * The check applies to the address that is actually connected to, because a host name may resolve to other addresses
 * than a moment before.
 *
 * @param allowedRanges CIDR ranges that requests may go to although they are not public, with http and any port as well
 */
export async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  allowedRanges: readonly string[],
  { withinMs = WITHIN_MS, addressesOf, ca }: Options = {},
): Promise<Answer> {
  // undici is loaded here because the API seldom posts, and starts sooner without it.
  const { Agent, request } = await import('undici');
  // Allowed ranges may include hosts that only this machine can resolve.
  const knownAddresses = (host: string) => lookup(host, { all: true });
  const addressesFound = addressesOf ?? (allowedRanges.length > 0 ? knownAddresses : publicAddresses);
  const checkedAddresses = async (host: string, _options: unknown): Promise<LookupAddress[]> => {
    const addresses = await addressesFound(host);
    const isRefused = addresses.some(({ address }) => !isAllowed(address, new URL(url), allowedRanges));
    // Node would crash on a name that resolves to no address.
    const code = addresses.length === 0 ? 'ENOTFOUND' : isRefused ? 'ADDRESS_NOT_ALLOWED' : undefined;
    if (code !== undefined) throw Object.assign(new Error(code), { code });
    return [...addresses];
  };
  const connect = {
    lookup: callbackify(checkedAddresses),
    timeout: withinMs,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    ca,
  };
  const dispatcher = new Agent({ connect, allowH2: false, maxHeaderSize: MAX_HEADER_BYTES });
  const signal = AbortSignal.timeout(withinMs);
  try {
    const target = readWebhookUrl(url, allowedRanges);
    const sent = { ...headers, 'content-type': 'application/json', 'user-agent': USER_AGENT };
    const asked = { dispatcher, signal, method: 'POST', headers: sent, body, reset: true } as const;
    const answer = await request(target, asked);
    // The receiver has answered, even if reading the body fails.
    await answer.body.dump({ limit: MAX_BODY_BYTES, signal }).catch(() => undefined);
    const retryAfterMs = readRetryAfter(String(answer.headers['retry-after'] ?? ''));
    return { status: answer.statusCode, retryAfterMs };
  } catch (error) {
    return { reason: signal.aborted ? 'timeout' : reasonOf(error) };
  } finally {
    await dispatcher.destroy();
  }
}

function reasonOf(error: unknown): Answer['reason'] {
  if (error instanceof BadRequestError) return 'address not allowed';
  const text = error instanceof Error ? `${error.name} ${'code' in error ? error.code : ''}` : '';
  return REASONS.find(([pattern]) => pattern.test(text))?.[1];
}

const NAME_SERVER_MS = 2000;

/**
 * Returns the addresses that the DNS servers know for a host. It does not use the system's own lookup, which holds one
 * of only two threads until the servers answer: anyone can name a host whose DNS server never answers, and then all
 * other connections by name would wait.
 *
 * @param servers DNS servers to use instead of the system's
 */
export async function publicAddresses(host: string, servers?: readonly string[]): Promise<LookupAddress[]> {
  const resolver = new Resolver({ timeout: NAME_SERVER_MS, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  const [ipv4, ipv6] = await Promise.all([
    resolver.resolve4(host).catch(() => []),
    resolver.resolve6(host).catch(() => []),
  ]);
  const of = (family: number) => (address: string) => ({ address, family });
  return [...ipv4.map(of(4)), ...ipv6.map(of(6))];
}

const LOCAL_NAME = /(^|\.)localhost$/;

/**
 * Checks and normalizes the URL of a webhook.
 *
 * @param allowedRanges CIDR ranges; if there are any, http and any port are accepted
 * @throws {BadRequestError} for a URL that nothing can be sent to
 */
export function readWebhookUrl(text: string, allowedRanges: readonly string[]): string {
  const url = text.length > MAX_URL_CHARACTERS ? null : URL.parse(text);
  if (url === null || url.href.length > MAX_URL_CHARACTERS) {
    throw new BadRequestError(`url must be an address of at most ${MAX_URL_CHARACTERS} characters.`);
  }
  const isOpen = allowedRanges.length > 0;
  if (url.protocol !== 'https:' && !(isOpen && url.protocol === 'http:')) {
    throw new BadRequestError('url must begin with https://.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new BadRequestError('url must have no user name and no password.');
  }
  if (url.href.includes('#')) throw new BadRequestError('url must have no fragment (#).');
  if (url.port !== '' && !isOpen) throw new BadRequestError('url must have no port: it is always 443.');
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  const isPrivate =
    isIP(host) === 0 ? !isOpen && LOCAL_NAME.test(host) : !isAllowed(host, url, allowedRanges);
  if (isPrivate) throw new BadRequestError('url must have the name or the address of a public host.');
  return url.href;
}

/**
 * The range of IPv6 addresses that are assigned to hosts. Other addresses have special meanings, such as `::127.0.0.1`,
 * which stands for an IPv4 address.
 */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Azure's host agent, which only its own virtual machines can reach
 * (https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16).
 */
const AZURE_HOST_AGENT = '168.63.129.16';

/**
 * Whether a request to this URL may connect to this address. Requests by http or to another port may only go to allowed
 * ranges.
 */
function isAllowed(address: string, { protocol, port }: URL, allowedRanges: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const allowed = allowedRanges.map((range) => ipaddr.parseCIDR(range));
  if (ipaddr.subnetMatch(ipaddr.process(address), { allowed }, '') === 'allowed') return true;
  const parsed = ipaddr.parse(address);
  const isOfHosts = !(parsed instanceof ipaddr.IPv6) || parsed.match(GLOBAL_UNICAST);
  const isPublic = isOfHosts && parsed.range() === 'unicast' && address !== AZURE_HOST_AGENT;
  return protocol === 'https:' && port === '' && isPublic;
}

/** Parses a Retry-After value, in seconds or as a date (RFC 9110); `undefined` for anything else. */
function readRetryAfter(text: string): number | undefined {
  const isDate = text.endsWith(' GMT');
  const ms = isDate ? Date.parse(text) - Date.now() : /^\d+$/.test(text) ? Number(text) * 1000 : Number.NaN;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), DAY_MS);
}
