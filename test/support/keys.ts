import { expect } from '@jest/globals';
import { z } from 'zod';
import type { ApiAnswer } from './api.ts';
import { command } from './in-process.ts';
import { rawRequest } from './raw-http.ts';
import type { TestService } from './service.ts';

/** A lookup that finds one license of the fixtures. */
export const GOOD_LOOKUP = { board: 'Nursing Board', license_number: 'RN.700001' };

/** Sends a request with only these headers. A POST has the body of a lookup that finds a license. */
export function requestWith(
  { environment }: Pick<TestService, 'environment'>,
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<ApiAnswer> {
  const body = method === 'POST' ? JSON.stringify(GOOD_LOOKUP) : '';
  const type = method === 'POST' ? { 'content-type': 'application/json' } : {};
  const length = { 'content-length': String(body.length) };
  const { PORT: port } = environment.config;
  return rawRequest({ port, method, path, headers: { ...headers, ...type, ...length }, body });
}

/** What `licenses keys create --json` prints. */
export const issuedKey = z.object({
  id: z.string(),
  key: z.string(),
  account: z.string(),
  contact: z.string().nullable(),
  verified_by: z.string(),
});

/** Issues a key with `licenses keys create`. */
export async function issueKey(
  { environment }: Pick<TestService, 'environment'>,
  account: string,
  ...options: string[]
) {
  const { code, stdout } = await command(
    environment.variables,
    ...['keys', 'create', account, '--verified-by', 'Ada Operator', '--json', ...options],
  );
  expect(code).toBe(0);
  return issuedKey.parse(JSON.parse(stdout));
}
