import { mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { execPath } from 'node:process';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { z } from 'zod';
import { freePort } from '../../scripts/ports.ts';
import { type CommandResult, runProgram } from '../../scripts/processes.ts';
import { RESULT_COLUMNS } from '../../src/rosters/answer.ts';
import { type ApiClient, apiClient } from '../support/api.ts';
import { times } from '../support/fixtures.ts';
import { command } from '../support/in-process.ts';
import { answer, cut, hang, type ProxyStep, pass, startProxy, type WebServer } from '../support/proxy.ts';
import { sharedService } from '../support/shared-service.ts';

const MAIN = resolve(import.meta.dirname, '../../src/cli/main.ts');
const WORKBOOK = await readFile(resolve(import.meta.dirname, '../fixtures/lists/roster.xlsx'));
const ONE = 'license_number\nRN.1\n';
const NOBODY = `http://127.0.0.1:${await freePort()}`;

const service = await sharedService();
let proxy = await proxyOnPort(0);
let folder: string;
/** What becomes of each request. */
let step: ProxyStep;
let requests: number;

function proxyOnPort(port: number): Promise<WebServer> {
  const { PORT } = service.environment.config;
  const counted: ProxyStep = (request) => {
    requests += 1;
    return step(request);
  };
  return startProxy(`http://127.0.0.1:${PORT}`, counted, { port });
}

beforeEach(async () => {
  folder = await mkdtemp(join(service.environment.folder, 'commands-'));
  requests = 0;
  step = pass;
});

type Settings = { readonly url?: string; readonly key?: string };

const run = (parameters: readonly string[], { url = proxy.url, key = service.rest.key }: Settings = {}) =>
  command({ LICENSES_URL: url, LICENSES_KEY: key }, ...parameters);

/** The answers of the service, changed. */
function changed(change: (body: string) => string): ProxyStep {
  return async (request) => {
    const { body, ...answered } = await request.forward();
    return { ...answered, body: change(body) };
  };
}

describe('licenses lookup', () => {
  test('of a license without cautions prints its record and exits 0', async () => {
    const { code, stdout, stderr } = await run(['lookup', 'rn 700001', '--board', 'nur']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^license number +RN\.700001\nboard +Nursing Board\nfull name +.*$/m);
    expect(stdout).toMatch(/^cautions +none$/m);
    expect(stdout).toMatch(/In the State's dataset of 2026-11-20\. The issuing board is the authority\.\n$/);
  });

  test.each(['RN.700001', 'RN.799999'])('of %s says that the data is generated, if it is', async (number) => {
    step = changed((body) => body.replace('"sample":false', '"sample":true'));
    const { stdout } = await run(['lookup', number]);
    expect(stdout.split('\n').at(-2)).toBe('SAMPLE DATA: generated, no real person or business.');
    expect(JSON.parse((await run(['lookup', number, '--json'])).stdout)).toMatchObject({ sample: true });
  });

  test.each([
    ['PN.700004', 2, /^CAUTION +not_active: the primary status is not Active$/m],
    [
      'RN.799999',
      3,
      /^No license with the number "RN\.799999" is in .*dataset of 2026-11-20\. .*the authority/,
    ],
    ['RN.700001 --board PRX', 3, /belongs to the Nursing Board, not to the Board of Pharmacy/],
  ])('of %s exits %i and says why', async (given, code, says) => {
    const ended = await run(['lookup', ...given.split(' ')]);
    expect(ended).toMatchObject({ code, stderr: '', stdout: expect.stringMatching(says) });
  });

  test('of a number that two boards have lists both, and exits 2 though neither has a caution', async () => {
    const matches = ['A.1', 'A-1'].map((license_number) => ({ board: 'A', license_number, cautions: [] }));
    const body = { last_scraped: '2026-11-20T00:00:00', results: [{ outcome: 'ambiguous', matches }] };
    const both = answer(200, JSON.stringify(body));
    step = (request) => (request.path === '/status' ? pass : both)(request);
    const { code, stdout } = await run(['lookup', 'A 1']);
    expect([code, stdout.match(/^license number +\S+$/gm)?.length]).toEqual([2, 2]);
  });

  test('of a request that is invalid says why and exits 1', async () => {
    const says = expect.stringMatching(/^board is required/);
    expect(await run(['lookup', ' '])).toMatchObject({ code: 1, stderr: says });
  });

  test.each([
    ['RN.700001', 0, [{ license_number: 'RN.700001', cautions: [], extra_data: expect.any(Object) }], null],
    ['RN.799999', 3, [], {}],
  ])('of %s with --json prints what the service sent', async (number, code, found, miss) => {
    const ended = await run(['lookup', number, '--json']);
    expect(ended.code).toBe(code);
    const day = { last_scraped: '2026-11-20T00:00:00', sample: false };
    expect(JSON.parse(ended.stdout)).toMatchObject({ ...day, found, miss });
  });
});

const publication = { id: 'mw1', date: '2026-11-20', age_in_days: 1, freshness: 'fresh', sample: false };
const status = { service_version: '0', licenses_by_board: {}, last_runs: null };

test('licenses status says how old the data is', async () => {
  expect((await run(['status'], { key: '' })).stdout).toMatch(
    /^service .*\nlive +\w+\nfreshness +(fresh|late|stale)\nsample +false\ndate +2026-11-20\nage in days +\d+\n/,
  );
});

test.each([
  ['fresh', publication, 0, /^freshness +fresh$/m],
  ['late', { ...publication, freshness: 'late' }, 2, /^freshness +late$/m],
  ['nothing published', null, 2, /nothing is known to be published/],
])('licenses status of %s exits as a script needs it', async (_what, publication, code, says) => {
  step = answer(200, JSON.stringify({ ...status, publication }));
  expect(await run(['status'])).toMatchObject({ code, stdout: expect.stringMatching(says) });
});

test('licenses boards lists each by its code, with what the service has of it', async () => {
  step = changed((body) =>
    JSON.stringify({
      ...JSON.parse(body),
      licenses_by_board: { 'Nursing Board': 1200, 'Medical Board': 7 },
      board_activity: { 'Nursing Board': { last_changed: '2026-11-19', usual_changes_per_day: 3 } },
    }),
  );
  const { code, stdout } = await run(['boards'], { key: '' });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^NUR {3}Nursing Board +1,200 +2026-11-19 +3$/m)]);
  expect(stdout).toMatch(/^MED {3}Medical Board +7$/m);
  expect(stdout.match(/^[A-Z]{3} {3}/gm)).toHaveLength(24);
});

