import { resolve } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { freePort } from '../../scripts/ports.ts';
import { runProgram } from '../../scripts/processes.ts';
import { command } from '../support/in-process.ts';
import { answer, cut, type ProxyStep, pass, startProxy, type WebServer } from '../support/proxy.ts';
import { type ReadService, sharedService } from '../support/shared-service.ts';

const SAMPLE_DATA = 'SAMPLE DATA: generated, of no real person or business.';

const NOTHING_PUBLISHED = JSON.stringify({
  service_version: '0',
  publication: null,
  licenses_by_board: {},
  last_runs: null,
});

let service: ReadService;
let proxy: WebServer;
let step: ProxyStep;

beforeAll(async () => {
  service = await sharedService();
  proxy = await startProxy(`http://127.0.0.1:${service.environment.config.PORT}`, (request) => step(request));
});

interface Settings {
  readonly url?: string;
  readonly key?: string;
}

function run(parameters: readonly string[], { url = proxy.url, key = service.rest.key }: Settings = {}) {
  return command({ LICENSES_URL: url, LICENSES_KEY: key }, ...parameters);
}

describe('licenses lookup', () => {
  beforeAll(() => {
    step = pass;
  });

  test('of a license without cautions prints its record and exits 0', async () => {
    const { code, stdout, stderr } = await run(['lookup', 'rn 700001', '--board', 'nur']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^license number +RN\.700001\nfull name +.*\nboard +Nursing Board$/m);
    expect(stdout).toMatch(/^cautions +none$/m);
    expect(stdout).toMatch(/In the State's dataset of 2026-11-20\. The issuing board is the authority\.\n$/);
  });

  test.each(['RN.700001', 'RN.799999'])(
    'of %s says that the data is generated, where it is',
    async (number) => {
      step = async (request) => {
        const { body, ...answered } = await request.forward();
        return { ...answered, body: body.replace('"sample":false', '"sample":true') };
      };
      expect((await run(['lookup', number])).stdout.split('\n').at(-2)).toBe(SAMPLE_DATA);
      expect(JSON.parse((await run(['lookup', number, '--json'])).stdout)).toMatchObject({ sample: true });
      step = pass;
    },
  );

  test.each<[string, readonly string[], number, RegExp]>([
    ['a license, without --board', ['RN.700001'], 0, /^license number +RN\.700001$/m],
    [
      'a license with cautions names each',
      ['PN.700004'],
      2,
      /^CAUTION +not_active: the primary status is not Active$/m,
    ],
    [
      'an unknown number says what was searched',
      ['RN.799999'],
      3,
      /^No license with the number "RN\.799999" is in the State's dataset of 2026-11-20\. .*the authority/,
    ],
    [
      'a number of another board says which',
      ['RN.700001', '--board', 'board of pharmacy'],
      3,
      /but one of the Nursing Board/,
    ],
  ])('of %s', async (_what, parameters, code, says) => {
    const ended = await run(['lookup', ...parameters]);
    expect(ended).toMatchObject({ code, stderr: '', stdout: expect.stringMatching(says) });
  });

  test('with --json prints the records as the service sent them', async () => {
    const { code, stdout } = await run(['lookup', 'RN.700001', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      last_scraped: '2026-11-20T00:00:00',
      sample: false,
      found: [{ license_number: 'RN.700001', cautions: [], extra_data: expect.any(Object) }],
      miss: null,
    });
    expect(JSON.parse((await run(['lookup', 'RN.799999', '--json'])).stdout)).toMatchObject({
      found: [],
      miss: {},
    });
  });
});

test('licenses status says how old the data is, and exits 2 when it is not fresh', async () => {
  step = pass;
  const { code, stdout } = await run(['status'], { key: '' });
  expect(stdout).toMatch(
    /^service .*\nlive +\w+\ndate +2026-11-20\nage in days +\d+\nfreshness +(fresh|late|stale)\n/,
  );
  expect(code).toBe(/ fresh$/m.test(stdout) ? 0 : 2);
  step = answer(200, NOTHING_PUBLISHED);
  expect(await run(['status'])).toMatchObject({
    code: 2,
    stdout: expect.stringContaining('nothing is known to be published'),
  });
});

test('licenses boards lists each by its code', async () => {
  step = pass;
  const { code, stdout } = await run(['boards'], { key: '' });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^NUR {3}Nursing Board +\d+$/m)]);
  expect(stdout.match(/^[A-Z]{3} {3}/gm)).toHaveLength(24);
});

test('licenses boards | true ends without an error: nobody reads on', async () => {
  step = pass;
  const main = resolve(import.meta.dirname, '../../src/cli/main.ts');
  const piped = ['sh', '-c', '"$0" "$1" boards | true', process.execPath, main] as const;
  const ended = await runProgram(piped, { variables: { LICENSES_URL: proxy.url } });
  expect(ended).toMatchObject({ code: 0, stderr: '' });
});

// All commands have one client.
test.each<[string, RegExp, Settings, ProxyStep]>([
  [
    'a host that does not exist',
    /^The service at http:\/\/licenses\.invalid can't be reached \(.*\)\. Does the service run, and is LICENSES_URL or --url right\?\n$/,
    { url: 'http://licenses.invalid' },
    pass,
  ],
  [
    'an address that is none',
    /^LICENSES_URL or --url is "licenses\.example", but must be an http or https address\.\n$/,
    { url: 'licenses.example' },
    pass,
  ],
  [
    'a port on which nobody listens',
    /^The service at \S+ can't be reached \(.*\)\. Does the service run/,
    { url: `http://127.0.0.1:${await freePort()}` },
    pass,
  ],
  ['a port that no browser would use', /can't be reached \(bad port\)/, { url: 'http://127.0.0.1:9' }, pass],
  [
    'an address below the service’s',
    /Is LICENSES_URL or --url right\?\n$/,
    {},
    answer(404, '{"detail":"There is nothing at this address."}'),
  ],
  ['a lost connection', /^The service at \S+ can't be reached \(.*\)\. /, {}, cut],
  [
    'a redirect',
    /^The address redirects to https:\/\/elsewhere\.example\/\. Set LICENSES_URL/,
    {},
    answer(301, '', { location: 'https://elsewhere.example/' }),
  ],
  [
    'another server',
    /^The answer is not one of this service\. Is LICENSES_URL or --url right\?\n$/,
    {},
    answer(200, '<html>'),
  ],
  [
    'a service that is busy',
    /^Too many requests\.\n$/,
    {},
    answer(429, '{"detail":"Too many requests."}', { 'retry-after': '60' }),
  ],
  ['a wrong key', /^Invalid or inactive API key\. Check LICENSES_KEY or --key/, { key: 'olv_x' }, pass],
  ['no key', /^Give the API key: set LICENSES_KEY, or send --key\.\n$/, { key: '' }, pass],
])(
  'licenses lookup with %s fails at once, says what to do and exits 1',
  async (_what, says, settings, fault) => {
    step = fault;
    const ended = await run(['lookup', 'RN.700001'], settings);
    expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(says) });
  },
);
