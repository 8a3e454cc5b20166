import { readFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { licenses, startApi, startScript, startWorker } from '../../scripts/licenses-processes.ts';
import { freePort } from '../../scripts/ports.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
import { readConfig } from '../../src/config.ts';
import { detailIn, recordIn } from '../support/answers.ts';
import { type ApiClient, apiClient } from '../support/api.ts';
import { NO_OPENSSL, selfSigned } from '../support/certificate.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { eventually } from '../support/eventually.ts';
import { FIXTURES } from '../support/fixtures.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const USER = 'licenses';
const PASSWORD = 'pass/word: with @ and €';
const WRONG = 'wrong-password';
const LOOKUP = { board: 'Nursing Board', license_number: 'RN.700001' };
const AWAY = 'Lookups are not available right now; try again shortly.';

const folder = temporaryFolder();
let proxy: Server;
/** Whether OpenSearch takes the password. */
let isPasswordTaken: boolean;
/** The paths to which the user may not send requests. */
let forbidden: RegExp | undefined;
/** How often OpenSearch was asked which publication is live, as the API does once a second. */
let aliasReads = 0;
let environment: TestEnvironment;
let address: string;
let api: RunningProcess;
let worker: RunningProcess;
let rest: ApiClient;

/** An https proxy in front of OpenSearch that answers as OpenSearch's security plugin does. */
async function securedOpenSearch(
  openSearch: string,
  files: { key: string; certificate: string },
): Promise<Server> {
  const basic = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`;

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const { headers, method = 'GET', url = '/' } = request;
    if (!isPasswordTaken || headers.authorization !== basic) {
      request.resume();
      response
        .writeHead(401, { 'www-authenticate': 'Basic realm="OpenSearch Security"' })
        .end('Unauthorized');
      return;
    }
    if (forbidden?.test(url)) {
      const error = {
        type: 'security_exception',
        reason: `no permissions for [${url}] and User [name=${USER}]`,
      };
      request.resume();
      response
        .writeHead(403, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { root_cause: [error], ...error }, status: 403 }));
      return;
    }
    if (url.includes('_alias')) aliasReads += 1;
    const forwarded = httpRequest(openSearch + url, { method, headers }, (answered) => {
      response.writeHead(answered.statusCode ?? 502, answered.headers);
      answered.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    request.pipe(forwarded);
  }

  const server = createServer(
    { key: await readFile(files.key), cert: await readFile(files.certificate) },
    answer,
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

beforeEach(() => {
  isPasswordTaken = true;
  forbidden = undefined;
});

/** Nothing that a process printed may have a password, in any form. */
function expectNoPassword(...printed: string[]): void {
  for (const password of [PASSWORD, WRONG]) {
    for (const secret of [
      password,
      encodeURIComponent(password),
      Buffer.from(`${USER}:${password}`).toString('base64'),
    ]) {
      for (const text of printed) expect(text).not.toContain(secret);
    }
  }
}

function publish() {
  const { individual, business } = FIXTURES;
  const files = ['--individual', individual, '--business', business];
  return licenses(environment.variables, 'publish', ...files, '--force', 'a test');
}

describeUnless(NO_OPENSSL, 'OpenSearch by https, with a user', () => {
  beforeAll(async () => {
    isPasswordTaken = true;
    const files = await selfSigned(folder.path());
    proxy = await securedOpenSearch(readConfig().OPENSEARCH_URL, files);
    address = `127.0.0.1:${z.custom<AddressInfo>().parse(proxy.address()).port}`;
    environment = await testEnvironment({
      OPENSEARCH_URL: `https://${address}`,
      OPENSEARCH_USERNAME: USER,
      OPENSEARCH_PASSWORD: PASSWORD,
      OPENSEARCH_CA: files.certificate,
    });
    [worker, api] = await Promise.all([startWorker(environment.variables), startApi(environment.variables)]);
    const { code, output } = await publish();
    expect([code, output]).toEqual([0, expect.stringContaining('Live: publication')]);
    rest = await apiClient(environment);
  });
  afterAll(async () => {
    await Promise.all([api.stop(), worker.stop()]);
    await environment.cleanUp();
    proxy.closeAllConnections();
    proxy.close();
    expectNoPassword(api.output(), worker.output());
  });

  test('publishes, answers lookups and lists publications', async () => {
    expect(recordIn(await rest.verify(LOOKUP)).license_number).toBe(LOOKUP.license_number);
    expect(recordIn(await rest.verify({ ...LOOKUP, license_number: 'rn700001' }))).toMatchObject({
      found: true,
    });
    const { code, stdout } = await licenses(environment.variables, 'publications');
    expect([code, stdout]).toEqual([0, expect.stringContaining('live')]);
  });

  test('takes the user and the password in the address, too', async () => {
    const { OPENSEARCH_USERNAME: _user, OPENSEARCH_PASSWORD: _password, ...others } = environment.variables;
    const url = `https://${USER}:${encodeURIComponent(PASSWORD)}@${address}`;
    const { code, stdout } = await licenses({ ...others, OPENSEARCH_URL: url }, 'publications');
    expect([code, stdout]).toEqual([0, expect.stringContaining('live')]);
    const wrong = `https://${USER}:${WRONG}@${address}`;
    const refused = await licenses({ ...others, OPENSEARCH_URL: wrong }, 'publications');
    expect([refused.code, refused.output]).toEqual([
      1,
      expect.stringContaining(`at ${address} refuses the user`),
    ]);
    expectNoPassword(refused.output);
  });

  test.each<[string, () => Record<string, string>, (line: string) => unknown]>([
    [
      'a wrong password',
      () => ({ OPENSEARCH_PASSWORD: WRONG }),
      (line) =>
        expect(line).toBe(
          `OpenSearch at ${address} refuses the user or the password. Check OPENSEARCH_USERNAME and OPENSEARCH_PASSWORD.`,
        ),
    ],
    [
      'a certificate that is not trusted',
      () => ({ OPENSEARCH_CA: '' }),
      (line) =>
        expect(line).toBe(
          `The certificate of OpenSearch at ${address} is not trusted: self-signed certificate. Set OPENSEARCH_CA to the PEM file of its authority.`,
        ),
    ],
    [
      'a user without permission',
      () => {
        forbidden = /_alias|_mapping|_index_template/;
        return {};
      },
      (line) =>
        expect(line).toMatch(
          new RegExp(`^OpenSearch at ${address} does not permit this to its user OPENSEARCH_USERNAME: .+`),
        ),
    ],
  ])(
    '%s is one line for the operator, from commands, worker and API',
    async (_what, settings, expectLine) => {
      const variables = { ...environment.variables, ...settings() };
      const own = { PORT: String(await freePort()), ADMIN_PORT: String(await freePort()) };
      const [command, otherWorker, otherApi] = await Promise.all([
        licenses(variables, 'publications'),
        endOf(startScript('workers/main.ts', variables)),
        startApi({ ...variables, ...own }),
      ]);
      try {
        expect([command.code, command.stdout]).toEqual([1, '']);
        expectLine(command.stderr.trimEnd());
        expect(otherWorker.end).toBe('exit code 1');
        expectLine(logged(otherWorker.output, 'level', 60)?.msg ?? otherWorker.output);
        const answer = await fetch(`http://127.0.0.1:${own.PORT}/api/v1/lookup/verify`, {
          method: 'POST',
          headers: { 'x-api-key': rest.key, 'content-type': 'application/json' },
          body: JSON.stringify(LOOKUP),
        });
        expect([answer.status, await answer.json()]).toEqual([503, { detail: AWAY, data_age_days: null }]);
        await otherApi.printed('OpenSearch can not be used');
        expectLine(logged(otherApi.output(), 'msg', 'OpenSearch can not be used')?.error ?? '');
      } finally {
        await otherApi.stop();
      }
      expectNoPassword(command.output, otherWorker.output, otherApi.output());
    },
  );

  test('a password that is no longer taken is logged by the API, which answers again when it is', async () => {
    // The API logs a failure again only once a request has succeeded, and another test may have made it fail.
    const reads = aliasReads;
    await eventually('the API has read the alias', () => aliasReads > reads + 1);
    const before = api.output().length;
    isPasswordTaken = false;
    expect(detailIn(await rest.verify(LOOKUP), 503)).toBe(AWAY);
    await eventually('the log says why', () =>
      api.output().slice(before).includes(`OpenSearch at ${address} refuses the user or the password.`),
    );
    isPasswordTaken = true;
    await eventually('it answers', async () => (await rest.verify(LOOKUP)).status === 200);
    expectNoPassword(api.output());
  });

  test('a publication that is not permitted fails at once and says why', async () => {
    forbidden = /_bulk/;
    const { code, output } = await publish();
    expect([code, output]).toEqual([
      1,
      expect.stringContaining(`Failed: OpenSearch at ${address} does not permit this to its user`),
    ]);
    expectNoPassword(output, worker.output());
  });

  test('a file of the authority that can not be read is one line, too', async () => {
    const { code, output } = await licenses(
      { ...environment.variables, OPENSEARCH_CA: '/nowhere/ca.pem' },
      'publications',
    );
    expect([code, output]).toEqual([
      1,
      'OPENSEARCH_CA is "/nowhere/ca.pem", but that file can\'t be read.\n',
    ]);
  });

  test('a worker that starts while OpenSearch does not answer says so without the password', async () => {
    const away = { ...environment.variables, OPENSEARCH_URL: 'https://127.0.0.1:1' };
    const { end, output } = await endOf(startScript('workers/main.ts', away));
    expect(end).toBe('exit code 1');
    expect(logged(output, 'level', 60)?.msg).toMatch(/^OpenSearch does not answer at 127\.0\.0\.1:1\./);
    expectNoPassword(output);
  });
});

async function endOf(started: RunningProcess): Promise<{ end: string; output: string }> {
  return { end: await started.ended, output: started.output() };
}

const line = z.looseObject({ msg: z.string(), error: z.string().optional() });

/** The log line that has this value, from all that a process printed. */
function logged(output: string, name: string, value: unknown): z.output<typeof line> | undefined {
  const lines = output.split('\n').flatMap((text) => {
    const found = line.safeParse(parsed(text));
    return found.success ? [found.data] : [];
  });
  return lines.find((each) => each[name] === value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