test.each([
  ['| true', 0, /^$/],
  ['> /dev/full', 1, /^The output can't be written: ENOSPC[^\n]*\n$/],
])('licenses boards %s exits %i: nobody reads on, or it could not print', async (to, code, says) => {
  const shell = ['sh', '-c', `"$0" "$1" boards ${to}`, execPath, MAIN] as const;
  const ended = await runProgram(shell, { variables: { LICENSES_URL: proxy.url } });
  expect(ended).toMatchObject({ code, stderr: expect.stringMatching(says) });
});

const NOTHING_HERE = answer(404, '{"detail":"There is nothing at this address."}');
const REDIRECTED = answer(301, '', { location: 'https://elsewhere.example/' });
const TOO_MANY = answer(429, '{"detail":"Too many requests."}', { 'retry-after': '60' });

// All commands have one client.
test.each<[what: string, says: RegExp, settings: Settings, step?: ProxyStep]>([
  [
    'a host that does not exist',
    /^The service at http:\/\/licenses\.invalid can't be reached \(.*\)\. Does it run, and is the address right\?\n$/,
    { url: 'http://licenses.invalid' },
  ],
  [
    'an address that is none',
    /^The service is at an http or https address, not at "licenses\.example"\.\n$/,
    { url: 'licenses.example' },
  ],
  ['a port that no browser would use', /can't be reached \(bad port\)/, { url: 'http://127.0.0.1:9' }],
  ['an address below the service’s', /Is the address of the service right\?\n$/, {}, NOTHING_HERE],
  ['a lost connection', /^The service at \S+ can't be reached \(.*\)\. /, {}, cut],
  [
    'a redirect',
    /^The service answered with 301\. Is the service at https:\/\/elsewhere\.example\/\?\n$/,
    {},
    REDIRECTED,
  ],
  [
    'another server',
    /^The answer is not one of this service\. Is its address right\?\n$/,
    {},
    answer(200, '<html>'),
  ],
  ['a service that is busy', /^Too many requests\.\n$/, {}, TOO_MANY],
  ['a wrong key', /^Invalid or inactive API key\. Set LICENSES_KEY, or send --key/, { key: 'olv_x' }],
  ['no key', /^Invalid or inactive API key\. Set LICENSES_KEY, or send --key/, { key: '' }],
])('licenses lookup with %s exits 1 at once, and says why', async (_what, says, settings, fault = pass) => {
  step = fault;
  const ended = await run(['lookup', 'RN.700001'], settings);
  expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(says) });
});

describe('licenses verify', () => {
  interface Options {
    readonly more?: readonly string[];
    readonly signal?: AbortSignal;
    readonly url?: string;
    readonly onLine?: (line: string) => void;
  }

  const file = (name: 'roster' | 'result') => join(folder, `${name}.csv`);
  const result = () => readFile(file('result'), 'utf8');

  async function verify(
    roster: string | Uint8Array,
    { more = [], url = proxy.url, ...process }: Options = {},
  ): Promise<CommandResult> {
    await writeFile(file('roster'), roster);
    const parameters = ['verify', file('roster'), '--out', file('result'), ...more];
    if (Object.keys(process).length === 0) return run(parameters, { url });
    const variables = { LICENSES_URL: url, LICENSES_KEY: service.rest.key };
    return runProgram([execPath, MAIN, ...parameters], { variables, ...process });
  }

  const STARTED_OVER = { code: 0, stderr: expect.not.stringContaining('follow') };

  function rosterOf(rows: number, note = ''): string {
    const row = (at: number) => `${at}${note},${at % 2 === 0 ? 'RN.700001' : 'RN.799999'}\r\n`;
    return `id,license_number\r\n${times(rows, row).join('')}`;
  }

  /** Expects every row once, in order, with its own answer, in a file alone beside the roster. */
  async function expectAnswered(rows: number, note = ''): Promise<void> {
    expect(await readdir(folder)).toEqual(['result.csv', 'roster.csv']);
    const text = await result();
    expect(parse(text, { to: 1 })).toEqual([['id', 'license_number', ...RESULT_COLUMNS]]);
    const results = parse<Record<string, string>>(text, { columns: true });
    const expected = times(rows, (at) => [`${at}${note}`, at % 2 === 0 ? 'found' : 'not_found']);
    expect(results.map(({ id, result_outcome }) => [id, result_outcome])).toEqual(expected);
  }

  test('verifies a roster of any size, in order, and sums it up', async () => {
    const { code, stdout } = await verify(rosterOf(3456));
    expect(stdout).toMatch(
      /^3,456 rows verified in the dataset of 2026-11-20; .*result\.csv has the results\.\n1,728 clear, 0 need attention, 1,728 not found, 0 invalid\.\n$/,
    );
    expect([code, requests]).toEqual([0, 4]);
    await expectAnswered(3456);
  });

  test('keeps semicolons and a byte order mark, sends the board, and exits with 2 when rows are invalid', async () => {
    const more = ['--board', 'nur', '--max-matches', '2'];
    const roster = '\ufefflicense_number;last_name;note\nRN.700001;;"a;b"\n;;=1+1\n;Smith;\nPN.700004;;\n';
    const { code, stdout } = await verify(roster, { more });
    expect([code, ...stdout.split('\n').slice(1, 3)]).toEqual([
      2,
      '1 clear, 2 need attention, 0 not found, 1 invalid.',
      'Attention: 1 several match, 1 not_active, 1 sub_status.',
    ]);
    const text = await result();
    expect(text.split('\n').slice(0, 4)).toEqual([
      `\ufefflicense_number;last_name;note;${RESULT_COLUMNS.join(';')}`,
      expect.stringMatching(/^RN\.700001;;"a;b";found;/),
      expect.stringMatching(/^;;"'=1\+1";invalid;/),
      expect.stringMatching(/^;Smith;;ambiguous;.*More than 2 licenses match/),
    ]);
    // A result is a roster, too.
    await verify(text, { more });
    expect(await result()).toBe(text);
  });

  test('waits as told on 429 and 503, and tries again after a lost connection', async () => {
    const later = { 'retry-after': '0' };
    const faults = [
      answer(429, '{"detail": "Too many requests."}', later),
      answer(503, '{"detail": "Lookups are not available right now."}', later),
      cut,
    ];
    step = (request) => (faults[requests - 1] ?? pass)(request);
    const { code, stderr } = await verify(rosterOf(1500));
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^waiting: .*Next try in \d s, for 10 more/m)]);
    await expectAnswered(1500);
  });

  test('says the next try and the deadline, and waits for a service that went away after it had answered', async () => {
    const port = Number(new URL(proxy.url).port);
    let isBack: Promise<void> | undefined;
    const comeBack = async () => {
      proxy = await proxyOnPort(port);
    };
    step = (request) => {
      if (requests !== 4) return pass(request);
      void proxy.close();
      return cut(request);
    };
    const { code, stderr } = await verify(rosterOf(5000), {
      onLine: (line) => {
        if (line.includes('waiting: ')) isBack ??= comeBack();
      },
    });
    await isBack;
    expect(stderr).toMatch(
      /^waiting: The service at \S+ can't be reached \(.*\)\. .* Next try in \d+ s, for 10 more minutes\.$/m,
    );
    expect(code).toBe(0);
    await expectAnswered(5000);
  });

  test('splits what is too much for the address’s limit', async () => {
    const tooLarge = answer(413, '{"detail": "Split it."}');
    const rowsIn = (body: string) => body.trimEnd().split('\r\n').length - 1;
    step = (request) => (rowsIn(request.body) > 300 ? tooLarge : pass)(request);
    expect(await verify(rosterOf(1500))).toMatchObject({ code: 0 });
    await expectAnswered(1500);
  });

  test('never sends more at a time than the service takes', async () => {
    const note = 'é'.repeat(2000);
    const bytes: number[] = [];
    step = (request) => {
      bytes.push(Buffer.byteLength(request.body));
      return pass(request);
    };
    expect(await verify(rosterOf(400, note))).toMatchObject({ code: 0 });
    expect([bytes.length, Math.max(...bytes) < 1_000_000]).toEqual([3, true]);
    await expectAnswered(400, note);
  });

  test('continues where it was interrupted', async () => {
    const interrupted = new AbortController();
    step = (request) => {
      // Three are under way at a time, so at least two are written when the fifth is sent.
      if (requests <= 4) return pass(request);
      interrupted.abort();
      return hang(request);
    };
    const first = await verify(rosterOf(5000), { signal: interrupted.signal });
    expect(first).toMatchObject({ code: 1, stderr: expect.stringContaining('The same command finishes it') });
    // A killed process may have written a part of a row.
    await writeFile(file('result'), '9,RN.7000', { flag: 'a' });
    const before = requests;
    step = pass;
    const { code, stdout, stderr } = await verify(rosterOf(5000));
    expect([code, stdout]).toEqual([0, expect.stringContaining('5,000 rows')]);
    const says =
      /result\.csv has the results of (\d),000 rows; the others follow\. Delete it to start over\.$/m;
    const [, written] = says.exec(stderr) ?? [];
    expect(['2', '3', '4']).toContain(written);
    const left = 5 - Number(written);
    expect(requests - before).toBe(left);
    await expectAnswered(5000);

    // What is whole is verified again.
    expect(await verify(rosterOf(5000))).toMatchObject(STARTED_OVER);
    expect(requests - before).toBe(left + 5);
  });

  test.each([
    ['inside quotation marks', 'license_number,id\r\n', 'RN.700001,"two\r\nlines"\r\n', '"two'],
    ['after a byte order mark, with semicolons', '\ufeffid;license_number\r\n', '=1+1;RN.700001\r\n', '1+1'],
  ])('continues a file that was cut off %s', async (_what, header, row, cutAfter) => {
    const roster = header + row.repeat(50);
    expect(await verify(roster)).toMatchObject({ code: 0 });
    const whole = await result();
    await writeFile(file('result'), whole.slice(0, whole.lastIndexOf(cutAfter) + 2));
    const { code, stderr } = await verify(roster);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/has the results of [1-4]\d rows/)]);
    expect(await result()).toEqual(whole);
  });

  test('starts over for another roster', async () => {
    await verify(rosterOf(10).replace('RN.700001', 'RN.700002'));
    const written = await result();
    await writeFile(file('result'), written.slice(0, written.length / 2));
    expect(await verify(rosterOf(10))).toMatchObject(STARTED_OVER);
    await expectAnswered(10);
  });

  const withoutLast = changed((body) => body.replace(/\r\n[^\r\n]*\r\n$/, '\r\n'));
  /** Of the second thousand rows, one column has another name. */
  const renamed = changed((body) => body.replace('result_notes', 'new'));
  const otherColumns: ProxyStep = (request) => (request.body.includes('\r\n1000,') ? renamed : pass)(request);

  test.each<[string, ProxyStep, RegExp]>([
    ['another server', answer(200, '<html>'), /^The answer is not one of this service/],
    ['a row without an answer', withoutLast, /^The service did not answer every row/],
    [
      'other columns than before',
      otherColumns,
      /^(1,000 of 1,200 rows\n)?The service adds other columns now than before\. Choose another --out file\./,
    ],
  ])('with %s ends, and writes no answer beside the wrong row', async (_what, fault, says) => {
    step = fault;
    const ended = await verify(rosterOf(1200));
    expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(says) });
    expect([0, 1001]).toContain((await result()).split('\r\n').length - 1);
  });

  const WIZARDS = ['--board', 'Wizards'];
  const NOWHERE = ['--out', '/nowhere/result.csv'];

  test.each<[string, RegExp, roster: string | Uint8Array, Options?]>([
    ['a file without columns of a lookup', /must name the columns/, 'note\nx\n'],
    ['a file without rows', /^The roster has no rows below/, 'license_number\n'],
    ['a workbook', /not valid UTF-8.* save the list as "CSV UTF-8"/, WORKBOOK],
    ['a board that is none', /^error: --board: The nearest is: .* \(\w{3}\)/, ONE, { more: WIZARDS }],
    ['no folder', /^The file "\/nowhere\/result\.csv" can't be used: no such file/, ONE, { more: NOWHERE }],
    // Nothing was answered before: it is a mistake, and nobody waits.
    ['a port on which nobody listens', /^The service at \S+ can't be .* Does it run/, ONE, { url: NOBODY }],
  ])('with %s exits with 1, says why and sends nothing', async (_what, reason, roster, options = {}) => {
    const { code, stderr } = await verify(roster, options);
    expect([code, requests]).toEqual([1, 0]);
    expect(stderr).toMatch(reason);
    expect(stderr).not.toContain('Not finished');
  });

  test('never writes over the roster, not by a link either', async () => {
    const link = join(folder, 'link.csv');
    await symlink(file('roster'), link);
    for (const out of [file('roster'), link]) {
      const { code, stderr } = await verify(rosterOf(2), { more: ['--out', out] });
      expect([code, stderr]).toEqual([1, '--out must be another file than the roster.\n']);
      expect(await readFile(file('roster'), 'utf8')).toBe(rosterOf(2));
    }
  });

  test('keeps an earlier result until there is an answer', async () => {
    await verify(rosterOf(2));
    expect(await verify(rosterOf(2), { url: NOBODY })).toMatchObject({ code: 1 });
    await expectAnswered(2);
  });

  test('goes on where nobody reads its progress', async () => {
    await writeFile(file('roster'), rosterOf(2500));
    const shell = '"$0" "$1" verify "$2" --out "$3" 2>&1 >/dev/null | true';
    const variables = { LICENSES_URL: proxy.url, LICENSES_KEY: service.rest.key };
    await runProgram(['sh', '-c', shell, execPath, MAIN, file('roster'), file('result')], { variables });
    await expectAnswered(2500);
  });
});

