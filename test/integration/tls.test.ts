/** @room lookups */

import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { licenses, startApi, startScript, startWorker } from '../../scripts/licenses-processes.ts';
import { freePort } from '../../scripts/ports.ts';
import { type CommandResult, type RunningProcess, startProcess } from '../../scripts/processes.ts';
import { readConfig } from '../../src/config.ts';
import { detailIn, recordIn } from '../support/answers.ts';
import { type ApiClient, apiClient, clientAt, parsed } from '../support/api.ts';
import { selfSigned } from '../support/certificate.ts';
import { describeUnless, missing } from '../support/describe-unless.ts';
import { eventually } from '../support/eventually.ts';
import { inForm, inLongFormOnly } from '../support/fault-form.ts';
import { FIXTURES } from '../support/fixtures.ts';
import { type ProxyStep, startProxy, type WebServer } from '../support/proxy.ts';
import { publishByCommand } from '../support/publishing.ts';
import { valueAt } from '../support/series.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const USER = 'licenses';
const PASSWORD = 'pass/word:with@signs and €';
const REDIS_PASSWORD = 'another/word:with@signs';
const WRONG = 'wrong-password';
const GOOD_LOOKUP = { board: 'Nursing Board', license_number: 'RN.700001' };
const AWAY = 'Lookups are not available right now; try again shortly.';

const folder = temporaryFolder();
let files: { readonly key: string; readonly certificate: string };
/** Whether OpenSearch takes the password. */
let isPasswordTaken: boolean;
/** The paths to which the user may not send requests. */
let forbidden: RegExp | undefined;
/** How often OpenSearch was asked which publication is live, as the API does once a second. */
let aliasReads = 0;
let environment: TestEnvironment;
/** Host and port of OpenSearch and of Redis. */
let address: string;
let redisAddress: string;
let api: RunningProcess;
let worker: RunningProcess;
let rest: ApiClient;

/** The address of Redis as this user. */
const redisUrl = (password: string) => `rediss://${USER}:${encodeURIComponent(password)}@${redisAddress}`;

/** An https proxy in front of OpenSearch that answers as OpenSearch's security plugin does. */
function securedOpenSearch(openSearch: string): Promise<WebServer> {
  const basic = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`;

  const step: ProxyStep = async ({ headers, path, forward }) => {
    if (!isPasswordTaken || headers.authorization !== basic) {
      const refusal = {
        'content-type': 'text/plain',
        'www-authenticate': 'Basic realm="OpenSearch Security"',
      };
      return { status: 401, headers: refusal, body: 'Unauthorized' };
    }
    if (forbidden?.test(path)) {
      const reason = `no permissions for [${path}] and User [name=${USER}]`;
      const error = { type: 'security_exception', reason };
      return { status: 403, body: JSON.stringify({ error: { root_cause: [error], ...error }, status: 403 }) };
    }
    if (path.includes('_alias')) aliasReads += 1;
    return forward();
  };
  return startProxy(openSearch, step, { pem: files });
}

/** A Redis that takes TLS connections of one user with a password, and no others. */
async function startSecuredRedis(port: number): Promise<void> {
  const redis = startProcess('Redis', 'redis-server', [
    ...['--port', '0', '--tls-port', String(port), '--bind', '127.0.0.1', '--dir', folder.path()],
    ...['--tls-cert-file', files.certificate, '--tls-key-file', files.key, '--tls-auth-clients', 'no'],
    ...['--tls-ca-cert-file', files.certificate, '--maxmemory-policy', 'noeviction'],
    ...['--user', 'default', 'off', '--user', USER, 'on', `>${REDIS_PASSWORD}`, '~*', '&*', '+@all'],
  ]);
  await redis.printed('Ready to accept connections');
}

beforeEach(() => {
  isPasswordTaken = true;
  forbidden = undefined;
});

/** Nothing that a process printed may have a password, in any form. */
function expectNoPassword(...printed: string[]): void {
  const secrets = [PASSWORD, REDIS_PASSWORD, WRONG].flatMap((password) => [
    password,
    encodeURIComponent(password),
    Buffer.from(`${USER}:${password}`).toString('base64'),
  ]);
  for (const secret of secrets) for (const text of printed) expect(text).not.toContain(secret);
}

const publish = (settings: Record<string, string> = {}) =>
  publishByCommand({ ...environment.variables, ...settings }, FIXTURES, '--force', 'a test');

/** What a second API process answers to a lookup, says of shared limits and logs, once it has logged this. */
async function withApi(settings: Record<string, string>, logs: string) {
  const own = { PORT: String(await freePort()), ADMIN_PORT: String(await freePort()) };
  const other = await startApi({ ...environment.variables, ...own, ...settings });
  const answer = await clientAt(`http://127.0.0.1:${own.PORT}`, rest.key).verify(GOOD_LOOKUP);
  await other.printed(logs);
  const shared = await limitsShared(Number(own.ADMIN_PORT));
  await other.stop();
  return { answer, shared, output: other.output() };
}

