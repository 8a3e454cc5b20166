import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { type CommandResult, runProgram } from '../../scripts/processes.ts';
import { RESULT_COLUMNS } from '../../src/rosters/answer.ts';
import { times } from '../support/fixtures.ts';
import { command } from '../support/in-process.ts';
import { answer, cut, hang, type ProxyStep, pass, startProxy, type WebServer } from '../support/proxy.ts';
import { type ReadService, sharedService } from '../support/shared-service.ts';

const MAIN = resolve(import.meta.dirname, '../../src/cli/main.ts');
let service: ReadService;
let proxy: WebServer;
let folder: string;
/** Decides what becomes of the request of this number, from 1. */
let fate: (request: number, rows: number) => ProxyStep;
let requests: number;

beforeAll(async () => {
  service = await sharedService();
  proxy = await proxyOnPort(0);
});

function proxyOnPort(port: number): Promise<WebServer> {
  const step: ProxyStep = (request) => {
    requests += 1;
    return fate(requests, request.body.trimEnd().split('\r\n').length - 1)(request);
  };
  return startProxy(`http://127.0.0.1:${service.environment.config.PORT}`, step, port);
}

beforeEach(async () => {
  folder = await mkdtemp(join(service.environment.folder, 'verify-'));
  requests = 0;
  fate = () => pass;
});

interface Options {
  readonly key?: string;
  readonly more?: readonly string[];
  readonly signal?: AbortSignal;
  readonly url?: string;
  readonly onLine?: (line: string) => void;
}

/** Runs `licenses verify` for this roster. */
async function verify(
  roster: string | Uint8Array,
  {
    key = service.rest.key,
    more = ['--board', 'nursing board'],
    url = proxy.url,
    signal,
    onLine,
  }: Options = {},
): Promise<CommandResult> {
  await writeFile(join(folder, 'roster.csv'), roster);
  const parameters = ['verify', join(folder, 'roster.csv'), '--out', join(folder, 'result.csv'), ...more];
  const variables = { LICENSES_URL: url, LICENSES_KEY: key };
  if (signal === undefined && onLine === undefined) return command(variables, ...parameters);
  return runProgram([process.execPath, MAIN, ...parameters], {
    variables,
    ...(signal && { signal }),
    ...(onLine && { onLine }),
  });
}

function rosterOf(rows: number): string {
  return `id,license_number\r\n${times(rows, (at) => `${at},${at % 2 === 0 ? 'RN.700001' : 'RN.799999'}\r\n`).join('')}`;
}

/** The rows of the result file, which is alone beside the roster. */
async function results(): Promise<Record<string, string>[]> {
  expect(await readdir(folder)).toEqual(['result.csv', 'roster.csv']);
  const text = await readFile(join(folder, 'result.csv'), 'utf8');
  expect(parse(text, { to: 1 })).toEqual([['id', 'license_number', ...RESULT_COLUMNS]]);
  return parse<Record<string, string>>(text, { columns: true });
}

/** Expects every row once, in order, with its own answer. */
async function expectAnswered(rows: number): Promise<void> {
  expect((await results()).map(({ id, result_outcome }) => [id, result_outcome])).toEqual(
    times(rows, (at) => [String(at), at % 2 === 0 ? 'found' : 'not_found']),
  );
}

test('verifies a roster of any size, in order, and sums it up', async () => {
  const { code, stdout } = await verify(rosterOf(3456));
  expect(stdout).toMatch(
    /^3,456 rows verified in the dataset of 2026-11-20; .*result\.csv has the results\.\n1,728 clear, 0 need attention, 1,728 not found, 0 invalid\.\n$/,
  );
  expect([code, requests]).toEqual([0, 4]);
  await expectAnswered(3456);
});

test('keeps semicolons and a byte order mark, and exits with 2 when rows are invalid', async () => {
  const { code } = await verify('\ufefflicense_number;note\nRN.700001;"a;b"\n;=1+1\n');
  expect(code).toBe(2);
  const text = await readFile(join(folder, 'result.csv'), 'utf8');
  expect(text.split('\n').slice(0, 3)).toEqual([
    `\ufefflicense_number;note;${RESULT_COLUMNS.join(';')}`,
    expect.stringMatching(/^RN\.700001;"a;b";found;/),
    expect.stringMatching(/^;"'=1\+1";invalid;/),
  ]);
});

test('waits as told on 429 and 503, and tries again after a lost connection', async () => {
  const later = { 'retry-after': '1' };
  const faults = [
    answer(429, '{"detail": "Too many requests; try again in 1 seconds."}', later),
    answer(503, '{"detail": "Lookups are not available right now."}', later),
    cut,
  ];
  fate = (request) => faults[request - 1] ?? pass;
  const { code, stderr } = await verify(rosterOf(1500));
  expect(code).toBe(0);
  expect(stderr).toMatch(/waiting: /);
  await expectAnswered(1500);
});

