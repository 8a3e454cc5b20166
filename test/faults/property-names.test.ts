/** @room lookups */
import { beforeAll, expect, test } from '@jest/globals';
import { startWorker } from '../../scripts/licenses-processes.ts';
import { freePort } from '../../scripts/ports.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
import { inForm } from '../support/fault-form.ts';
import { PROPERTY_NAMES } from '../support/hostile-rows.ts';
import { rawRequest } from '../support/raw-http.ts';
import { startService, type TestService } from '../support/service.ts';

const FAULT = 'names of object properties in everything that selects something';
const WITHIN_MS = 600_000;
const NAMES = inForm({ short: ['__proto__', 'constructor'], long: PROPERTY_NAMES });
const IN_FLIGHT = 4;

/** Headers by which the service or a library of it chooses something. */
const HEADERS = `content-encoding content-type accept accept-encoding accept-language accept-charset
  transfer-encoding te expect connection upgrade origin host authorization cookie
  x-forwarded-proto x-forwarded-for x-request-id x-api-key x-http-method-override
  mcp-protocol-version mcp-method mcp-name mcp-session-id mcp-param-board last-event-id`.split(/\s+/);

const FIELDS =
  `board license_number last_name first_name business_name search_type license_type status city county
  reference max_matches`.split(/\s+/);

const NUMBER = { board: 'Nursing Board', license_number: 'RN.700001' };
const JSON_TYPE = { 'content-type': 'application/json' };
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };
const MCP = { ...JSON_TYPE, accept: 'application/json, text/event-stream' };

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly to?: 'public' | 'admin' | 'worker';
}

let service: TestService;
let worker: RunningProcess;
let ports: Readonly<Record<'public' | 'admin' | 'worker', number>>;

beforeAll(async () => {
  service = await startService({ settings: { TRUSTED_PROXIES: '1', MCP_ALLOWED_HOSTS: 'localhost' } });
  const { config, variables } = service.environment;
  ports = { public: config.PORT, admin: config.ADMIN_PORT, worker: await freePort() };
  worker = await startWorker({ ...variables, WORKER_ADMIN_PORT: String(ports.worker) });
});

/** An object with a property of any name, which an object literal cannot have for `__proto__`. */
function object(known: object, ...others: readonly (readonly [string, unknown])[]): string {
  const entries = [...Object.entries(known), ...others];
  return `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`;
}

/** A form of a page of the website. */
function form(path: string, body: string): Sent {
  return { method: 'POST', path, headers: { ...FORM_TYPE, origin: 'http://localhost' }, body };
}

function list(query: string, body: string): Sent {
  return {
    method: 'POST',
    path: `/api/v1/lookup/batch${query}`,
    headers: { 'content-type': 'text/csv' },
    body,
  };
}

/** The same request to the admin ports of the API and of the worker. */
function toAdmin(path: string): Sent[] {
  return [
    { method: 'GET', path, to: 'admin' },
    { method: 'GET', path, to: 'worker' },
  ];
}

function rpc(method: string, params: string): Sent {
  const body = `{"jsonrpc":"2.0","id":1,"method":${JSON.stringify(method)},"params":${params}}`;
  return { method: 'POST', path: '/mcp', headers: MCP, body };
}