async function watch(roster: string, key = service.rest.key, ...more: string[]): Promise<CommandResult> {
  const path = join(folder, 'roster.csv');
  await writeFile(path, roster);
  return run(['watch', path, '--board', 'Nursing Board', ...more], { key });
}

const summedUp = (added: number, watched: number, invalid = 0) =>
  `${added} added, ${watched} watched already, 0 not found, ${invalid} invalid.\n`;

const listed = z.object({
  subscriptions: z.array(z.object({ license_number: z.string(), reference: z.string().nullable() })),
});

/** What an account watches. */
async function watched(rest: ApiClient) {
  const { body } = await rest.get('/api/v1/subscriptions?limit=1000');
  const { subscriptions } = listed.parse(body);
  return subscriptions.map(({ license_number, reference }) => [license_number, reference]).toSorted();
}

test('licenses watch watches what is not watched yet, and says which rows were not found or invalid', async () => {
  const roster = [
    'Name,License Number,Reference,Board',
    'Ada,rn 700001,E-1,',
    'Bo,,E-2,',
    'Cy,RN.70001,E-3,',
    'Di,RN.700002,,Wizards',
    'Ed,RN.700002,E-5,Nursing Board',
    'Fy,RN.700001,E-6,,one too many',
    'Gu,RN-700001,E-7,',
    `Ha,RN.700001,${'x'.repeat(101)},`,
  ].join('\n');
  const rest = await apiClient(service.environment, 'Of this test');
  const { code, stdout } = await watch(roster, rest.key);
  expect(stdout.trimEnd().split('\n')).toEqual([
    'Row 3: The row has no license_number.',
    expect.stringMatching(
      /^Row 4: No license with the number "RN\.70001" is in the State's dataset of 2026-11-20.*RN\.700001/,
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
  expect(await watched(rest)).toEqual(all);

  // Again, it does nothing.
  const again = await watch('license_number;reference\nRN.700001;"a;b"\n', rest.key);
  expect(again).toMatchObject({ code: 0, stdout: summedUp(0, 1) });
  expect(await watched(rest)).toEqual(all);
});

test('licenses watch --proof leaves the file as it was until all proofs are there', async () => {
  const file = join(folder, 'proofs.jose');
  await writeFile(file, 'earlier proofs');
  const license = { board: 'Nursing Board', license_number: 'RN.1', reference: null, in_dataset: true };
  const subscriptions = ['sub_1', 'sub_2'].map((subscription_id) => ({ subscription_id, ...license }));
  const refuse = answer(400, '{"detail": "There is no proof."}');
  const proofs = (second: ProxyStep): ProxyStep => {
    const steps = new Map([
      ['/api/v1/subscriptions/sub_1/proof', answer(200, 'a.b.c')],
      ['/api/v1/subscriptions/sub_2/proof', second],
    ]);
    const list = answer(200, JSON.stringify({ next: null, subscriptions }));
    return (request) => (steps.get(request.path) ?? list)(request);
  };
  step = proofs(refuse);
  expect(await run(['watch', '--proof', file])).toMatchObject({ code: 1, stderr: 'There is no proof.\n' });
  expect(await readFile(file, 'utf8')).toBe('earlier proofs');
  expect(await readdir(folder)).toEqual(['proofs.jose']);
  step = proofs(answer(200, 'd.e.f'));
  const all = { code: 0, stdout: `2 proofs in ${file}.\n` };
  expect(await run(['watch', '--proof', file])).toMatchObject(all);
  expect(await readFile(file, 'utf8')).toBe('a.b.c\nd.e.f\n');
});

test('licenses watch of a file without numbers says why', async () => {
  expect(await watch('last_name\nSmith\n')).toMatchObject({
    ...{ code: 1, stdout: '' },
    stderr: expect.stringMatching(/must name a column license_number/),
  });
});

test('licenses watch sends nothing for rows without a number', async () => {
  const { code, stdout } = await watch('license_number,reference\n,E-1\n,E-2\n');
  expect([code, requests]).toEqual([2, 0]);
  expect(stdout).toContain(summedUp(0, 0, 2));
});

test('licenses watch --sync makes the list equal to the roster, and removes nothing if a row could not be read', async () => {
  const rest = await apiClient(service.environment, 'Synchronized');
  const numbers = async () => (await watched(rest)).map(([number]) => number);
  const sync = (rows: readonly string[], ...more: string[]) =>
    watch(['License Number,Reference', ...rows].join('\n'), rest.key, '--sync', ...more);
  await sync(['RN.700001,E-1', 'RN.700002,E-2'], '--yes');
  expect(await numbers()).toEqual(['RN.700001', 'RN.700002']);

  const unread = await sync(['RN.700003,E-3', 'RN.799999,E-9'], '--yes');
  expect(unread.stdout).toContain('1 to add, 0 to keep, 2 to remove.');
  expect(unread.stdout).toContain('Nothing is removed, because 1 rows could not be read.');
  expect([unread.code, await numbers()]).toEqual([2, ['RN.700001', 'RN.700002', 'RN.700003']]);

  const asked = await sync(['rn 700001,E-1']);
  expect([asked.code, asked.stderr]).toEqual([1, expect.stringMatching(/send --yes\.\n$/)]);
  expect(asked.stdout).toContain('  remove RN.700002, Nursing Board, E-2');
  expect(await numbers()).toHaveLength(3);

  // The State no longer lists one that is watched: it is still named. The list comes in several pages.
  step = async ({ path, body, forward }) => {
    if (path.endsWith('/lookup/batch')) return forward({ body: body.replace('rn 700002', 'RN.799999') });
    if (!/subscriptions\?limit=1000&after=/.test(path)) return forward();
    const { status, text } = await rest.get(path.replace('limit=1000', 'limit=1'));
    const isGone = text.includes('"RN.700002"');
    return { status, body: isGone ? text.replace('"in_dataset":true', '"in_dataset":false') : text };
  };
  const elsewhere = 'License Number,Board\nRN.700001,\nrn 700002,Board of Pharmacy\n';
  const unknown = await watch(elsewhere, rest.key, '--sync', '--yes');
  expect(unknown.stdout).toContain('Nothing is removed, because 1 rows could not be read.');
  const kept = await sync(['RN.700001,E-1', 'rn 700002,E-2'], '--yes');
  expect(kept.stdout).toContain('0 to add, 2 to keep, 1 to remove.');
  expect(await numbers()).toEqual(['RN.700001', 'RN.700002']);

  // Another command has removed it meanwhile.
  step = async (request) => {
    if (request.method === 'DELETE') await request.forward();
    return request.forward();
  };
  expect((await sync(['rn 700001,E-1'], '--yes')).code).toBe(0);
  expect(await numbers()).toEqual(['RN.700001']);
  step = pass;
  const none = await sync([], '--yes');
  expect([none.code, none.stderr]).toEqual([1, expect.stringMatching(/^The roster has no rows below/)]);
  expect(await numbers()).toEqual(['RN.700001']);
  expect((await sync(['RN.700001,E-1'])).stdout).toContain('0 to add, 1 to keep, 0 to remove.');
});
