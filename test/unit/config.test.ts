import { mkdir, writeFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import {
  type Config,
  ConfigError,
  localServicesPath,
  localServiceUrl,
  readConfig,
} from '../../src/config.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

/** The settings of an environment in which no local servers were started. */
function configOf(environment: Readonly<Record<string, string | undefined>> = {}): Config {
  return readConfig({ STATE_DIR: folder.path('nothing-started'), ...environment });
}

function refusal(environment: Readonly<Record<string, string>>): string {
  try {
    configOf(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('The settings were not refused.');
}

describe('without any setting, the configuration', () => {
  const defaults = {
    HOST: '127.0.0.1',
    PORT: 8080,
    ADMIN_HOST: '127.0.0.1',
    ADMIN_ALLOWED_HOSTS: [],
    ADMIN_PORT: 9464,
    WORKER_ADMIN_PORT: 9465,
    OPENSEARCH_URL: 'http://127.0.0.1:9200',
    INDEX_SHARDS: 1,
    INDEX_PREFIX: '',
    REDIS_URL: 'redis://127.0.0.1:6379',
    REST_REQUESTS_PER_MINUTE: 600,
    SAVED_RECORDS_PER_DAY: 2000,
    SAVED_RECORDS_MB: 5000,
    ROSTER_ITEMS_PER_REQUEST: 10,
    MCP_REQUESTS_PER_MINUTE: 120,
    WEB_REQUESTS_PER_MINUTE: 600,
    RATE_LIMIT_RANGES: [],
    MCP_RATE_LIMIT_RANGES: [expect.objectContaining({ requestsPerMinute: 6000 })],
    TRUSTED_PROXIES: 0,
    MCP_ALLOWED_HOSTS: [],
    MCP_ALLOWED_ORIGINS: [],
    API_KEY_PREFIX: 'olv',
    DRAIN_SECONDS: 5,
    KEEP_PUBLICATIONS: 3,
    CHANGES_KEPT_DAYS: 730,
    EXPORTS_PER_DAY: 4,
    WEBHOOK_ALLOWED_RANGES: [],
    GUARD_MIN_ROWS_PERCENT: 97,
    GUARD_BOARD_ROWS_FEWER: 50,
    GUARD_MAX_REJECTED_PERCENT: 0.5,
    GUARD_MAX_DUPLICATES: 0,
    GUARD_MAX_UNKNOWN_PERCENT: 1,
    GUARD_MAX_CHANGED_PERCENT: 20,
    GUARD_MAX_DISCIPLINE_DROP_PERCENT: 20,
    GUARD_MAX_NOW_ACTIVE_PERCENT: 10,
    GUARD_MAX_COLUMN_CHANGED_PERCENT: 50,
    GUARD_MAX_COLUMN_BLANK_POINTS: 20,
    GUARD_MAX_BOARD_CHANGED_PERCENT: 50,
    GUARD_MAX_RELEASE_CHANGES_PERCENT: 1,
    GUARD_SMALL_BOARD: 20,
    GUARD_MAX_DAYS_OLDER: 0,
    LOG_LEVEL: 'info',
  };

  test('has the documented defaults', () => {
    const { STATE_DIR: _folder, ...config } = configOf();
    expect(config).toEqual(defaults);
  });

  test('stores its state in .local', () => {
    expect(
      readConfig({ OPENSEARCH_URL: 'http://127.0.0.1:1', REDIS_URL: 'redis://127.0.0.1:1' }).STATE_DIR,
    ).toBe('.local');
  });

  test.each(['', ' ', '\t'])('treats the blank value %j as absent', (blank) => {
    const names = [...Object.keys(defaults), 'OPENSEARCH_PASSWORD', 'DATASET_INDIVIDUAL', 'PUBLISH_SCHEDULE'];
    const { STATE_DIR: _folder, ...config } = configOf(
      Object.fromEntries(names.map((name) => [name, blank])),
    );
    expect(config).toEqual(defaults);
  });

  test('ignores other environment variables', () => {
    expect(configOf({ HOME: '/root', PATH: '/bin' })).not.toHaveProperty('HOME');
  });
});

describe('the setting', () => {
  test.each<[string, string, unknown]>([
    ['PORT', '0', 0],
    ['PORT', '65535', 65_535],
    ['OPENSEARCH_URL', 'https://search.example:9200/', 'https://search.example:9200'],
    ['OPENSEARCH_URL', 'https://search.example//a//', 'https://search.example//a'],
    ['OPENSEARCH_URL', 'http://one:9200/, https://two,', 'http://one:9200,https://two'],
    ['INDEX_SHARDS', '64', 64],
    ['OPENSEARCH_PASSWORD', ' secret ', ' secret '],
    ['INDEX_PREFIX', 'a'.repeat(40), 'a'.repeat(40)],
    ['REDIS_URL', 'rediss://:secret@redis.example:6380/2', 'rediss://:secret@redis.example:6380/2'],
    ['REST_REQUESTS_PER_MINUTE', '1', 1],
    ['TRUSTED_PROXIES', '10', 10],
    ['PUBLIC_URL', 'https://Licenses.Example.gov/', 'https://licenses.example.gov'],
    ['PUBLIC_URL', 'http://10.0.0.1:8080', 'http://10.0.0.1:8080'],
    ['MCP_ALLOWED_HOSTS', ' a.example, ,b.example:8080,', ['a.example', 'b.example:8080']],
    ['API_KEY_PREFIX', 'abcdefghijklmno1', 'abcdefghijklmno1'],
    ['DRAIN_SECONDS', '0', 0],
    ['DRAIN_SECONDS', '300', 300],
    ['KEEP_PUBLICATIONS', '100', 100],
    ['GUARD_MIN_ROWS_PERCENT', '0', 0],
    ['GUARD_MIN_ROWS_PERCENT', '99.5', 99.5],
    ['GUARD_BOARD_ROWS_FEWER', '0', 0],
    ['GUARD_MAX_REJECTED_PERCENT', '100', 100],
    ['LOG_LEVEL', 'silent', 'silent'],
  ])('%s accepts %j', (name, value, read) => {
    expect(configOf({ [name]: value })).toHaveProperty(name, read);
  });

  test('MCP_ALLOWED_HOSTS is the host of PUBLIC_URL unless it is set', () => {
    const PUBLIC_URL = 'https://a.example:8443';
    expect(configOf({ PUBLIC_URL }).MCP_ALLOWED_HOSTS).toEqual(['a.example']);
    expect(configOf({ PUBLIC_URL, MCP_ALLOWED_HOSTS: 'b.example' }).MCP_ALLOWED_HOSTS).toEqual(['b.example']);
  });

  const NODES = 'an http or https URL, or those of several nodes with commas between them';
  const PORT = 'a port, 0 to 65535';
  const PREFIX = 'empty, or up to 40 lower-case letters, digits, - and _, a letter or digit first';
  const WHOLE = 'a whole number from 1';
  const COUNT = 'a whole number from 0';
  const PERCENT = 'a percentage, 0 to 100';
  const RANGES = 'a comma list of ADDRESS/BITS=REQUESTS_PER_MINUTE';

  test.each([
    ['PORT', '-1', PORT],
    ['PORT', '65536', PORT],
    ['PORT', '80.5', PORT],
    ['ADMIN_PORT', '9464x', PORT],
    ['INDEX_PREFIX', 'Test-', PREFIX],
    ['INDEX_PREFIX', '-test', PREFIX],
    ['INDEX_PREFIX', 'a*', PREFIX],
    ['INDEX_PREFIX', 'a'.repeat(41), PREFIX],
    ['REST_REQUESTS_PER_MINUTE', '0', WHOLE],
    ['MCP_REQUESTS_PER_MINUTE', '1.5', WHOLE],
    ...[
      'licenses.example.gov',
      'ftp://a.example',
      'https://a.example/licenses',
      'https://a.example?',
      'https://u:p@a.example',
    ].map((value): [string, string, string] => ['PUBLIC_URL', value, 'an http or https URL without a path']),
    ['TRUSTED_PROXIES', '-1', 'how many proxies, 0 to 10'],
    ['TRUSTED_PROXIES', '11', 'how many proxies, 0 to 10'],
    ['API_KEY_PREFIX', 'OLV', 'up to 16 lower-case letters and digits, a letter first'],
    ['API_KEY_PREFIX', '1olv', 'up to 16 lower-case letters and digits, a letter first'],
    ['API_KEY_PREFIX', 'olv_', 'up to 16 lower-case letters and digits, a letter first'],
    ['API_KEY_PREFIX', 'a'.repeat(17), 'up to 16 lower-case letters and digits, a letter first'],
    ['DRAIN_SECONDS', '-1', 'seconds, 0 to 300'],
    ['DRAIN_SECONDS', '301', 'seconds, 0 to 300'],
    ['INDEX_SHARDS', '0', 'a whole number, 1 to 64'],
    ['INDEX_SHARDS', '65', 'a whole number, 1 to 64'],
    ['KEEP_PUBLICATIONS', '0', 'a whole number, 1 to 100'],
    ['KEEP_PUBLICATIONS', '101', 'a whole number, 1 to 100'],
    ['GUARD_MIN_ROWS_PERCENT', '-1', PERCENT],
    ['GUARD_BOARD_ROWS_FEWER', '0.5', COUNT],
    ['GUARD_MAX_REJECTED_PERCENT', '100.1', PERCENT],
    ['GUARD_MAX_DAYS_OLDER', '1.5', COUNT],
    ['LOG_LEVEL', 'verbose', 'one of fatal, error, warn, info, debug, trace, silent'],
    ['RATE_LIMIT_RANGES', '203.0.113.0/24', RANGES],
    ['RATE_LIMIT_RANGES', '203.0.113.0/33=10', RANGES],
    ['RATE_LIMIT_RANGES', '2001:db8::/129=10', RANGES],
    ['RATE_LIMIT_RANGES', '203.0.113/24=10', RANGES],
    ['RATE_LIMIT_RANGES', '203.0.113.0/24=0', RANGES],
    ['RATE_LIMIT_RANGES', '198.51.100.0/24=5,example.org/24=5', RANGES],
    ['MCP_RATE_LIMIT_RANGES', '203.0.113.0/24', RANGES],
  ])('%s refuses %j with one line that has the name, the value and what is allowed', (name, value, may) => {
    expect(refusal({ [name]: value })).toBe(`${name} is "${value}", but must be ${may}.`);
  });

  test.each([
    ['OPENSEARCH_URL', 'search.example:9200', NODES],
    ['OPENSEARCH_URL', 'http://one:9200,two', NODES],
    ['OPENSEARCH_URL', ',', NODES],
    ['OPENSEARCH_URL', 'ftp://user:secret@search.example', NODES],
    ['REDIS_URL', 'http://:secret@redis.example', 'a redis or rediss URL'],
    ['REDIS_URL', 'secret', 'a redis or rediss URL'],
    ['QUEUE_BOARD_PASSWORD', 'too short', '16 to 200 characters'],
  ])('%s, which may contain a password, is refused without being shown', (name, value, may) => {
    expect(refusal({ [name]: value })).toBe(`${name} is something else (not shown), but must be ${may}.`);
  });

  test('with a line break in its value is refused in one line', () => {
    expect(refusal({ PORT: '80\n80' })).not.toContain('\n');
  });
});

describe('PUBLISH_SCHEDULE', () => {
  const SOURCES = { DATASET_INDIVIDUAL: 'individual.csv', DATASET_BUSINESS: 'business.csv' };

  test.each(['0 4 * * *', '*/5 * * * 1-5', '30 0 4 * * *'])(
    'accepts %j if both sources are set',
    (pattern) => {
      expect(configOf({ ...SOURCES, PUBLISH_SCHEDULE: pattern }).PUBLISH_SCHEDULE).toBe(pattern);
    },
  );

  test.each(['daily', '0 4 * *', '@daily', '0 4 * * * * *'])('refuses %j', (pattern) => {
    expect(refusal({ ...SOURCES, PUBLISH_SCHEDULE: pattern })).toBe(
      `PUBLISH_SCHEDULE is "${pattern}", but must be a cron pattern of five fields, in the time of America/New_York.`,
    );
  });

  test.each(['DATASET_INDIVIDUAL', 'DATASET_BUSINESS'])('is refused without %s', (missing) => {
    expect(refusal({ ...SOURCES, [missing]: '', PUBLISH_SCHEDULE: '0 4 * * *' })).toBe(
      'PUBLISH_SCHEDULE is "0 4 * * *", but must stand beside DATASET_INDIVIDUAL and DATASET_BUSINESS.',
    );
  });
});

describe('DATASET_INDIVIDUAL', () => {
  test.each([
    'individual.csv',
    '/data/individual.csv.gz',
    'https://ann:s%25@data.example/a?token=b',
    'http://127.0.0.1:1/a',
  ])('may be %s, with blanks around it', (location) => {
    expect(configOf({ DATASET_INDIVIDUAL: ` ${location} ` }).DATASET_INDIVIDUAL).toBe(location);
  });

  test.each([
    'http://ann:secret@data.example/a',
    'sftp://ann:secret@data.example/a',
    'https:/ann:secret%@data.example/a',
    'https://ann:secret%@data.example/a',
    'https://data.example/a#secret',
  ])('can not be %s: nothing tries to read it as a file, and shows it', (location) => {
    expect(refusal({ DATASET_INDIVIDUAL: location })).toBe(
      'DATASET_INDIVIDUAL is something else (not shown), but must be a path or an https URL.',
    );
  });
});

describe('RATE_LIMIT_RANGES', () => {
  const { RATE_LIMIT_RANGES: ranges } = readConfig({
    OPENSEARCH_URL: 'http://127.0.0.1:1',
    REDIS_URL: 'redis://127.0.0.1:1',
    RATE_LIMIT_RANGES: '203.0.113.0/24=6000, 198.51.100.7/32=10,2001:db8::/32=70',
  });

  test('gives each range its limit, in order', () => {
    expect(ranges.map(({ requestsPerMinute }) => requestsPerMinute)).toEqual([6000, 10, 70]);
  });

  test.each([
    ['203.0.113.0', 'ipv4', 6000],
    ['203.0.113.255', 'ipv4', 6000],
    ['203.0.114.0', 'ipv4', undefined],
    ['198.51.100.7', 'ipv4', 10],
    ['198.51.100.8', 'ipv4', undefined],
    ['2001:db8:ffff::1', 'ipv6', 70],
    ['2001:db9::1', 'ipv6', undefined],
  ] as const)('gives %s (%s) the limit %j', (address, family, limit) => {
    const found = ranges.find(({ addresses }) => addresses.check(address, family));
    expect(found?.requestsPerMinute).toBe(limit);
  });
});

test('ranges beside each other with the same limit are one list, in which each address is found', () => {
  const given = ['192.0.2.0/28=10', '2001:db8::/64=10', '203.0.113.0/24=20', '198.51.100.0/24=10'];
  const { RATE_LIMIT_RANGES: ranges } = readConfig({ RATE_LIMIT_RANGES: given.join(',') });
  const addresses = ['192.0.2.15', '2001:db8::1', '203.0.113.1', '198.51.100.1', '192.0.2.16'];
  expect(ranges.map(({ requestsPerMinute }) => requestsPerMinute)).toEqual([10, 20, 10]);
  expect(
    addresses.map((address) =>
      ranges.findIndex((range) => range.addresses.check(address, address.includes(':') ? 'ipv6' : 'ipv4')),
    ),
  ).toEqual([0, 0, 1, 2, -1]);
});

test.each([
  ['160.79.104.0', 6000],
  ['160.79.111.255', 6000],
  ['160.79.112.0', undefined],
])(
  'unless set, MCP_RATE_LIMIT_RANGES gives %s, of a hosted assistant or not, the limit %j',
  (address, limit) => {
    const { MCP_RATE_LIMIT_RANGES: ranges } = readConfig({ MCP_RATE_LIMIT_RANGES: '' });
    expect(ranges.find(({ addresses }) => addresses.check(address))?.requestsPerMinute).toBe(limit);
  },
);

describe('the servers that were started locally', () => {
  async function started(name: string, services: string): Promise<string> {
    const stateDir = folder.path(name);
    await mkdir(stateDir);
    await writeFile(localServicesPath(stateDir), services);
    return stateDir;
  }

  const SERVICES = JSON.stringify({ opensearch: 'http://127.0.0.1:9333', redis: 'redis://127.0.0.1:6333' });

  test('are used if no address is set', async () => {
    expect(configOf({ STATE_DIR: await started('both', SERVICES) })).toMatchObject({
      OPENSEARCH_URL: 'http://127.0.0.1:9333',
      REDIS_URL: 'redis://127.0.0.1:6333',
    });
  });

  test('are not used if an address is set', async () => {
    const stateDir = await started('given', SERVICES);
    expect(configOf({ STATE_DIR: stateDir, REDIS_URL: 'redis://redis.example' })).toMatchObject({
      OPENSEARCH_URL: 'http://127.0.0.1:9333',
      REDIS_URL: 'redis://redis.example',
    });
  });

  test.each([
    ['empty', ''],
    ['no JSON', '{'],
    ['a list', '[]'],
    ['of wrong types', '{"opensearch": 9200}'],
  ])('are ignored if their file is %s', async (what, services) => {
    expect(configOf({ STATE_DIR: await started(what, services) })).toMatchObject({
      OPENSEARCH_URL: 'http://127.0.0.1:9200',
      REDIS_URL: 'redis://127.0.0.1:6379',
    });
  });
});

test('the API of this machine is that of a running npm start, else the one of the settings', async () => {
  const STATE_DIR = folder.path('with-api');
  expect(localServiceUrl({ STATE_DIR, PORT: '8081' })).toBe('http://127.0.0.1:8081');
  await mkdir(STATE_DIR, { recursive: true });
  await writeFile(localServicesPath(STATE_DIR), '{"api": "http://127.0.0.1:18380"}');
  expect(localServiceUrl({ STATE_DIR, PORT: '8081' })).toBe('http://127.0.0.1:18380');
});