/** One request for each place that a name can take. */
function requestsWith(name: string): Sent[] {
  const encoded = encodeURIComponent(name);
  const post = (path: string, body: string): Sent => ({ method: 'POST', path, headers: JSON_TYPE, body });
  const verify = JSON.stringify(NUMBER);
  const bases: Sent[] = [
    post('/api/v1/lookup/verify', verify),
    post('/api/v1/lookup/batch', JSON.stringify({ items: [NUMBER] })),
    list('', 'license_number\nRN.700001\n'),
    rpc('tools/list', '{}'),
    form('/roster', 'roster=license_number%0ARN.700001'),
    form('/records', 'board=NUR&number=1'),
    ...['/', '/docs/swagger-ui.css', '/nothing'].map((path) => ({ method: 'GET', path })),
    ...['/healthz', '/metrics', '/queues/api/queues', '/nothing'].flatMap(toAdmin),
  ];
  const inHeaders = bases.flatMap((base) =>
    HEADERS.map((header): Sent => ({ ...base, headers: { ...base.headers, [header]: name } })),
  );
  const inFields = FIELDS.flatMap((field) => {
    const one = object({ board: NUMBER.board, last_name: 'Smith' }, [field, name]);
    return [
      post('/api/v1/lookup/verify', one),
      post('/api/v1/lookup/batch', `{"items":[${one}]}`),
      rpc('tools/call', `{"name":"search_licenses_by_name","arguments":${one}}`),
      rpc('tools/call', `{"name":"verify_roster","arguments":{"items":[${one}]}}`),
    ];
  });
  const named = object(NUMBER, [name, 'x']);
  const inNames: Sent[] = [
    post('/api/v1/lookup/verify', named),
    post('/api/v1/lookup/batch', `{"items":[${named}]}`),
    post('/api/v1/lookup/batch', object({ items: [NUMBER] }, [name, {}])),
    list(`?${encoded}=${encoded}`, `license_number,${name}\nRN.700001,${name}\n`),
    ...['tools/call', name, `tools/${name}`].flatMap((method) => [
      rpc(method, object({ name, arguments: {} })),
      rpc(method, `{"name":"verify_license","arguments":${named}}`),
      rpc(method, object({ name: 'verify_license', arguments: NUMBER }, [name, {}])),
      rpc(method, `{"name":"verify_license","arguments":${verify},"_meta":${object({}, [name, name])}}`),
    ]),
    form('/roster', `${encoded}=${encoded}&board=${encoded}&format=${encoded}&roster=${encoded}%0ARN.700001`),
    form('/records', `board=${encoded}&number=${encoded}&shown=${encoded}&${encoded}=1`),
  ];
  const paths = `/ /licenses/ /licenses/NUR/ /licenses/${encoded}/ /records/ /docs/ /assets/ /api/v1/ /api/v1/lookup/`;
  const addresses = [
    ...paths.split(' ').map((path) => `${path}${encoded}`),
    `/api/v1/lookup/boards/${encoded}/types`,
    ...['q', 'kind', 'board', 'city'].map((field) => `/?${field}=${encoded}&${encoded}=1`),
    ...['since', 'board', 'kind', 'cause', 'limit', encoded].map(
      (field) => `/api/v1/changes?${field}=${encoded}`,
    ),
    ...['board', 'license_number', encoded].map(
      (field) => `/api/v1/history?board=Nursing%20Board&${field}=${encoded}`,
    ),
  ].map((path): Sent => ({ method: 'GET', path }));
  const admin = [
    `/${encoded}`,
    `/queues/${encoded}`,
    `/queues/api/queues?activeQueue=${encoded}&status=${encoded}&${encoded}=1`,
    `/queues/api/queues/${encoded}/${encoded}`,
  ].flatMap(toAdmin);
  return [...inHeaders, ...inFields, ...inNames, ...addresses, ...admin];
}

async function send({ to = 'public', headers = {}, body, ...request }: Sent): Promise<number> {
  const { status } = await rawRequest({
    ...request,
    port: ports[to],
    headers: {
      host: 'localhost',
      'x-api-key': service.rest.key,
      ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  return status;
}

/** What nothing but a broken connection or a crash leads to. */
const NO_ANSWER = 0;

test(
  FAULT,
  async () => {
    const wrong: string[] = [];
    const statuses = new Map<number, number>();
    const requests = NAMES.flatMap(requestsWith);
    async function sendNext(): Promise<void> {
      for (let next = requests.shift(); next !== undefined; next = requests.shift()) {
        // Node refuses to send a few of these headers; a body of unknown framing gets no answer.
        const status = await send(next).catch(() => NO_ANSWER);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        const isFramed =
          !('transfer-encoding' in (next.headers ?? {})) && !('expect' in (next.headers ?? {}));
        const isGood = status === NO_ANSWER ? !isFramed : status < 500;
        if (!isGood) wrong.push(`${status} to ${JSON.stringify(next)}`);
      }
    }
    await Promise.all(Array.from({ length: IN_FLIGHT }, sendNext));
    expect(wrong.slice(0, 20)).toEqual([]);
    expect([service.api.child.exitCode, worker.child.exitCode]).toEqual([null, null]);
    expect((await service.rest.verify(NUMBER)).status).toBe(200);
  },
  WITHIN_MS,
);
