import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { CommandResult } from '../../scripts/processes.ts';
import { type ApiClient, apiClient } from '../support/api.ts';
import { times } from '../support/fixtures.ts';
import { command } from '../support/in-process.ts';
import { answer, type ProxyStep, pass, startProxy, type WebServer } from '../support/proxy.ts';
import { type ReadService, sharedService } from '../support/shared-service.ts';

const NURSING = 'Nursing Board';

let service: ReadService;
let proxy: WebServer;
let folder: string;
/** Decides what becomes of the request of this number, from 1. */
let fate: (request: number, items: number) => ProxyStep;
let requests: number;

const sentBody = z.object({ items: z.array(z.unknown()) });

beforeAll(async () => {
  service = await sharedService();
  proxy = await startProxy(`http://127.0.0.1:${service.environment.config.PORT}`, (request) => {
    requests += 1;
    return fate(requests, sentBody.parse(JSON.parse(request.body)).items.length)(request);
  });
});
beforeEach(async () => {
  folder = await mkdtemp(join(service.environment.folder, 'watch-'));
  requests = 0;
  fate = () => pass;
});

interface Options {
  readonly key?: string;
  readonly more?: readonly string[];
  readonly url?: string;
}

/** Runs `licenses watch` for this roster. */
async function watch(
  roster: string,
  { key, more = ['--board', NURSING], url = proxy.url }: Options = {},
): Promise<CommandResult> {
  const path = join(folder, 'roster.csv');
  await writeFile(path, roster);
  return command({ LICENSES_URL: url, LICENSES_KEY: key ?? service.rest.key }, 'watch', path, ...more);
}

const listed = z.object({
  subscriptions: z.array(z.object({ license_number: z.string(), reference: z.string().nullable() })),
});

/** What an account watches. */
async function watched(rest: ApiClient) {
  const { body } = await rest.get('/api/v1/subscriptions?limit=1000');
  return listed.parse(body).subscriptions.map(({ license_number: number, reference }) => [number, reference]);
}

test('watches what is not watched yet, and says which rows were not found or invalid', async () => {
  const roster = [
    'Name,License Number,Reference,Board',
    'Ada,rn 700001,E-1,',
    'Bo,,E-2,',
    'Cy,RN.799999,E-3,',
    'Di,RN.700002,,Wizards',
    'Ed,RN.700002,E-5,Nursing Board',
    'Fy,RN.700001,E-6,,one too many',
    'Gu,RN-700001,E-7,',
    `Ha,RN.700001,${'x'.repeat(101)},`,
  ].join('\n');
  const rest = await apiClient(service.environment, 'Of this test');
  const { code, stdout } = await watch(roster, { key: rest.key });
  expect(stdout.trimEnd().split('\n')).toEqual([
    'Row 3: The row has no license_number.',
    expect.stringMatching(
      /^Row 4: No license with the number "RN\.799999" is in the State's dataset of 2026-11-20/,
    ),
    expect.stringMatching(/^Row 5: No board is called “Wizards”/),
    expect.stringMatching(/^Row 7: The row has 5 cells, but the header row has 4/),
    'Row 9: reference must have at most 100 characters.',
    '2 added, 1 watched already, 1 not found, 4 invalid.',
  ]);
  expect(code).toBe(2);
  const all = [
    ['RN.700001', 'E-1'],
    ['RN.700002', 'E-5'],
  ];
  expect((await watched(rest)).toSorted()).toEqual(all);

  // Again, it does nothing.
  expect((await watch(roster, { key: rest.key })).stdout).toContain(
    '0 added, 3 watched already, 1 not found, 4 invalid.',
  );
  expect((await watched(rest)).toSorted()).toEqual(all);
});

test('names numbers that may be meant, and exits with 0 when all is watched', async () => {
  const { stdout } = await watch('license_number\nRN.70001\n');
  expect(stdout).toMatch(/^Row 2: .*RN\.700001/);
  const done = await watch('license_number;reference\nRN.700001;"a;b"\n');
  expect(done).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^[01] added, [01] watched already, 0 not found, 0 invalid/),
  });
});

// That both commands wait, and what they say of an address or a key, verify and lookup prove.
test('splits what is too much', async () => {
  const rest = await apiClient(service.environment, 'Another');
  fate = (_, items) => (items > 600 ? answer(413, '{"detail": "Split it."}') : pass);
  const rows = times(1000, (at) => `RN.${at % 2 === 0 ? '700001' : '700002'},${at}`);
  const ended = await watch(`license_number,reference\n${rows.join('\n')}\n`, { key: rest.key });
  expect(ended).toMatchObject({
    code: 0,
    stdout: '2 added, 998 watched already, 0 not found, 0 invalid.\n',
  });
  expect(requests).toBe(3);
});

test('of a file without numbers says why', async () => {
  expect(await watch('last_name\nSmith\n')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/must name a column license_number/),
  });
});

test('sends nothing for rows without a number', async () => {
  const { code, stdout } = await watch('license_number,reference\n,E-1\n,E-2\n');
  expect([code, requests]).toEqual([2, 0]);
  expect(stdout).toContain('0 added, 0 watched already, 0 not found, 2 invalid.');
});

test('--sync makes the list equal to the roster, and removes nothing if a row could not be read', async () => {
  const rest = await apiClient(service.environment, 'Synchronized');
  const numbers = async () => (await watched(rest)).map(([number]) => number).toSorted();
  const sync = (rows: readonly string[], ...more: string[]) =>
    watch(['License Number,Reference', ...rows].join('\n'), {
      key: rest.key,
      url: `http://127.0.0.1:${service.environment.config.PORT}`,
      more: ['--board', NURSING, '--sync', ...more],
    });
  await sync(['RN.700001,E-1', 'RN.700002,E-2'], '--yes');
  expect(await numbers()).toEqual(['RN.700001', 'RN.700002']);

  const unread = await sync(['RN.700003,E-3', 'RN.799999,E-9'], '--yes');
  expect(unread.stdout).toContain('1 to add, 0 to keep, 2 to remove.');
  expect(unread.stdout).toContain('Nothing is removed, because 1 rows could not be read.');
  expect([unread.code, await numbers()]).toEqual([2, ['RN.700001', 'RN.700002', 'RN.700003']]);

  const asked = await sync(['rn 700001,E-1']);
  expect([asked.code, asked.stderr]).toEqual([1, expect.stringContaining('send --yes')]);
  expect(asked.stdout).toContain('  remove RN.700002, Nursing Board, E-2');
  expect(await numbers()).toHaveLength(3);

  expect((await sync(['rn 700001,E-1'], '--yes')).code).toBe(0);
  expect(await numbers()).toEqual(['RN.700001']);
  expect((await sync(['RN.700001,E-1'])).stdout).toContain('0 to add, 1 to keep, 0 to remove.');
});
