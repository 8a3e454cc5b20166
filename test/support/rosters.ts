import { z } from 'zod';
import type { ApiAnswer, ApiClient } from './api.ts';

export const ROSTER_PATH = '/api/v1/lookup/batch';

/** The fields of a roster response that tests read. */
export const rosterAnswer = z.object({
  count: z.int(),
  summary: z.object({
    ...{ found: z.int(), clear: z.int(), ambiguous: z.int() },
    ...{ not_found: z.int(), invalid: z.int() },
  }),
  ...{ source: z.literal('dataset'), last_scraped: z.string(), data_age_days: z.int() },
  results: z.array(z.looseObject({ outcome: z.string() })),
});

/** Sends a roster as JSON. Text is sent unchanged. */
export function sendRoster(rest: ApiClient, body: unknown): Promise<ApiAnswer> {
  const asText = { headers: { 'content-type': 'application/json' } };
  return rest.request('POST', ROSTER_PATH, typeof body === 'string' ? { ...asText, body } : { json: body });
}

/** Sends a roster as CSV. */
export const sendTable = (
  rest: ApiClient,
  table: string | Uint8Array<ArrayBuffer>,
  query = '',
  headers: Record<string, string> = {},
): Promise<ApiAnswer> =>
  rest.request('POST', `${ROSTER_PATH}${query}`, {
    headers: { 'content-type': 'text/csv', ...headers },
    body: table,
  });
