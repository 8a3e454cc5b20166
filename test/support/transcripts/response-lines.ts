import { gunzipSync } from 'node:zlib';
import { SERVICE_VERSION } from '../../../src/config.ts';
import type { RawResponse } from './connection.ts';

/**
 * Text shared by many exchanges, by name: the headers of a kind of request or response, or an object as compact JSON.
 */
export interface Common {
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly objects: ReadonlyMap<string, string>;
}

/**
 * Reads the file of shared text: `### name`, followed by its lines. A kind of headers may start with an earlier kind.
 */
export function readCommon(text: string): Common {
  const headers = new Map<string, readonly string[]>();
  const objects = new Map<string, string>();
  for (const [, name = '', section = ''] of text.matchAll(/^### (.+)\n((?:.+\n)+)/gm)) {
    const [first = '', ...lines] = section.trim().split('\n');
    if (first === '{') {
      objects.set(name, first + lines.map((line) => line.trimStart()).join(''));
      continue;
    }
    const own = new Set(lines.map(nameOf));
    const base = headers.get(first.slice(1, -1))?.filter((header) => !own.has(nameOf(header))) ?? [first];
    headers.set(name, [...base, ...lines]);
  }
  return { headers, objects };
}

/** Longer bodies are truncated to this many bytes. */
const MAX_BODY_BYTES = 7000;
const BEGINNING_BYTES = 60;

const LINE_WIDTH = 110;

/** The longest time that an address waits for its limit to reset. */
const RATE_LIMIT_SECONDS = 60;
/** On a busy machine, a time in a response may be this long ago when it is read. */
const SLOW_SECONDS = 30;

/** The remainder of a limit that no exchange reaches. The exact value depends on whether Redis answered in time. */
const NEARLY_ALL = 900_000;

/** A response without its common headers. Placeholders replace values that differ from run to run. */
export function responseLines(response: RawResponse, common: Common) {
  const headers = [...response.headers].map(
    ([name, value]) => `${name}: ${maskedHeader(name, value, response.status)}`,
  );
  const body = shownBody(response, common.objects);
  const head = withoutCommonHeaders(response.statusLine, headers, common);
  return { head, body: body === '' ? [] : body.split('\n') };
}

/**
 * Replaces the common headers of a response by the name of the most similar kind.
 *
 * @param headers `name: value`
 * @returns the first line with the kind, `- name` for each missing common header, and the headers that are not common
 */
function withoutCommonHeaders(line: string, headers: readonly string[], common: Common): readonly string[] {
  if (headers.length === 0) return [line];
  const names = new Set(headers.map(nameOf));
  const [nearest = []] = [...common.headers]
    .map(([kind, expected]) => [
      `${line} [${kind}]`,
      ...expected.map(nameOf).flatMap((name) => (names.has(name) ? [] : [`- ${name}`])),
      ...headers.filter((header) => !expected.includes(header)),
    ])
    .sort((one, other) => one.length - other.length);
  return nearest;
}

const nameOf = (header: string): string => header.slice(0, header.indexOf(':'));

/** Text in which bytes outside printable ASCII are made visible. */
export const visible = (bytes: Buffer): string =>
  bytes
    .toString('latin1')
    .replace(/[^\n -~]/g, (char) => `\\x${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);

const CURSOR = String.raw`[0-9a-f]{12}\.[0-9a-z]+\.[0-9a-f]{8}`;
type IsExpected = (value: string, status: number) => boolean;
const isDate: IsExpected = (value) => value === new Date(value).toUTCString();
const isNext: IsExpected = (value) => {
  const seconds = Number(value) - Date.now() / 1000;
  return seconds > -SLOW_SECONDS && seconds <= RATE_LIMIT_SECONDS + 1;
};
const isWait: IsExpected = (value, status) => status === 429 && +value >= 1 && +value <= RATE_LIMIT_SECONDS;
const like =
  (pattern: RegExp): IsExpected =>
  (value) =>
    pattern.test(value);

/** What is shown in place of a header's value, if it is as expected. */
const MASKED_HEADERS: ReadonlyMap<string, readonly [mask: string, isExpected: IsExpected]> = new Map([
  ['date', ['<date>', isDate]],
  ['last-modified', ['<date>', isDate]],
  // The length was used to read the body, so it is correct.
  ['content-length', ['<length>', (value) => Number(value) >= 0]],
  ['x-request-id', ['<request id>', like(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)]],
  ['x-ratelimit-remaining', ['<nearly all>', (value) => Number(value) > NEARLY_ALL]],
  ['x-ratelimit-reset', ['<reset time>', isNext]],
  ['retry-after', ['<seconds>', isWait]],
  // The entity tag changes with the version of the service.
  ['etag', ['<entity tag>', like(/^"[0-9a-f]{16}"$|^W\/"[a-z0-9]{16}-[\d.]+"$/)]],
  ['x-feed-cursor', ['<cursor>', like(new RegExp(`^${CURSOR}$`))]],
  ['x-publication', ['<publication id>', like(/^[a-z0-9]{16}$/)]],
]);

function maskedHeader(name: string, value: string, status: number): string {
  if (name === 'allow' || name === 'vary') return value.split(/, */).sort().join(', ');
  const [mask, isExpected] = MASKED_HEADERS.get(name) ?? [];
  return mask !== undefined && isExpected?.(value, status) ? mask : value;
}

const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;

/** A JSON field. Inside a JSON string, its quotes may be escaped by a backslash. */
const field = (name: string, value: string, mask: string): readonly [RegExp, string] => [
  new RegExp(String.raw`(\\?"${name}\\?": ?)${value}`, 'g'),
  `$1${mask}`,
];

/** The values that differ from run to run. */
const MASKS = [
  field('days_until_expiry', String.raw`-?\d+`, '<days>'),
  field('age_in_days', String.raw`\d+`, '<days>'),
  field('data_age_days', String.raw`\d+`, '<days>'),
  // The last cells of a row in a list.
  [/(?<=\d{4}-\d\d-\d\dT00:00:00[,;])\d+/g, '<days>'],
  [/The data is (?:late|stale): \d+ days old\./g, 'The data is <how old>.'],
  field('freshness', '"[a-z]+"', '<freshness>'),
  field('(?:(?:verified|created|rotated|saved)_)?at', `"${TIME}"`, '<time>'),
  field('code', '"(?:[0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}"', '<code>'),
  [/(?<=\/records\/)[0-9A-Z-]{19}/, '<code>'],
  field('kept_until', String.raw`"\d{4}-\d\d-\d\d"`, '<date>'),
  field('(?:id|publication)', '"[a-z0-9]{16}"', '<publication id>'),
  field('(?:next|delivered_cursor|feed_cursor)', `"${CURSOR}"`, '<cursor>'),
  field('secret', '"whsec_[A-Za-z0-9+/]{43}="', '<secret>'),
  field('index', '"test-[0-9a-f]{10}-licenses-2026-11-20-[a-z0-9]{16}"', '<index>'),
  field('(?:service_)?version', `"${SERVICE_VERSION.replaceAll('.', String.raw`\.`)}"`, '<version>'),
  [/try again in \d+ seconds/, 'try again in <seconds> seconds'],
] as const;

/** A page of the website. Other tests check its content. */
const PAGE = /^<!doctype html>.*<title>(.*)<\/title>.* href="\/assets\/.*$/s;

function shownBody(response: RawResponse, objects: Common['objects']): string {
  const isCompressed = response.headers.get('content-encoding') === 'gzip' && response.body.length > 0;
  const body = isCompressed ? gunzipSync(response.body) : response.body;
  const text = body.toString('latin1');
  const [, title] = PAGE.exec(text) ?? [];
  if (title !== undefined) return `<the page "${title}">`;
  if (body.length > MAX_BODY_BYTES) return `${visible(body.subarray(0, BEGINNING_BYTES))}...`;
  const masked = MASKS.reduce((shown, [pattern, mask]) => shown.replace(pattern, mask), visible(body));
  const short = [...objects].reduce((shown, [name, object]) => shown.replaceAll(object, `[${name}]`), masked);
  return isCompactJson(text) ? inLines(short, '') : short;
}

function isCompactJson(text: string): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === text;
  } catch {
    return false;
  }
}

const TOKENS = /"(?:\\.|[^"\\])*"|[[\]{},]|[^"[\]{},]+/g;

/**
 * Breaks compact JSON into lines. An object or array that is too long is split, with as many fields on each line as
 * fit.
 */
function inLines(json: string, indent: string): string {
  const [start] = /^(?:"[^"]*":)?[[{]/.exec(json) ?? [];
  if (start === undefined || indent.length + json.length <= LINE_WIDTH) return json;
  const items = [''];
  let depth = 1;
  for (const token of json.slice(start.length, -1).match(TOKENS) ?? []) {
    if (token === ']' || token === '}') depth -= 1;
    if (token === '[' || token === '{') depth += 1;
    if (depth === 1 && token === ',') items.push('');
    else items.push((items.pop() ?? '') + token);
  }
  const inner = `${indent}  `;
  const lines: string[] = [];
  for (const [at, item] of items.entries()) {
    const shown = inLines(item, inner) + (at < items.length - 1 ? ',' : '');
    const last = lines.at(-1);
    const isFull =
      last === undefined || /\n/.test(last + shown) || (inner + last + shown).length > LINE_WIDTH;
    if (isFull) lines.push(shown);
    else lines.splice(-1, 1, last + shown);
  }
  return `${start}\n${lines.map((line) => inner + line).join('\n')}\n${indent}${json.slice(-1)}`;
}
