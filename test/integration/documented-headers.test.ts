import { beforeAll, expect, test } from '@jest/globals';
import type { ApiAnswer } from '../support/api.ts';
import { documentedTables } from '../support/documented.ts';
import { type SampleService, startSampleService } from '../support/sample-service.ts';

const FILE = 'docs/api.md';
const NURSE = { board: 'Nursing Board', license_number: 'RN.987654321' };

let service: SampleService;

beforeAll(async () => {
  service = await startSampleService();
});

function firstColumn(header: string): string[] {
  return (documentedTables(FILE, header)[0]?.rows ?? []).map(([first = '']) => first.replaceAll('`', ''));
}

test('responses have the headers that docs/api.md says, where it says', async () => {
  const { rest } = service;
  const answers = {
    lookup: await rest.verify(NURSE),
    deprecated: await rest.verify(NURSE, '/api/v1/lookup/cached'),
    method: await rest.get('/api/v1/lookup/verify'),
    status: await rest.get('/status'),
    mcp: await rest.callTool('list_ohio_boards', {}),
  };
  const have = (name: string) =>
    Object.entries<ApiAnswer>(answers)
      .filter(([, { headers }]) => headers.has(name))
      .map(([answer]) => answer);
  const ofRest = ['lookup', 'deprecated', 'method'];
  expect(Object.fromEntries(firstColumn('response header').map((name) => [name, have(name)]))).toEqual({
    'X-Request-Id': [...ofRest, 'status', 'mcp'],
    'X-RateLimit-Limit': [...ofRest, 'status', 'mcp'],
    'X-RateLimit-Remaining': [...ofRest, 'status', 'mcp'],
    'X-RateLimit-Reset': [...ofRest, 'status', 'mcp'],
    'Retry-After': [],
    Allow: ['method'],
    Deprecation: ['deprecated'],
    Link: ['deprecated'],
    'Cache-Control': [...ofRest, 'status', 'mcp'],
  });
  expect(answers.lookup.headers.get('cache-control')).toBe('no-store');
  expect(answers.lookup.headers.get('content-encoding')).toBeNull();
  expect(answers.lookup.headers.get('access-control-allow-origin')).toBeNull();
  const since = Number(answers.deprecated.headers.get('deprecation')?.slice(1)) * 1000;
  expect(new Date(since).toISOString()).toMatch(/^2026-01-01T00:00:00/);
});
