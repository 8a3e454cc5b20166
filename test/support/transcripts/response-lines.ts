import { gunzipSync } from 'node:zlib';
import { SERVICE_VERSION } from '../../../src/config.ts';
import type { RawResponse } from './connection.ts';

/** What many exchanges have, by its name: the headers of a kind of request or response, or the lines of an object. */
export type Common = ReadonlyMap<string, readonly string[]>;

/** Reads the file of what is common: `### name`, then its lines. A kind of headers may begin with an earlier one. */
export function readCommon(text: string): Common {
  const common = new Map<string, readonly string[]>();
  for (const [, name = '', section = ''] of text.matchAll(/^### (.+)\n((?:.+\n)+)/gm)) {
    const [first = '', ...lines] = section.trim().split('\n');
    const own = new Set(lines.map(nameOf));
    const base = common.get(first.slice(1, -1))?.filter((header) => !own.has(nameOf(header))) ?? [first];
    common.set(name, [...base, ...lines]);
  }
  return common;
}

/** Of a longer body, only the beginning is shown. */
const MAX_BODY_BYTES = 7000;
const BEGINNING_BYTES = 60;

const LINE_WIDTH = 100;

/** The longest that an address waits for its limit. */
const RATE_LIMIT_SECONDS = 60;
/** On a busy machine, a time in a response may be so long ago when it is read. */
const SLOW_SECONDS = 30;

/** What is left of a limit that nobody reaches. How much depends on whether Redis answered in time. */
const NEARLY_ALL = 900_000;

/** A response's lines without its common headers. Placeholders replace what differs from run to run. */
export function responseLines(response: RawResponse, common: Common): string[] {
  const headers = [...response.headers].map(
    ([name, value]) => `${name}: ${maskedHeader(name, value, response.status)}`,
  );
  const head = [response.statusLine, ...withoutCommonHeaders(headers, common)];
  const body = shownBody(response);
  return body === '' ? head : [...head, '', ...withoutCommonObjects(body.split('\n'), common)];
}

/** Replaces common objects by their names, wherever they stand in a body. */
function withoutCommonObjects(body: readonly string[], common: Common): string[] {
  const shown = [...body];
  for (const [name, object] of common) {
    const inner = object.slice(1, -1).join();
    for (let at = shown.length - object.length; object[0] === '{' && at >= 0; at -= 1) {
      const [first = '', last = ''] = [shown[at], shown[at + object.length - 1]?.trim()];
      const fields = shown.slice(at + 1, at + object.length - 1);
      const indent = /^ */.exec(fields[0] ?? '')?.[0].length ?? 0;
      const isIt = first.endsWith('{') && last.startsWith('}');
      if (!isIt || fields.map((field) => `  ${field.slice(indent)}`).join() !== inner) continue;
      shown.splice(at, object.length, `${first.slice(0, -1)}[${name}]${last.slice(1)}`);
    }
  }
  return shown;
}

/**
 * Replaces the common headers of a response by the name of their kind: the kind from which the response differs least.
 *
 * @param headers `name: value`
 * @returns the kind, `- name` for each common header that is missing, and the headers that are not common
 */
function withoutCommonHeaders(headers: readonly string[], common: Common): string[] {
  if (headers.length === 0) return [];
  const names = new Set(headers.map(nameOf));
  const [nearest = []] = [...common]
    .map(([kind, expected]) => [
      `[common headers: ${kind}]`,
      ...expected.map(nameOf).flatMap((name) => (names.has(name) ? [] : [`- ${name}`])),
      ...headers.filter((header) => !expected.includes(header)),
    ])
    .sort((one, other) => one.length - other.length);
  return nearest;
}

function nameOf(header: string): string {
  return header.slice(0, header.indexOf(':'));
}

/** Text whose bytes outside printable ASCII are visible. */
export function visible(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[^\n -~]/g, (char) => `\\x${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}

const REQUEST_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function maskedHeader(name: string, value: string, status: number): string {
  const is = (isExpected: boolean, mask: string) => (isExpected ? mask : value);
  const number = Number(value);
  const seconds = number - Date.now() / 1000;
  switch (name) {
    case 'date':
    case 'last-modified':
      return is(value === new Date(value).toUTCString(), '<date>');
    case 'content-length':
      // The body was read by it.
      return is(number >= 0, '<length>');
    case 'x-request-id':
      return is(REQUEST_ID.test(value), '<request id>');
    case 'x-ratelimit-remaining':
      return is(number > NEARLY_ALL, '<nearly all>');
    case 'x-ratelimit-reset':
      return is(seconds > -SLOW_SECONDS && seconds <= RATE_LIMIT_SECONDS + 1, '<reset time>');
    case 'retry-after':
      return is(status === 429 && number >= 1 && number <= RATE_LIMIT_SECONDS, '<seconds>');
    case 'etag':
      // It changes with the version of the service.
      return is(/^"[0-9a-f]{16}"$|^W\/"[a-z0-9]{16}-[\d.]+"$/.test(value), '<entity tag>');
    case 'x-feed-cursor':
      return is(CURSOR.test(value), '<cursor>');
    case 'x-publication':
      return is(PUBLICATION_ID.test(value), '<publication id>');
    case 'allow':
    case 'vary':
      return value.split(/, */).sort().join(', ');
    default:
      return value;
  }
}

const CURSOR = /^[0-9a-f]{12}\.[0-9a-z]+\.[0-9a-f]{8}$/;
const PUBLICATION_ID = /^[a-z0-9]{16}$/;

const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;

/** A field of JSON; a quote may have a backslash, inside a JSON string. */
function field(name: string, value: string, mask: string): readonly [RegExp, string] {
  return [new RegExp(String.raw`(\\?"${name}\\?": ?)${value}`, 'g'), `$1${mask}`];
}

/** What differs from run to run. */
const MASKS = [
  field('days_until_expiry', String.raw`-?\d+`, '<days>'),
  field('age_in_days', String.raw`\d+`, '<days>'),
  field('data_age_days', String.raw`\d+`, '<days>'),
  // The last cells of a row of a list.
  [/(?<=\d{4}-\d\d-\d\dT00:00:00[,;])\d+/g, '<days>'],
  [/The data is (?:late|stale): \d+ days old\./g, 'The data is <how old>.'],
  field('freshness', '"[a-z]+"', '<freshness>'),
  field('(?:(?:verified|created|rotated|saved)_)?at', `"${TIME}"`, '<time>'),
  field('code', '"(?:[0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}"', '<code>'),
  [/(?<=\/records\/)[0-9A-Z-]{19}/, '<code>'],
  field('kept_until', String.raw`"\d{4}-\d\d-\d\d"`, '<date>'),
  field('(?:id|publication)', '"[a-z0-9]{16}"', '<publication id>'),
  field(
    '(?:next|delivered_cursor|feed_cursor)',
    String.raw`"[0-9a-f]{12}\.[0-9a-z]+\.[0-9a-f]{8}"`,
    '<cursor>',
  ),
  field('secret', '"whsec_[A-Za-z0-9+/]{43}="', '<secret>'),
  field('index', '"test-[0-9a-f]{10}-licenses-2026-11-20-[a-z0-9]{16}"', '<index>'),
  field('(?:service_)?version', `"${SERVICE_VERSION.replaceAll('.', String.raw`\.`)}"`, '<version>'),
  [/try again in \d+ seconds/, 'try again in <seconds> seconds'],
] as const;

/** A page of the website. Other tests look at what it shows. */
const PAGE = /^<!doctype html>.*<title>(.*)<\/title>.* href="\/assets\/.*$/s;

function shownBody(response: RawResponse): string {
  const isCompressed = response.headers.get('content-encoding') === 'gzip' && response.body.length > 0;
  const body = isCompressed ? gunzipSync(response.body) : response.body;
  const text = body.toString('latin1');
  const [, title] = PAGE.exec(text) ?? [];
  if (title !== undefined) return `<the page "${title}">`;
  if (body.length > MAX_BODY_BYTES) return `${visible(body.subarray(0, BEGINNING_BYTES))}...`;
  const shown = visible(Buffer.from(inLines(text), 'latin1'));
  return MASKS.reduce((masked, [pattern, mask]) => masked.replace(pattern, mask), shown);
}

/** Breaks compact JSON into lines; any other text stays as it is. */
function inLines(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? jsonLines(value, '') : text;
  } catch {
    return text;
  }
}

function jsonLines(value: unknown, indent: string): string {
  const line = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || indent.length + line.length <= LINE_WIDTH) return line;
  const inner = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((item) => jsonLines(item, inner))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${jsonLines(item, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${parts.map((part) => inner + part).join(',\n')}\n${indent}${close}`;
}
