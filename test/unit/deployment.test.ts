import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { SETTING_NAMES } from '../../src/config.ts';

const ROOT = resolve(import.meta.dirname, '../..');

const service = z.object({
  image: z.string(),
  ports: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.string()).default({}),
  healthcheck: z.object({ test: z.array(z.string()).or(z.string()) }),
  mem_limit: z.string(),
  command: z.array(z.string()).optional(),
  read_only: z.boolean().default(false),
  cap_drop: z.array(z.string()).default([]),
  security_opt: z.array(z.string()).default([]),
});

const compose = z
  .object({ services: z.record(z.string(), service) })
  .parse(parse(await readFile(resolve(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true }));
const dockerfile = (await readFile(resolve(ROOT, 'Dockerfile'), 'utf8')).split('\n');

describe('docker-compose.yml', () => {
  const services = Object.entries(compose.services);

  test('has the API, the worker, OpenSearch, Redis and a proxy', () => {
    expect(services.map(([name]) => name).sort()).toEqual(['api', 'opensearch', 'proxy', 'redis', 'worker']);
  });

  test.each(services)(
    '%s has a pinned image, a health check and a memory limit',
    (_, { image, mem_limit }) => {
      expect(image).not.toMatch(/:latest$/);
      expect(mem_limit).toMatch(/^\d+[mg]$/);
    },
  );

  test.each(['api', 'worker'])('%s gets settings that exist, and no secret in clear', (name) => {
    const { environment } = compose.services[name] ?? { environment: {} };
    expect(SETTING_NAMES).toEqual(expect.arrayContaining(Object.keys(environment)));
    expect(Object.keys(environment)).toEqual(expect.arrayContaining(['OPENSEARCH_URL', 'REDIS_URL']));
    expect(environment).not.toHaveProperty('OPENSEARCH_PASSWORD');
  });

  test.each(['api', 'worker'])('%s can write nothing but its state, and gain no privilege', (name) => {
    const { read_only, cap_drop, security_opt } = compose.services[name] ?? {};
    expect({ read_only, cap_drop, security_opt }).toEqual({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
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

  test('Redis keeps its queue on disk and refuses rather than forgets', () => {
    const command = (compose.services.redis?.command ?? []).join(' ');
    expect(command).toContain('--appendonly yes');
    expect(command).toContain('--maxmemory-policy noeviction');
  });
});

describe('Dockerfile', () => {
  test('runs on Node 24, as a user without privileges, with a health check', () => {
    expect(dockerfile.filter((line) => line.startsWith('FROM ')).at(-1)).toBe('FROM node:24-slim');
    expect(dockerfile).toContain('USER node');
    expect(dockerfile.some((line) => line.startsWith('HEALTHCHECK '))).toBe(true);
  });

  test('sets and starts what exists', async () => {
    const command = dockerfile.find((line) => line.startsWith('CMD '))?.slice(4) ?? '[]';
    const [program, script = ''] = z.array(z.string()).parse(JSON.parse(command));
    expect(program).toBe('node');
    await expect(readFile(resolve(ROOT, script), 'utf8')).resolves.toContain('import.meta.main');
    const set = [...dockerfile.join('\n').matchAll(/^(?:ENV|\s+)\s*([A-Z_]+)=/gm)].map(([, name]) => name);
    expect([...SETTING_NAMES, 'NODE_ENV']).toEqual(expect.arrayContaining(set));
  });
});
