// The service's API, with types made of its OpenAPI document. Its address and your key come from the environment.

import { setTimeout as sleep } from 'node:timers/promises';
import createClient from 'openapi-fetch';
import type { components, paths } from './licenses-api.ts';

/** The most items of a roster in one request. */
export const MAX_ITEMS = 1000;
const IN_A_PAGE = 1000;
const MAX_TRIES = 5;
/** If Retry-After is longer, give up. */
const MAX_SECONDS = 120;
const ANSWERED_WITHIN_MS = 30_000;

export type Item = components['schemas']['RosterItem'];
export type ItemResult = components['schemas']['RosterAnswer']['results'][number];

export const service = createClient<paths>({
  baseUrl: process.env.LICENSES_URL ?? 'http://127.0.0.1:8080',
  headers: { 'X-API-Key': process.env.LICENSES_KEY ?? '' },
  fetch: patientFetch,
});

/** After 429 and 503 it waits for Retry-After and retries, up to MAX_TRIES times. */
async function patientFetch(request: Request): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    const response = await fetch(request.clone(), { signal: AbortSignal.timeout(ANSWERED_WITHIN_MS) });
    if (![429, 503].includes(response.status)) return response;
    const seconds = Number(response.headers.get('Retry-After')) || 1;
    if (tries === MAX_TRIES || seconds > MAX_SECONDS) return response;
    await response.body?.cancel();
    await sleep(seconds * 1000);
  }
}

/** The service's results for some items, in their order. */
export async function resultsOf(items: Item[]): Promise<readonly ItemResult[]> {
  const { data, error, response } = await service.POST('/api/v1/lookup/batch', {
    body: { items },
    // The operation takes CSV, too.
    bodySerializer: (body) => JSON.stringify(body),
  });
  if (typeof data !== 'object') throw new Error(error?.detail ?? `The answer was ${response.status}.`);
  return data.results;
}

/** The changes after the cursor are no longer kept. */
export class CursorExpiredError extends Error {}

/** A page of the feed; with `watched`, of what your account watches. */
export async function changesSince(since: string, filters: { watched?: 'true' } = {}) {
  const query = { since, limit: IN_A_PAGE, ...filters };
  const { data, error, response } = await service.GET('/api/v1/changes', { params: { query } });
  if (data !== undefined) return data;
  if (response.status === 410) throw new CursorExpiredError();
  throw new Error(error?.detail ?? `The answer was ${response.status}.`);
}

/** All that your account watches, each with its record. */
export async function* watchedLicenses() {
  for (let after: string | null = ''; after !== null; ) {
    const query: { after: string; limit: number } = { after, limit: IN_A_PAGE };
    const { data, error, response } = await service.GET('/api/v1/subscriptions', { params: { query } });
    if (data === undefined) throw new Error(error?.detail ?? `The answer was ${response.status}.`);
    yield* data.subscriptions;
    after = data.next;
  }
}

/** Why a request failed, in one line. */
export function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
