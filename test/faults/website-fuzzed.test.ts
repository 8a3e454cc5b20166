/** @long @room website */
import { expect, test } from '@jest/globals';
import { evaluationDays } from '../../sample-data/evaluation/days.ts';
import { createRandom } from '../../sample-data/generator/random.ts';
import { SEED } from '../support/fault-form.ts';
import { times } from '../support/fixtures.ts';
import { PROPERTY_NAMES } from '../support/hostile-rows.ts';
import { startService } from '../support/service.ts';

const REQUESTS = 20_000;
const IN_FLIGHT = 8;
const WITHIN_MS = 600_000;

/** What the website may answer to whatever is sent: never an error of its own. */
const STATUSES: ReadonlySet<number> = new Set([200, 301, 302, 303, 400, 403, 404, 405, 413, 415, 429]);

const TEXTS = [
  ...PROPERTY_NAMES,
  ...['', ' ', 'Whitfield', 'RN.900418822', 'NUR', 'nur', 'person', 'number', 'business', 'SHEAR GRACE', '0'],
  ...['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', '../../etc/passwd', '%', '%00'],
  ...['%2e%2e%2f', '\u0000', '\ud800', '\u202e', 'İ', 'ﬀ', 'e\u0301', '🩺', "O'DELL-MARSH", '*', '?'],
  ...['[0-9]+', '{"a":1}', '='],
  ...['a'.repeat(201), 'Z'.repeat(5000), 'license_number\nRN.900418822\n', 'last_name;board\n"x'],
  ...['\r\n\r\n', '-1', 'null'],
];

const FIELDS = [
  ...'q kind page board number license_type status city county roster file format column header separator code checked_by reference search record'
    .split(' ')
    .flatMap((name) => Array(4).fill(name)),
  ...PROPERTY_NAMES,
];
const PATHS =
  '/ / /licenses/NUR/ /licenses/ /records/ /records /roster /data /about /developers /assets/ /favicon.svg'.split(
    ' ',
  );
const METHODS = ['GET', 'GET', 'GET', 'POST', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'];
const TYPES = [
  ...['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'multipart/form-data'],
  ...['text/csv', 'application/json', ''],
];

/** Headers that select something, each sent with the name of a property now and then. */
const SELECTING = [
  ...['accept', 'accept-encoding', 'accept-language', 'content-encoding', 'content-type'],
  ...['x-forwarded-proto', 'x-request-id', 'x-api-key', 'mcp-protocol-version', 'mcp-name'],
];

function randomRequest(random: () => number, origin: string) {
  const one = <Thing>(things: readonly Thing[]): Thing => {
    const thing = things[Math.floor(random() * things.length)];
    if (thing === undefined) throw new Error('There is nothing to choose from.');
    return thing;
  };
  const text = () => one(TEXTS).toWellFormed();
  const fields = () =>
    new URLSearchParams(times(Math.floor(random() * 5), (): [string, string] => [one(FIELDS), text()]));
  const method = one(METHODS);
  const selecting = random() < 0.2 ? { [one(SELECTING)]: one(PROPERTY_NAMES) } : {};
  const path =
    one(PATHS) +
    (random() < 0.4 ? encodeURIComponent(text()) : '') +
    (random() < 0.1 ? one(['/again', '/csv']) : '');
  const headers = {
    accept: one(['text/html', '*/*', 'application/json']),
    ...(random() < 0.8 && { origin: one([origin, origin, 'null', 'https://evil.example']) }),
  };
  if (method === 'GET' || method === 'HEAD')
    return { method, headers: { ...headers, ...selecting }, path: `${path}?${fields()}` };
  const type = one(TYPES);
  const parts = [...fields()].map(
    ([name, value]) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const body = type.startsWith('multipart')
    ? `${parts.join('')}${random() < 0.8 ? '--x--\r\n' : ''}`
    : String(fields());
  return { method, path, body, headers: { ...headers, 'content-type': type, ...selecting } };
}

const service = await startService({ files: evaluationDays });

test(
  'random requests to the website',
  async () => {
    const origin = `http://127.0.0.1:${service.environment.config.PORT}`;
    const random = createRandom(SEED, 'website');
    const wrong: string[] = [];
    const statuses = new Map<number, number>();

    async function send(request: ReturnType<typeof randomRequest>): Promise<void> {
      const { path, ...options } = request;
      const response = await fetch(origin + path, { ...options, redirect: 'manual' });
      const text = await response.text();
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      const isPage = response.headers.get('content-type')?.startsWith('text/html') === true;
      const isGood =
        STATUSES.has(response.status) &&
        (!isPage ||
          response.headers.get('content-security-policy')?.includes("default-src 'none'") === true) &&
        !(isPage && /<script(?! src="\/assets\/[\w/.]+" type="module">)|<img|onerror=[^&]*>/.test(text));
      if (!isGood) wrong.push(`${response.status} to ${JSON.stringify(request)}`);
    }

    const requests = Array.from({ length: REQUESTS }, () => randomRequest(random, origin));
    for (let first = 0; first < requests.length; first += IN_FLIGHT)
      await Promise.all(requests.slice(first, first + IN_FLIGHT).map(send));
    expect(wrong).toEqual([]);
    for (const status of [200, 400, 403, 404, 405]) expect(statuses.get(status) ?? 0).toBeGreaterThan(0);
  },
  WITHIN_MS,
);
