import { mkdir, writeFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import {
  ConfigError,
  localServicesPath,
  localServiceUrl,
  readConfig,
  SETTING_NAMES,
  SETTINGS,
} from '../../src/config.ts';
import { refusalOf } from '../support/refusal.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

/** The settings of an environment in which no local servers were started. */
const configOf = (environment: Readonly<Record<string, string | undefined>> = {}) =>
  readConfig({ STATE_DIR: folder.path('nothing-started'), ...environment });

const refusal = (environment: Readonly<Record<string, string>>) =>
  refusalOf(ConfigError, () => configOf(environment));

// test/unit/env-example.test.ts proves the defaults.
test.each(['', ' ', '\t'])(
  'the blank value %j counts as absent, and other variables are ignored',
  (blank) => {
    const names = [...SETTING_NAMES.filter((name) => name !== 'STATE_DIR'), 'HOME'];
    expect(configOf(Object.fromEntries(names.map((name) => [name, blank])))).toEqual(configOf());
  },
);

describe('the setting', () => {
  test.each<[string, string, unknown]>([
    ['OPENSEARCH_URL', 'https://search.example:9200/', 'https://search.example:9200'],
    ['OPENSEARCH_URL', 'https://search.example//a//', 'https://search.example//a'],
    ['OPENSEARCH_URL', 'http://one:9200/, https://two,', 'http://one:9200,https://two'],
    ['OPENSEARCH_PASSWORD', ' secret ', ' secret '],
    ['INDEX_PREFIX', 'a'.repeat(40), 'a'.repeat(40)],
    ['REDIS_URL', 'rediss://:secret@redis.example:6380/2', 'rediss://:secret@redis.example:6380/2'],
    ['PUBLIC_URL', 'https://Licenses.Example.gov/', 'https://licenses.example.gov'],
    ['PUBLIC_URL', 'http://10.0.0.1:8080', 'http://10.0.0.1:8080'],
    ['MCP_ALLOWED_HOSTS', ' a.example, ,b.example:8080,', ['a.example', 'b.example:8080']],
    ['API_KEY_PREFIX', 'abcdefghijklmno1', 'abcdefghijklmno1'],
    ['GUARD_MIN_ROWS_PERCENT', '99.5', 99.5],
    ['DATASET_INDIVIDUAL', ' individual.csv ', 'individual.csv'],
    ...['https://ann:s%25@data.example/a?token=b', 'http://127.0.0.1:1/a'].map(
      (url): [string, string, string] => ['DATASET_INDIVIDUAL', url, url],
    ),
  ])('%s accepts %j', (name, value, read) => {
    expect(configOf({ [name]: value })).toHaveProperty(name, read);
  });

  test('MCP_ALLOWED_HOSTS is the host of PUBLIC_URL unless it is set', () => {
    const PUBLIC_URL = 'https://a.example:8443';
    expect(configOf({ PUBLIC_URL }).MCP_ALLOWED_HOSTS).toEqual(['a.example']);
    expect(configOf({ PUBLIC_URL, MCP_ALLOWED_HOSTS: 'b.example' }).MCP_ALLOWED_HOSTS).toEqual(['b.example']);
  });

  const NODES = 'an http or https URL, or those of several nodes with commas between them';
  const PREFIX = 'empty, or up to 40 lower-case letters, digits, - and _, a letter or digit first';
  const KEY_PREFIX = 'up to 16 lower-case letters and digits, a letter first';
  const RANGES = 'a comma list of ADDRESS/BITS=REQUESTS_PER_MINUTE';

  test.each([
    ['ADMIN_PORT', '9464x', 'a port, 0 to 65535'],
    ...['Test-', '-test', 'a*', 'a'.repeat(41)].map((value) => ['INDEX_PREFIX', value, PREFIX] as const),
    ...[
      ...'licenses.example.gov ftp://a.example https://a.example/licenses'.split(' '),
      ...'https://a.example? https://u:p@a.example'.split(' '),
    ].map((value) => ['PUBLIC_URL', value, 'an http or https URL without a path'] as const),
    ...['OLV', '1olv', 'olv_', 'a'.repeat(17)].map((value) => ['API_KEY_PREFIX', value, KEY_PREFIX] as const),
    ['GUARD_BOARD_ROWS_FEWER', '0.5', 'a whole number from 0'],
    ['LOG_LEVEL', 'verbose', 'one of fatal, error, warn, info, debug, trace, silent'],
    ...[
      ...'203.0.113.0/24 203.0.113.0/33=10 2001:db8::/129=10 203.0.113/24=10'.split(' '),
      ...'203.0.113.0/24=0 198.51.100.0/24=5,example.org/24=5'.split(' '),
    ].map((value) => ['RATE_LIMIT_RANGES', value, RANGES] as const),
    ['MCP_RATE_LIMIT_RANGES', '203.0.113.0/24', RANGES],
  ])('%s refuses %j with one line that has the name, the value and what is allowed', (name, value, may) => {
    expect(refusal({ [name]: value })).toBe(`${name} is "${value}", but must be ${may}.`);
  });

  test.each([
    ['OPENSEARCH_URL', 'search.example:9200', NODES],
    ['OPENSEARCH_URL', 'http://one:9200,two', NODES],
    ['OPENSEARCH_URL', ',', NODES],
    ['OPENSEARCH_URL', 'ftp://user:secret@search.example', NODES],
    ['REDIS_URL', 'secret', 'a redis or rediss URL'],
    ['QUEUE_BOARD_PASSWORD', 'too short', '16 to 200 characters'],
    // Nothing tries to read it as a file, and shows it.
    ...[
      'http://ann:secret@data.example/a',
      'sftp://ann:secret@data.example/a',
      'https:/ann:secret%@data.example/a',
      'https://ann:secret%@data.example/a',
      'https://data.example/a#secret',
    ].map((value) => ['DATASET_INDIVIDUAL', value, 'a path or an https URL'] as const),
  ])('%s, which may contain a password, is refused without being shown', (name, value, may) => {
    expect(refusal({ [name]: value })).toBe(`${name} is something else (not shown), but must be ${may}.`);
  });

  test('with a line break in its value is refused in one line', () => {
    expect(refusal({ PORT: '80\n80' })).not.toContain('\n');
  });
});

const BOUNDS =
  /^(?:a whole number(?: from)?|a percentage|percentage points|a port|seconds|how many proxies),? (\d+)(?: to (\d+))?$/;

const NUMBERS = [...SETTINGS].flatMap(([name, { description = '' }]) => {
  const [, least, most] = BOUNDS.exec(description) ?? [];
  return least === undefined ? [] : [[name, least, most] as const];
});

test.each(NUMBERS)('%s takes numbers from %s to %s, and nothing beyond', (name, least, most) => {
  for (const value of [least, most ?? '1000000000'])
    expect(configOf({ [name]: value })).toHaveProperty(name, Number(value));
  const beyond = most === undefined ? [] : [`${most}1`, String(Number(most) + 1)];
  for (const value of [String(Number(least) - 1), ...beyond, 'x'])
    expect(refusal({ [name]: value })).toMatch(`${name} is "${value}", but must be `);
});

test('most settings are numbers', () => {
  expect(NUMBERS.length).toBeGreaterThan(25);
});

const SOURCES = { DATASET_INDIVIDUAL: 'individual.csv', DATASET_BUSINESS: 'business.csv' };
const PATTERN = 'a cron pattern of five fields, in the time of America/New_York';
const BESIDE = 'stand beside DATASET_INDIVIDUAL and DATASET_BUSINESS';

test.each(['0 4 * * *', '*/5 * * * 1-5', '30 0 4 * * *'])(
  'PUBLISH_SCHEDULE accepts %j if both sources are set',
  (pattern) => {
    expect(configOf({ ...SOURCES, PUBLISH_SCHEDULE: pattern }).PUBLISH_SCHEDULE).toBe(pattern);
  },
);

test.each([
  ...['daily', '0 4 * *', '@daily', '0 4 * * * * *'].map(
    (pattern) => [pattern, {}, `be ${PATTERN}`] as const,
  ),
  ...Object.keys(SOURCES).map((missing) => ['0 4 * * *', { [missing]: '' }, BESIDE] as const),
])('PUBLISH_SCHEDULE refuses %j with %j', (pattern, sources, may) => {
  expect(refusal({ ...SOURCES, ...sources, PUBLISH_SCHEDULE: pattern })).toBe(
    `PUBLISH_SCHEDULE is "${pattern}", but must ${may}.`,
  );
});

test('ranges give their limits in order; those beside each other with the same limit are one list', () => {
  const given = ['192.0.2.0/28=10', ' 2001:db8::/64=10', '203.0.113.0/24=20', '198.51.100.0/24=10'];
  const { RATE_LIMIT_RANGES: ranges } = configOf({ RATE_LIMIT_RANGES: given.join(',') });
  const addresses = ['192.0.2.15', '2001:db8::1', '203.0.113.1', '198.51.100.1', '192.0.2.16', '2001:db9::1'];
  expect(ranges.map(({ requestsPerMinute }) => requestsPerMinute)).toEqual([10, 20, 10]);
  expect(
    addresses.map((address) =>
      ranges.findIndex((range) => range.addresses.check(address, address.includes(':') ? 'ipv6' : 'ipv4')),
    ),
  ).toEqual([0, 0, 1, 2, -1, -1]);
});

test.each([
  ['160.79.104.0', 6000],
  ['160.79.111.255', 6000],
  ['160.79.112.0', undefined],
])('unless set, MCP_RATE_LIMIT_RANGES gives %s the limit %j of hosted assistants', (address, limit) => {
  const { MCP_RATE_LIMIT_RANGES: ranges } = configOf({ MCP_RATE_LIMIT_RANGES: '' });
  expect(ranges.find(({ addresses }) => addresses.check(address))?.requestsPerMinute).toBe(limit);
});

test.each([
  ['used', '{"opensearch": "http://127.0.0.1:9333", "redis": "redis://127.0.0.1:6333"}', [9333, 6333]],
  ['ignored if their file is empty', '', [9200, 6379]],
  ['ignored if their file is a list', '[]', [9200, 6379]],
  ['ignored if their file has wrong types', '{"opensearch": 9200}', [9200, 6379]],
])('local servers are %s, and a set address counts more', async (what, services, [opensearch, redis]) => {
  const STATE_DIR = folder.path(what);
  await mkdir(STATE_DIR);
  await writeFile(localServicesPath(STATE_DIR), services);
  const OPENSEARCH_URL = `http://127.0.0.1:${opensearch}`;
  for (const [set, REDIS_URL] of [
    [{}, `redis://127.0.0.1:${redis}`],
    [{ REDIS_URL: 'redis://redis.example' }, 'redis://redis.example'],
  ] as const)
    expect(configOf({ STATE_DIR, ...set })).toMatchObject({ OPENSEARCH_URL, REDIS_URL });
});

test('the API of this machine is that of a running npm start, else the one of the settings', async () => {
  const STATE_DIR = folder.path('with-api');
  expect(localServiceUrl({ STATE_DIR, PORT: '8081' })).toBe('http://127.0.0.1:8081');
  await mkdir(STATE_DIR, { recursive: true });
  await writeFile(localServicesPath(STATE_DIR), '{"api": "http://127.0.0.1:18380"}');
  expect(localServiceUrl({ STATE_DIR, PORT: '8081' })).toBe('http://127.0.0.1:18380');
});
