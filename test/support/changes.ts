import { z } from 'zod';
import { changeBody } from '../../src/rest/changes.ts';
import type { ApiAnswer, ApiClient } from './api.ts';

const page = z.object({
  changes: z.array(changeBody.extend({ cursor: z.string(), reference: z.string().nullable().optional() })),
  next: z.string(),
  more: z.boolean(),
});

export type ChangesPage = z.output<typeof page>;
export type Change = ChangesPage['changes'][number];

/** Sends GET /changes with these parameters and returns any response. */
export const askChanges = (rest: ApiClient, parameters: Record<string, string> = {}): Promise<ApiAnswer> =>
  rest.get(`/api/v1/changes?${new URLSearchParams(parameters)}`);

/** One page of the feed. */
export async function changesPage(rest: ApiClient, parameters: Record<string, string> = {}) {
  const { status, body } = await askChanges(rest, parameters);
  if (status !== 200) throw new Error(`GET /changes gave ${status}: ${JSON.stringify(body)}`);
  return page.parse(body);
}

/** All changes after a cursor, read page by page. @param filters other parameters */
export async function allChanges(
  rest: ApiClient,
  since = '',
  limit = 7,
  filters: Record<string, string> = {},
): Promise<Change[]> {
  const changes: Change[] = [];
  for (let cursor = since; ; ) {
    const found = await changesPage(rest, { since: cursor, limit: String(limit), ...filters });
    changes.push(...found.changes);
    if (!found.more) return changes;
    cursor = found.next;
  }
}
