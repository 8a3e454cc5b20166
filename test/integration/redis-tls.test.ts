import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { licenses, startApi, startScript, startWorker } from '../../scripts/licenses-processes.ts';
import { freePort } from '../../scripts/ports.ts';
import { type RunningProcess, startProcess } from '../../scripts/processes.ts';
import { recordIn } from '../support/answers.ts';
import { type ApiClient, apiClient } from '../support/api.ts';
import { NO_OPENSSL, selfSigned } from '../support/certificate.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { FIXTURES } from '../support/fixtures.ts';
import { rawRequest } from '../support/raw-http.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const USER = 'licenses';
const PASSWORD = 'pass/word:with@signs';
const WRONG = 'wrong-password';
const LOOKUP = { board: 'Nursing Board', license_number: 'RN.700001' };

const folder = temporaryFolder();
let server: RunningProcess;
let certificate: string;
let environment: TestEnvironment;
let host: string;
let api: RunningProcess;
let worker: RunningProcess;
let rest: ApiClient;

/** The address of Redis as this user. */
function address(password: string): string {
  return `rediss://${USER}:${encodeURIComponent(password)}@${host}`;
}

/** A Redis that takes TLS connections of one user with a password, and no others. */
async function startSecuredRedis(port: number): Promise<RunningProcess> {
  const files = await selfSigned(folder.path());
  certificate = files.certificate;
  const redis = startProcess('Redis', 'redis-server', [
    ...['--port', '0', '--tls-port', String(port), '--bind', '127.0.0.1', '--dir', folder.path()],
    ...['--tls-cert-file', files.certificate, '--tls-key-file', files.key, '--tls-auth-clients', 'no'],
    ...['--tls-ca-cert-file', files.certificate, '--maxmemory-policy', 'noeviction'],
    ...['--user', 'default', 'off', '--user', USER, 'on', `>${PASSWORD}`, '~*', '&*', '+@all'],
  ]);
  await redis.printed('Ready to accept connections');
  return redis;
}

function publish(variables: Record<string, string>) {
  const { individual, business } = FIXTURES;
  const files = ['--individual', individual, '--business', business];
  return licenses(variables, 'publish', ...files, '--force', 'a test');
}

function expectNoPassword(...printed: string[]): void {
  for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), WRONG]) {
    for (const text of printed) expect(text).not.toContain(secret);
  }
}

/** What a second API process logs, and what it answers to a lookup and says of shared limits. */
async function withApi(settings: Record<string, string>, logs: string) {
  const own = { PORT: String(await freePort()), ADMIN_PORT: String(await freePort()) };
  const other = await startApi({ ...environment.variables, ...own, ...settings });
  try {
    await other.printed(logs);
    const body = JSON.stringify(LOOKUP);
    const answer = await rawRequest({
      port: Number(own.PORT),
      method: 'POST',
      path: '/api/v1/lookup/verify',
      headers: { host: 'localhost', 'x-api-key': rest.key, 'content-type': 'application/json' },
      body,
    });
    return { answer, shared: await limitsShared(Number(own.ADMIN_PORT)), output: other.output() };
  } finally {
    await other.stop();
  }
}

async function limitsShared(port: number): Promise<string | undefined> {
  const { text } = await rawRequest({
    port,
    method: 'GET',
    path: '/metrics',
    headers: { host: 'localhost' },
  });
  return /^licenses_limits_shared (\d)$/m.exec(text)?.[1];
}

describeUnless(NO_OPENSSL, 'Redis by rediss, with a user', () => {
  beforeAll(async () => {
    const port = await freePort();
    host = `127.0.0.1:${port}`;
    server = await startSecuredRedis(port);
    environment = await testEnvironment({
      REDIS_URL: address(PASSWORD),
      NODE_EXTRA_CA_CERTS: certificate,
    });
    [worker, api] = await Promise.all([startWorker(environment.variables), startApi(environment.variables)]);
    const { code, output } = await publish(environment.variables);
    expect([code, output]).toEqual([0, expect.stringContaining('Live: publication')]);
    rest = await apiClient(environment);
  });
  afterAll(async () => {
    await Promise.all([api.stop(), worker.stop()]);
    await environment.cleanUp();
    await server.stop();
    expectNoPassword(api.output(), worker.output());
  });

  test('a worker takes the job, and API processes count limits together', async () => {
    const before = await rest.verify(LOOKUP);
    recordIn(before);
    const { answer, shared } = await withApi({}, 'API ready');
    recordIn(answer);
    expect([shared, await limitsShared(environment.config.ADMIN_PORT)]).toEqual(['1', '1']);
    const remaining = [before, answer].map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
    expect(remaining[1]).toBe((remaining[0] ?? 0) - 1);
    const redis = new Redis(address(PASSWORD), { tls: { ca: await readFile(certificate) } });
    try {
      expect(await redis.keys(`limit:${environment.config.INDEX_PREFIX}rest:*`)).not.toEqual([]);
    } finally {
      redis.disconnect();
    }
  });

  test.each<[string, () => Record<string, string>, RegExp, string]>([
    [
      'a wrong password',
      () => ({ REDIS_URL: address(WRONG) }),
      /^Redis at \S+ can't be used: WRONGPASS [^\n]+ is REDIS_URL right\?\n$/,
      'WRONGPASS',
    ],
    [
      'a certificate that is not trusted',
      () => ({ NODE_EXTRA_CA_CERTS: '' }),
      /^Redis at \S+ can't be used: self-signed certificate\. Set NODE_EXTRA_CA_CERTS [^\n]+\n$/,
      'self-signed certificate',
    ],
  ])('%s is told by commands, worker and API, which goes on', async (_what, settings, told, logged) => {
    const variables = { ...environment.variables, ...settings() };
    const other = startScript('workers/main.ts', variables);
    try {
      const [command, alone] = await Promise.all([
        publish(variables),
        withApi(settings(), logged),
        other.printed(logged),
      ]);
      expect([command.code, command.stdout]).toEqual([1, '']);
      expect(command.stderr).toMatch(told);
      expect(command.stderr).toContain(host);
      recordIn(alone.answer);
      expect(alone.shared).toBe('0');
      expectNoPassword(command.output, alone.output, other.output());
    } finally {
      await other.stop();
    }
  });
});
