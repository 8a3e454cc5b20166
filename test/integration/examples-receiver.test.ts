/** @room clients @long */

import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { startWorker } from '../../scripts/licenses-processes.ts';
import { freePort } from '../../scripts/ports.ts';
import { type RunningProcess, startProcess } from '../../scripts/processes.ts';
import { signedHeaders } from '../../src/subscriptions/message.ts';
import { WEBHOOKS, type Webhook } from '../../src/subscriptions/webhook.ts';
import { apiClient } from '../support/api.ts';
import type { DayRow } from '../support/day-files.ts';
import { eventually } from '../support/eventually.ts';
import { EXAMPLES, inPython, installTypescriptExample } from '../support/examples.ts';
import { NURSES, NURSING, PHARMACIES, startFeedService } from '../support/feed-service.ts';
import { answer, type ProxyStep, pass, startProxy } from '../support/proxy.ts';
import { filesOf } from '../support/publication-days.ts';
import { publishByCommand } from '../support/publishing.ts';
import { programVariables, type RosterProgram } from '../support/roster-programs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SECRET_KEY = 'the secret key of these tests, long enough';
const SETTINGS = { WEBHOOK_SECRET_KEY: SECRET_KEY, WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8' };
const WATCHED = ['RN.900001', 'RN.900002'];

const folder = temporaryFolder();
const typescript = () => folder.path('typescript');
const PROGRAMS: readonly (readonly [name: string, program: RosterProgram])[] = [
  ['receiver.ts', { folder: typescript, command: [process.execPath, 'receiver.ts'] }],
  ...inPython([
    'receiver.py',
    { folder: () => resolve(EXAMPLES, 'python'), command: ['python3', 'receiver.py'] },
  ] as const),
];

/** What the receivers have asked. */
let asked: string[] = [];
let fate: ProxyStep = pass;
let day = 0;
let running: RunningProcess[] = [];

const service = await startFeedService(SETTINGS);
const { environment } = service;
const { store } = environment;
await startWorker(environment.variables);
/** Stands between a receiver and the service. */
const proxy = await startProxy(`http://127.0.0.1:${environment.config.PORT}`, (request) => {
  asked.push(request.path);
  return fate(request);
});
await installTypescriptExample(typescript());
await publish(NURSES);
afterEach(async () => {
  fate = pass;
  for (const receiver of running) await receiver.stop();
  running = [];
});

/** The worker publishes these nurses on the next day. */
async function publish(individual: readonly DayRow[]): Promise<void> {
  day += 1;
  const date = `2026-11-${String(day).padStart(2, '0')}`;
  const files = await filesOf(environment, date, { individual, business: PHARMACIES });
  const published = await publishByCommand(environment.variables, files, '--force', 'a day of the test');
  expect([published.code, published.stderr]).toEqual([0, '']);
}

/** The nurses with one of them in a city where nobody was before, and the city. */
function moved(number: string) {
  const city = `CITY ${day + 1}`;
  return { city, nurses: NURSES.map((row) => (row.number === number ? { ...row, city } : row)) };
}

/** A line that a receiver prints: a watched license with its record, or a change. */
const printed = z.looseObject({ license_number: z.string(), reference: z.string().nullable() });

/** The lines that a receiver has printed, once there are so many. */
async function lines(receiver: RunningProcess, count: number) {
  const all = () =>
    receiver
      .output('stdout')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => printed.parse(JSON.parse(line)));
  await eventually(`${count} lines`, () => all().length >= count);
  return all();
}

let accounts = 0;

