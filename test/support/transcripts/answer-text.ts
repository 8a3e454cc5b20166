import { gunzipSync } from 'node:zlib';
import { SERVICE_VERSION } from '../../../src/config.ts';
import type { Answer } from './answer.ts';
import { bodyText } from './json-layout.ts';

/** How much of an answer's body a transcript has. */
export type BodyShown =
  | { readonly kind: 'all' }
  /** The first bytes: what follows changes with releases of others. */
  | { readonly kind: 'first'; readonly bytes: number }
  /** The names and types of the service's own metrics. */
  | { readonly kind: 'metrics' };

/** The longest that an address waits for its limit. */
const RATE_LIMIT_SECONDS = 60;
/** A time in an answer may be past by so much when it is read here, on a busy machine. */
const SLOW_SECONDS = 30;

/** Of a limit that nobody reaches, what is left depends on whether Redis answered in time. */
const NEARLY_ALL = 900_000;

/** The lines of an answer: headers by name, and values that change from run to run by what they are. */
export function answerLines(answer: Answer, shown: BodyShown): string[] {
  const body = shownBody(answer, shown);
  const masked = maskedBody(body);
  const isLengthMasked = shown.kind !== 'all' || masked !== body;
  const headers = answer.headers
    .map(([name, value]) => [name, maskedHeader(name, value, answer.status)] as const)
    .map(([name, value]) => `${name}: ${isLengthMasked ? withoutLength(name, value) : value}`)
    .sort();
  const head = [answer.statusLine, ...headers];
  return (masked === '' ? head : [...head, '', ...masked.split('\n')]).map((line) => `< ${line}`.trimEnd());
}

/** Text whose bytes outside printable ASCII are visible. */
export function visible(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[^\n -~]/g, (char) => `\\x${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}

function shownBody({ body: sent, headers }: Answer, shown: BodyShown): string {
  const isCompressed = headers.some(([name, value]) => name === 'content-encoding' && value === 'gzip');
  const body = isCompressed ? gunzipSync(sent) : sent;
  switch (shown.kind) {
    case 'all':
      return visible(Buffer.from(bodyText(body), 'latin1'));
    case 'first':
      return body.length <= shown.bytes ? visible(body) : `${visible(body.subarray(0, shown.bytes))}...`;
    case 'metrics':
      return metricTypes(body.toString('utf8'));
  }
}

/** The `# TYPE` lines of the service's own metrics. */
function metricTypes(text: string): string {
  const types = text.split('\n').filter((line) => /^# TYPE licenses_/.test(line));
  return [...types.sort(), '...'].join('\n');
}

function withoutLength(name: string, value: string): string {
  return name === 'content-length' && Number(value) > 0 ? '<length>' : value;
}

const REQUEST_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function maskedHeader(name: string, value: string, status: number): string {
  switch (name) {
    case 'date':
    case 'last-modified':
      return value === new Date(value).toUTCString() ? `<${name.replace('-', ' ')}>` : value;
    case 'content-range':
      return value.replace(/\/\d+$/, '/<length>');
    case 'etag':
      return value.replace(/"[^"]+"/, '"<etag>"');
    case 'x-request-id':
      return REQUEST_ID.test(value) ? '<request id>' : value;
    case 'x-ratelimit-remaining':
      return Number(value) > NEARLY_ALL ? '<nearly all>' : value;
    case 'x-ratelimit-reset':
      return isResetTime(Number(value)) ? '<rate limit reset>' : value;
    case 'retry-after':
      return status === 429 && isRetryTime(Number(value)) ? '<retry after>' : value;
    case 'allow':
    case 'vary':
      return value.split(/, */).sort().join(', ');
    default:
      return value;
  }
}

function isRetryTime(seconds: number): boolean {
  return seconds >= 1 && seconds <= RATE_LIMIT_SECONDS;
}

/** Whether a Unix time is one at which a limit may count anew. */
function isResetTime(time: number): boolean {
  const seconds = time - Date.now() / 1000;
  return seconds > -SLOW_SECONDS && seconds <= RATE_LIMIT_SECONDS + 1;
}

const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;

/** What changes from run to run, by the field's name; a quote may have a backslash, inside a JSON string. */
const MASKED_FIELDS: readonly (readonly [field: string, value: string, mask: string])[] = [
  ['days_until_expiry', String.raw`-?\d+`, '<days>'],
  ['age_in_days', String.raw`\d+`, '<days>'],
  ['freshness', '"[a-z]+"', '<freshness>'],
  ['(?:verified_)?at', `"${TIME}"`, '<time>'],
  ['(?:id|publication)', '"[a-z0-9]{16}"', '<publication id>'],
  ['next', String.raw`"[0-9a-f]{12}\.[0-9a-z]+\.[0-9a-f]{8}"`, '<cursor>'],
  ['index', '"test-[0-9a-f]{10}-licenses-2026-11-20-[a-z0-9]{16}"', '<index>'],
  ['(?:service_)?version', `"${SERVICE_VERSION.replaceAll('.', String.raw`\.`)}"`, '<version>'],
];

const MASKS = MASKED_FIELDS.map(
  ([field, value, mask]) =>
    [new RegExp(String.raw`(\\?"${field}\\?": ?)${value}`, 'g'), `$1${mask}`] as const,
);

/** A page of the website, whose tests look at what it shows. */
const PAGE = /^<!doctype html>.*<title>(.*)<\/title>.* href="\/assets\/.*$/s;

function maskedBody(body: string): string {
  const [, title] = PAGE.exec(body) ?? [];
  if (title !== undefined) return `<the page "${title}">`;
  const masked = MASKS.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), body);
  return masked.replace(/try again in \d+ seconds/, 'try again in <retry after> seconds');
}
