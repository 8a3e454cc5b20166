import type { LookupAddress } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { callbackify } from 'node:util';
import ipaddr from 'ipaddr.js';
import { SERVICE_VERSION } from '../config.ts';
import { DAY_MS } from '../licenses/dates.ts';
import { BadRequestError } from '../licenses/lookup.ts';

/** From the first question for its address to the last header of its answer. */
export const WITHIN_MS = 15_000;
const MAX_URL_CHARACTERS = 500;
const MAX_HEADER_BYTES = 8192;
/** So much of a response is read, since some receivers fail when it is not; none of it is kept. */
const MAX_BODY_BYTES = 4096;
/** Then the host's next address is tried, too. */
const NEXT_ADDRESS_AFTER_MS = 1000;
const USER_AGENT = `Ohio-License-Verification/${SERVICE_VERSION}`;

/** Why a receiver did not answer, by the name and code of the error: messages may have what the receiver sent. */
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

/** How a receiver answered, or why it did not; the reason has nothing that it sent. */
interface Answer {
  readonly status?: number;
  /** What its Retry-After says, at most 24 hours. */
  readonly retryAfterMs?: number | undefined;
  readonly reason?: (typeof FAILURES)[number] | undefined;
}

interface Options {
  /** From the first question to the last header. */
  readonly withinMs?: number;
  /** The addresses of a host name. */
  readonly addressesOf?: (host: string) => Promise<readonly LookupAddress[]>;
  /** Certificates that are trusted instead of the usual ones, PEM. */
  readonly ca?: string | undefined;
}

/**
 * Posts JSON. Redirects are answers like others, and no proxy is used.
 *
 * The address is checked that is connected to: a name may have other addresses than a moment before.
 *
 * @param allowedRanges CIDR ranges to which it may connect although they are not public, and by http and at any port
 */
export async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  allowedRanges: readonly string[],
  { withinMs = WITHIN_MS, addressesOf, ca }: Options = {},
): Promise<Answer> {
  // The API seldom posts; without undici it starts sooner.
  const { Agent, request } = await import('undici');
  // In allowed ranges are also hosts that this machine alone knows.
  const knownAddresses = (host: string) => lookup(host, { all: true });
  const addressesFound = addressesOf ?? (allowedRanges.length > 0 ? knownAddresses : publicAddresses);
  const checkedAddresses = async (host: string, _options: unknown): Promise<LookupAddress[]> => {
    const addresses = await addressesFound(host);
    const isRefused = addresses.some(({ address }) => !isAllowed(address, new URL(url), allowedRanges));
    // Node ends the process for a name without an address.
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
    // It has answered, however the rest ends.
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
 * Those that the name servers know. The system's own look-up holds one of two threads until they answer, and whatever
 * this process connects to by name waits for these: anybody can name a host whose server never answers.
 *
 * @param servers in place of the system's
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
 * The address of a webhook, normalized.
 *
 * @param allowedRanges CIDR ranges; where there are any, http and any port are taken
 * @throws {BadRequestError} for an address that nothing could be sent to
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

/** The IPv6 addresses that are given to hosts; all others stand for something, as `::127.0.0.1` for an IPv4 address. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** Azure answers its virtual machines here, and nobody else (https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16). */
const AZURE_HOST_AGENT = '168.63.129.16';

/** Whether a request to this URL may go to this address. By http or to another port, it may go to allowed ranges only. */
function isAllowed(address: string, { protocol, port }: URL, allowedRanges: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const allowed = allowedRanges.map((range) => ipaddr.parseCIDR(range));
  if (ipaddr.subnetMatch(ipaddr.process(address), { allowed }, '') === 'allowed') return true;
  const parsed = ipaddr.parse(address);
  const isOfHosts = !(parsed instanceof ipaddr.IPv6) || parsed.match(GLOBAL_UNICAST);
  const isPublic = isOfHosts && parsed.range() === 'unicast' && address !== AZURE_HOST_AGENT;
  return protocol === 'https:' && port === '' && isPublic;
}

/** Seconds, or a date, as RFC 9110 has them; `undefined` for anything else. */
function readRetryAfter(text: string): number | undefined {
  const isDate = text.endsWith(' GMT');
  const ms = isDate ? Date.parse(text) - Date.now() : /^\d+$/.test(text) ? Number(text) * 1000 : Number.NaN;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), DAY_MS);
}