test('says the next try and the deadline, and waits for a service that went away after it had answered', async () => {
  const port = Number(new URL(proxy.url).port);
  let isBack: Promise<void> | undefined;
  const comeBack = async () => {
    proxy = await proxyOnPort(port);
  };
  fate = (request) => {
    if (request !== 4) return pass;
    void proxy.close();
    return cut;
  };
  const { code, stderr } = await verify(rosterOf(5000), {
    onLine: (line) => {
      if (line.includes('waiting: ')) isBack ??= comeBack();
    },
  });
  await isBack;
  expect(stderr).toMatch(
    /^waiting: The service at \S+ can't be reached \(.*\)\. Next try in \d+ s, for 10 more minutes\.$/m,
  );
  expect(code).toBe(0);
  await expectAnswered(5000);
});

test('splits what is too much for the address’s limit', async () => {
  fate = (_, rows) => (rows > 300 ? answer(413, '{"detail": "Split it."}') : pass);
  expect(await verify(rosterOf(1500))).toMatchObject({ code: 0 });
  await expectAnswered(1500);
});

test('continues where it was interrupted', async () => {
  const interrupted = new AbortController();
  fate = (request) => {
    // Three are under way at a time, so at least two are written when the fifth is sent.
    if (request <= 4) return pass;
    interrupted.abort();
    return hang;
  };
  const first = await verify(rosterOf(5000), { signal: interrupted.signal });
  expect(first).toMatchObject({ code: 1, stderr: expect.stringContaining('The same command finishes it') });
  // A killed process may have written a part of a row.
  await writeFile(join(folder, 'result.csv'), '9,RN.7000', { flag: 'a' });
  const before = requests;
  fate = () => pass;
  const { code, stdout, stderr } = await verify(rosterOf(5000));
  expect([code, stdout]).toEqual([0, expect.stringContaining('5,000 rows')]);
  const [, written] =
    /result\.csv has the results of (\d),000 rows; the others follow\. Delete it to start over\.$/m.exec(
      stderr,
    ) ?? [];
  expect(['2', '3', '4']).toContain(written);
  const left = 5 - Number(written);
  expect(requests - before).toBe(left);
  await expectAnswered(5000);

  // What is whole is verified again.
  expect(await verify(rosterOf(5000))).toMatchObject({
    code: 0,
    stderr: expect.not.stringContaining('follow'),
  });
  expect(requests - before).toBe(left + 5);
});

test.each<[string, string, string, (whole: Buffer) => number]>([
  [
    'inside quotation marks',
    'license_number,id\r\n',
    'RN.700001,"two\r\nlines"\r\n',
    (whole) => whole.lastIndexOf('"two') + 2,
  ],
  [
    'after a byte order mark, with semicolons',
    '\ufeffid;license_number\r\n',
    '=1+1;RN.700001\r\n',
    (whole) => Math.floor(whole.length / 2),
  ],
])('continues a file that was cut off %s', async (_what, header, row, cutAt) => {
  const roster = header + row.repeat(50);
  expect(await verify(roster)).toMatchObject({ code: 0 });
  const whole = await readFile(join(folder, 'result.csv'));
  await writeFile(join(folder, 'result.csv'), whole.subarray(0, cutAt(whole)));
  const { code, stderr } = await verify(roster);
  expect([code, stderr]).toEqual([0, expect.stringMatching(/has the results of [1-4]\d rows/)]);
  expect(await readFile(join(folder, 'result.csv'))).toEqual(whole);
});

test('starts over for another roster', async () => {
  await verify(rosterOf(10).replace('RN.700001', 'RN.700002'));
  const written = await readFile(join(folder, 'result.csv'));
  await writeFile(join(folder, 'result.csv'), written.subarray(0, written.length / 2));
  expect(await verify(rosterOf(10))).toMatchObject({
    code: 0,
    stderr: expect.not.stringContaining('follow'),
  });
  await expectAnswered(10);
});

// What `licenses lookup` says of the address and the key, this command says, too.
test.each<[string, string | Uint8Array, Options, RegExp]>([
  [
    'a board that is none',
    'license_number\nRN.1\n',
    { more: ['--board', 'Wizards'] },
    /argument 'Wizards' is invalid\. The nearest is: .* \(\w{3}\)/,
  ],
  ['a file without columns of a lookup', 'note\nx\n', {}, /must name the columns/],
  [
    'a file that is not UTF-8',
    new Uint8Array([...Buffer.from('last_name\nMu'), 0xf1, 10]),
    {},
    /not valid UTF-8/,
  ],
  [
    'a folder that does not exist to write to',
    'license_number\nRN.1\n',
    { more: ['--out', '/nowhere/result.csv'] },
    /^There is no folder "\/nowhere"/,
  ],
])('with %s exits with 1, says why and sends nothing', async (_what, roster, options, reason) => {
  const { code, stderr } = await verify(roster, options);
  expect([code, requests]).toEqual([1, 0]);
  expect(stderr).toMatch(reason);
  expect(stderr).not.toContain('Not finished');
});

test('never writes over the roster', async () => {
  const path = join(folder, 'roster.csv');
  const { code, stderr } = await verify(rosterOf(2), { more: ['--out', path] });
  expect([code, stderr]).toEqual([1, '--out must be another file than the roster.\n']);
  expect(await readFile(path, 'utf8')).toBe(rosterOf(2));
});
