import { expect } from '@jest/globals';
import type { TestEnvironment } from '../../scripts/environment.ts';
import { startApi } from '../../scripts/licenses-processes.ts';
import { freePorts } from '../../scripts/ports.ts';
import type { RunningProcess } from '../../scripts/processes.ts';
import { detailIn } from './answers.ts';
import type { ApiAnswer } from './api.ts';
import { times } from './fixtures.ts';
import { rawRequest } from './raw-http.ts';

/** An API process that gets requests from given client addresses. */
export interface AddressApi {
  readonly process: RunningProcess;
  /** GET /lookup/boards from this address, which the proxy sends. */
  rest(from: string, apiKey?: string, headers?: Record<string, string>): Promise<ApiAnswer>;
  /** A call of the MCP server from this address. */
  mcp(from: string): Promise<ApiAnswer>;
  /** POST /lookup/verify. */
  lookup(from: string): Promise<ApiAnswer>;
}

/**
 * Starts an API process on its own port.
 *
 * @param key the API key that its requests have unless they give another
 */
export async function startAddressApi(
  environment: TestEnvironment,
  key: string,
  settings: Record<string, string>,
): Promise<AddressApi> {
  const [port = 0, adminPort] = await freePorts(2);
  const ports = { PORT: String(port), ADMIN_PORT: String(adminPort) };
  const process = await startApi({ ...environment.variables, ...settings, ...ports });

  const posted = (path: string, from: string, headers: Record<string, string>, content: object) => {
    const body = JSON.stringify(content);
    const length = String(Buffer.byteLength(body));
    const all = { host: `localhost:${port}`, 'x-forwarded-for': from, 'content-type': 'application/json' };
    return rawRequest({
      ...{ port, method: 'POST', path, body },
      headers: { ...all, 'content-length': length, ...headers },
    });
  };
  return {
    process,
    rest: (from, apiKey = key, more = {}) =>
      rawRequest({
        ...{ port, method: 'GET', path: '/api/v1/lookup/boards' },
        headers: { 'x-forwarded-for': from, 'x-api-key': apiKey, ...more },
      }),
    mcp: (from) =>
      posted(
        '/mcp',
        from,
        { accept: 'application/json, text/event-stream' },
        { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      ),
    lookup: (from) =>
      posted(
        '/api/v1/lookup/verify',
        from,
        { 'x-api-key': key },
        { board: 'Nursing Board', license_number: 'RN.700001' },
      ),
  };
}

let lastAddress = 0;

/** A client address that sent no requests yet. */
export function newAddress(): string {
  lastAddress += 1;
  return `198.51.100.${lastAddress}`;
}

/** Sends so many requests, one after the other. @returns their statuses */
export async function spend(count: number, ask: () => Promise<ApiAnswer>): Promise<number[]> {
  const statuses: number[] = [];
  for (const _ of times(count, Number)) statuses.push((await ask()).status);
  return statuses;
}

/** Expects a 429 that says when to try again: within a minute. */
export function expectLimited(answer: ApiAnswer): void {
  expect(detailIn(answer, 429)).toMatch(/^Too many requests; try again in \d+ seconds/);
  const seconds = Number(answer.headers.get('retry-after'));
  expect(seconds).toBeGreaterThanOrEqual(1);
  expect(seconds).toBeLessThanOrEqual(60);
}

/** The same status so many times. */
export function repeated(status: number, count: number): number[] {
  return times(count, () => status);
}
