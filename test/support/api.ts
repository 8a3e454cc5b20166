import { z } from 'zod';
import type { TestEnvironment } from '../../scripts/environment.ts';
import { createKey } from '../../src/access/api-keys.ts';
import { liveIndex } from '../../src/publications/metadata.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { eventually } from './eventually.ts';

/** A response of the API with its body parsed. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: unknown;
}

/** A client of one API process, with its own key. */
export type ApiClient = ReturnType<typeof clientAt>;

/** A client with a new key for the API of this environment. @param account the account that holds the key */
export async function apiClient({ store, config }: TestEnvironment, account = 'Test'): Promise<ApiClient> {
  await prepareIndices(store);
  const { key } = await createKey(store, config.API_KEY_PREFIX, { account, verifiedBy: 'the tests' });
  return clientAt(`http://127.0.0.1:${config.PORT}`, key);
}

/** A client with this key for the API at this address. */
export function clientAt(base: string, key: string) {
  type Sent = RequestInit & { json?: unknown };
  async function request(method: string, path: string, { json, ...options }: Sent = {}): Promise<ApiAnswer> {
    const isJson = json !== undefined;
    const headers = {
      ...{ 'X-API-Key': key, ...(isJson && { 'content-type': 'application/json' }) },
      ...Object.fromEntries(new Headers(options.headers)),
    };
    const body = isJson && { body: JSON.stringify(json) };
    const response = await fetch(base + path, { ...options, method, headers, ...body });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: parsed(text) };
  }
  return {
    key,
    /** Sends a request. @param options the options of `fetch`; `json` is a body to send as JSON */
    request,
    get: (path: string) => request('GET', path),
    /** POST /lookup/verify with this body. */
    verify: (json: unknown, path = '/api/v1/lookup/verify') => request('POST', path, { json }),
    /** Calls a tool of the MCP server, in the way of clients from before 2026. */
    callTool: (name: string, parameters: object, headers: Record<string, string> = {}) =>
      request('POST', '/mcp', {
        headers: { accept: 'application/json, text/event-stream', ...headers },
        json: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: parameters } },
      }),
  };
}

const readiness = z.object({ index: z.string().nullable() });

/**
 * Waits until the API of this environment answers from the live publication. The API checks once a second which
 * publication is live. Returns at once if no API is listening.
 *
 * @throws {Error} when the API still answers from another publication after two minutes
 */
export async function waitForLive({ store, config }: TestEnvironment): Promise<void> {
  const index = await liveIndex(store);
  await eventually(`the API answers from ${index}`, async () => {
    const response = await fetch(`http://127.0.0.1:${config.ADMIN_PORT}/readyz`).catch(() => undefined);
    return response === undefined || readiness.parse(await response.json()).index === index;
  });
}

/** Parses a text as JSON; `undefined` if it is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