const limitsShared = (port: number) => valueAt(port, 'licenses_limits_shared');

const endOf = async (started: RunningProcess) => ({ end: await started.ended, output: started.output() });

/** What is wrong, the settings that make it so, and the line about it after the address of OpenSearch. */
type OpenSearchRefusal = [what: string, settings: Record<string, string>, says: string];

const line = z.looseObject({ msg: z.string(), error: z.string().optional() });

/** The log line that has this value, from all that a process printed. */
function logged(output: string, name: string, value: unknown): z.output<typeof line> | undefined {
  const lines = output.split('\n').flatMap((text) => line.safeParse(parsed(text)).data ?? []);
  return lines.find((each) => each[name] === value);
}

describeUnless(missing('openssl'), 'OpenSearch and Redis by TLS, each with a user', () => {
  beforeAll(async () => {
    isPasswordTaken = true;
    files = await selfSigned(folder.path());
    const proxy = await securedOpenSearch(readConfig().OPENSEARCH_URL);
    address = new URL(proxy.url).host;
    const redisPort = await freePort();
    redisAddress = `127.0.0.1:${redisPort}`;
    await startSecuredRedis(redisPort);
    environment = await testEnvironment({
      ...{ OPENSEARCH_URL: `https://${address}`, OPENSEARCH_CA: files.certificate },
      ...{ OPENSEARCH_USERNAME: USER, OPENSEARCH_PASSWORD: PASSWORD },
      ...{ REDIS_URL: redisUrl(REDIS_PASSWORD), NODE_EXTRA_CA_CERTS: files.certificate },
    });
    [worker, api] = await Promise.all([startWorker(environment.variables), startApi(environment.variables)]);
    const { code, output } = await publish();
    expect([code, output]).toEqual([0, expect.stringContaining('Live: publication')]);
    rest = await apiClient(environment);
  });
  afterAll(() => expectNoPassword(api.output(), worker.output()));

  test('lookups are answered, publications listed, and API processes count limits together', async () => {
    const before = await rest.verify(GOOD_LOOKUP);
    recordIn(before);
    const { answer, shared } = await withApi({}, 'API ready');
    recordIn(answer);
    expect([shared, await limitsShared(environment.config.ADMIN_PORT)]).toEqual([1, 1]);
    const remaining = [before, answer].map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
    expect(remaining[1]).toBe((remaining[0] ?? 0) - 1);
    const ca = await readFile(files.certificate);
    const redis = new Redis(redisUrl(REDIS_PASSWORD), { tls: { ca } });
    const limits = await redis.keys(`limit:${environment.config.INDEX_PREFIX}rest:*`);
    redis.disconnect();
    expect(limits).not.toEqual([]);
    const { code, stdout } = await licenses(environment.variables, 'publications');
    expect([code, stdout]).toEqual([0, expect.stringContaining('live')]);
  });

  test.each<OpenSearchRefusal>([
    [
      'a wrong password',
      { OPENSEARCH_PASSWORD: WRONG },
      'refuses the user or the password. Check OPENSEARCH_USERNAME and OPENSEARCH_PASSWORD.',
    ],
    ...inForm<OpenSearchRefusal[]>({
      short: [],
      long: [
        [
          'a certificate that is not trusted',
          { OPENSEARCH_CA: '', NODE_EXTRA_CA_CERTS: '' },
          'is not trusted: self-signed certificate. Set OPENSEARCH_CA to the PEM file of its authority.',
        ],
        ['no permission', {}, 'does not permit this to its user OPENSEARCH_USERNAME: '],
      ],
    }),
  ])('%s at OpenSearch is told in one line by all', async (what, settings, says) => {
    if (what === 'no permission') forbidden = /licenses|_mapping|_index_template/;
    const variables = { ...environment.variables, ...settings };
    const [command, otherWorker, otherApi] = await Promise.all([
      licenses(variables, 'publications'),
      endOf(startScript('workers/main.ts', variables)),
      withApi(settings, 'OpenSearch cannot be used'),
    ]);
    expect([command.code, command.stdout, otherWorker.end]).toEqual([1, '', 'exit code 1']);
    const lines = [
      command.stderr.trimEnd(),
      logged(otherWorker.output, 'level', 60)?.msg,
      logged(otherApi.output, 'msg', 'OpenSearch cannot be used')?.error,
    ];
    const line = new RegExp(`^(The certificate of )?OpenSearch at ${address} ${says}[^\\n]*$`);
    expect(lines).toEqual(lines.map(() => expect.stringMatching(line)));
    expect(otherApi.answer).toMatchObject({ status: 503, body: { detail: AWAY, data_age_days: null } });
    expectNoPassword(command.output, otherWorker.output, otherApi.output);
  });

  test.each<[string, () => Record<string, string>, RegExp, string]>([
    [
      'a wrong password',
      () => ({ REDIS_URL: redisUrl(WRONG) }),
      /^Redis at \S+ can't be used: WRONGPASS [^\n]+ is REDIS_URL right\?\n$/,
      'WRONGPASS',
    ],
    [
      'a certificate that is not trusted',
      () => ({ NODE_EXTRA_CA_CERTS: '' }),
      /^Redis at \S+ can't be used: self-signed certificate\. Set NODE_EXTRA_CA_CERTS [^\n]+\n$/,
      'self-signed certificate',
    ],
  ])('%s at Redis is told by all; the API goes on', async (_what, settings, words, logs) => {
    const other = startScript('workers/main.ts', { ...environment.variables, ...settings() });
    const [command, alone] = await Promise.all([
      publish(settings()),
      withApi(settings(), logs),
      other.printed(logs),
    ]);
    await other.stop();
    expect([command.code, command.stdout, alone.shared]).toEqual([1, '', 0]);
    expect(command.stderr).toMatch(words);
    expect(command.stderr).toContain(redisAddress);
    recordIn(alone.answer);
    expectNoPassword(command.output, alone.output, other.output());
  });

  test('a password that is no longer taken is logged by the API, which answers again when it is', async () => {
    // The API logs a failure again only once a request has succeeded, and another test may have made it fail.
    const reads = aliasReads;
    await eventually('the API has read the alias', () => aliasReads > reads + 1);
    const before = api.output().length;
    isPasswordTaken = false;
    expect(detailIn(await rest.verify(GOOD_LOOKUP), 503)).toBe(AWAY);
    await eventually('the log says why', () =>
      api.output().slice(before).includes(`OpenSearch at ${address} refuses the user or the password.`),
    );
    isPasswordTaken = true;
    await eventually('it answers', async () => (await rest.verify(GOOD_LOOKUP)).status === 200);
  });

  inLongFormOnly(() => {
    /** What a command answers whose settings have this address of OpenSearch, with the user and the password. */
    const withAddress = (password: string) => {
      const { OPENSEARCH_USERNAME: _user, OPENSEARCH_PASSWORD: _password, ...others } = environment.variables;
      const url = `https://${USER}:${encodeURIComponent(password)}@${address}`;
      return licenses({ ...others, OPENSEARCH_URL: url }, 'publications');
    };

    test.each<[string, () => Promise<CommandResult>, code: number, says: () => string]>([
      ['the password in the address is taken', () => withAddress(PASSWORD), 0, () => 'live'],
      ['a wrong one there is refused', () => withAddress(WRONG), 1, () => `at ${address} refuses the user`],
      [
        'a publication that is not permitted fails at once and says why',
        () => {
          forbidden = /_bulk/;
          return publish();
        },
        ...([1, () => `Failed: OpenSearch at ${address} does not permit this to its user`] as const),
      ],
      [
        'a file of the authority that can not be read is one line, too',
        () => licenses({ ...environment.variables, OPENSEARCH_CA: '/nowhere/ca.pem' }, 'publications'),
        ...([1, () => 'OPENSEARCH_CA is "/nowhere/ca.pem", but must be the path of a PEM file.\n'] as const),
      ],
    ])('%s', async (_what, run, code, says) => {
      const ended = await run();
      expect([ended.code, ended.output]).toEqual([code, expect.stringContaining(says())]);
      expectNoPassword(ended.output);
    });

    test('a worker that starts while OpenSearch does not answer says so without the password', async () => {
      const away = { ...environment.variables, OPENSEARCH_URL: 'https://127.0.0.1:1' };
      const { end, output } = await endOf(startScript('workers/main.ts', away));
      expect(end).toBe('exit code 1');
      expect(logged(output, 'level', 60)?.msg).toMatch(/^OpenSearch does not answer at 127\.0\.0\.1:1\./);
      expectNoPassword(output);
    });
  });
});
