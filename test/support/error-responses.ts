import { expect } from '@jest/globals';
import { detailIn } from './answers.ts';
import type { ApiAnswer } from './api.ts';
import { rawRequest } from './raw-http.ts';
import type { TestService } from './service.ts';

/** Sends exactly this body to POST /lookup/verify. */
export function postBody(
  { environment, rest }: Pick<TestService, 'environment' | 'rest'>,
  body: string | Buffer,
  headers: Record<string, string> = {},
): Promise<ApiAnswer> {
  return rawRequest({
    port: environment.config.PORT,
    method: 'POST',
    path: '/api/v1/lookup/verify',
    headers: {
      'x-api-key': rest.key,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      ...headers,
    },
    body,
  });
}

/** The detail of an error, which must not reveal internals. */
export function safeDetailIn(answer: ApiAnswer, status: number): string {
  const detail = detailIn(answer, status);
  expect(answer.text).not.toMatch(
    /at \w+.*:\d+|node_modules|\.ts\b|Error:|opensearch|redis|stack|licenses-\d/i,
  );
  return detail;
}