/** A receiver of a new account, which watches two nurses and has a webhook. */
async function newReceiver(program: RosterProgram) {
  accounts += 1;
  const rest = await apiClient(environment, `Account ${accounts}`);
  for (const license_number of WATCHED) {
    const wanted = { board: NURSING, license_number, reference: `my ${license_number}` };
    expect(await rest.verify(wanted, '/api/v1/subscriptions')).toMatchObject({ status: 201 });
  }
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/licenses`;
  const made = await rest.request('PUT', '/api/v1/webhook', { json: { url } });
  const { secret } = z.object({ secret: z.string() }).parse(made.body);
  const { documents } = await WEBHOOKS.search(store, { size: 100, query: { match_all: {} } });
  const webhook = documents.find((each) => each.url === url);
  if (webhook === undefined) throw new Error('The webhook is not stored.');

  const cursorFile = folder.path(`cursor-${port}.txt`);
  const start = async (): Promise<RunningProcess> => {
    const [command, ...parameters] = program.command;
    const receiver = startProcess('receiver', command, [...parameters, cursorFile], {
      cwd: program.folder(),
      env: {
        PATH: process.env.PATH,
        ...programVariables(proxy.url, rest.key),
        WEBHOOK_SECRET: secret,
        PORT: String(port),
      },
    });
    running.push(receiver);
    await receiver.printed('Listening');
    return receiver;
  };
  /** Starts it for the first time. */
  const startAnew = async (): Promise<RunningProcess> => {
    const receiver = await start();
    const all = await lines(receiver, 2);
    expect(all.map(({ license_number }) => license_number).toSorted()).toEqual(WATCHED);
    const record = expect.objectContaining({ found: true });
    expect(all).toContainEqual(expect.objectContaining({ reference: 'my RN.900001', record }));
    await eventually('its cursor is saved', () => existsSync(cursorFile));
    return receiver;
  };
  return { webhook, cursorFile, start, startAnew };
}

interface Message {
  /** What is signed, and when. */
  readonly body?: string;
  readonly at?: Date;
  /** What is sent where it is not what was signed. */
  readonly sentBody?: string;
  readonly headers?: Record<string, string>;
}

/** Sends a message as the service does. @returns how the receiver answered */
async function send(webhook: Webhook, message: Message = {}): Promise<number> {
  const { body = '{"type":"x"}', at = new Date(), sentBody = body } = message;
  const headers = { ...signedHeaders(SECRET_KEY, webhook, 'msg_1', body, at), ...message.headers };
  return (await fetch(webhook.url, { method: 'POST', body: sentBody, headers })).status;
}

describe.each(PROGRAMS)('examples/%s', (_name, program) => {
  test('prints each change after the worker has sent a message', async () => {
    const { startAnew, webhook } = await newReceiver(program);
    const receiver = await startAnew();
    const { city, nurses } = moved('RN.900001');
    await publish(nurses);
    const of = { license_number: 'RN.900001', reference: 'my RN.900001' };
    expect((await lines(receiver, 3)).slice(2)).toMatchObject([
      { kind: 'changed', ...of, fields: { city: { after: city } } },
    ]);
    await eventually('the message is delivered', async () => {
      const stored = await WEBHOOKS.read(store, webhook.account);
      return stored?.document.delivered_at !== null && stored?.document.failing_since === null;
    });

    // Messages that come again, or say to verify all, do no harm.
    asked = [];
    const body = JSON.stringify({ type: 'changes.published', data: { verify_all: true } });
    for (let times = 0; times < 3; times += 1) expect(await send(webhook, { body })).toBe(204);
    await eventually('it asks', () => asked.length > 0);
    await publish(moved('RN.900001').nurses);
    expect((await lines(receiver, 4)).slice(3)).toMatchObject([{ license_number: 'RN.900001' }]);
    expect(receiver.output('stderr')).toMatch(/^Listening on [^\n]*\n$/);
  });

  test('answers 401 to what the service has not signed, and does nothing', async () => {
    const { startAnew, webhook } = await newReceiver(program);
    const receiver = await startAnew();
    asked = [];
    expect(await send({ ...webhook, id: 'another' })).toBe(401);
    for (const message of [
      { sentBody: '{"type":"y"}' },
      ...[-600_000, 600_000].map((later) => ({ at: new Date(Date.now() + later) })),
      ...[{ 'webhook-id': 'msg_2' }, { 'webhook-signature': 'v1,' }].map((headers) => ({ headers })),
      ...['9'.repeat(5000), 'soon'].map((time) => ({ headers: { 'webhook-timestamp': time } })),
    ])
      expect([message, await send(webhook, message)]).toEqual([message, 401]);
    // The connection may be closed before all of it is sent.
    const large = JSON.stringify('x'.repeat(70_000));
    expect(await send(webhook, { body: large }).catch(() => 401)).toBe(401);
    expect([(await fetch(webhook.url, { method: 'POST', body: '{}' })).status, asked]).toEqual([401, []]);
    // It still takes what is signed, also by the second of two signatures, as after the secret was changed.
    const rotated = { ...webhook, generation: webhook.generation + 1, rotated_at: new Date().toISOString() };
    expect(await send(rotated)).toBe(204);
    await eventually('it asks', () => asked.length > 0);
    expect(await lines(receiver, 2)).toHaveLength(2);
  });

  test('goes on from its cursor after a restart, also when the service was away', async () => {
    const { start, startAnew, webhook } = await newReceiver(program);
    await (await startAnew()).stop();
    const { nurses } = moved('RN.900001');
    await publish(nurses);
    await publish(nurses.filter(({ number }) => number !== 'RN.900002'));
    await publish(nurses);
    fate = async (request) => (request.path.includes('watched') ? answer(500)(request) : request.forward());
    const receiver = await start();
    await receiver.printed('The answer was 500.');
    fate = pass;
    expect(await send(webhook)).toBe(204);
    expect(await lines(receiver, 3)).toMatchObject([
      { kind: 'changed', license_number: 'RN.900001' },
      { kind: 'removed', license_number: 'RN.900002', reference: 'my RN.900002' },
      { kind: 'added', license_number: 'RN.900002', reference: 'my RN.900002' },
    ]);
  });

  test('prints all that is watched when its cursor is no longer kept', async () => {
    const { start, cursorFile } = await newReceiver(program);
    fate = async (request) =>
      request.path.includes('since=a-cursor')
        ? answer(410, '{"detail":"The changes after this cursor are no longer kept."}')(request)
        : request.forward();
    await writeFile(cursorFile, 'a-cursor');
    const receiver = await start();
    expect((await lines(receiver, 2)).map(({ license_number }) => license_number).toSorted()).toEqual(
      WATCHED,
    );
    expect(receiver.output('stderr')).toContain('all that is watched is printed');
    await eventually('its cursor is saved', async () => (await readFile(cursorFile, 'utf8')) !== 'a-cursor');
  });
});
