import { z } from 'zod';
import { answer, cut, loseResponse, type ProxiedRequest, type ProxyStep, pass, startProxy } from './proxy.ts';

/** What OpenSearch answers for an item at its flood stage: with status 429, some releases with 403. */
function blocked(status: 403 | 429): object {
  const reason =
    'index [by the test] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, ' +
    'index has read-only-allow-delete block];';
  return { create: { status, error: { type: 'cluster_block_exception', reason } } };
}

const REFUSED = {
  create: { status: 429, error: { type: 'opensearch_rejected_execution_exception', reason: 'by the test' } },
};

const bulkResponse = z.looseObject({ items: z.array(z.unknown()) });

export function isBulk({ path }: ProxiedRequest): boolean {
  return path.includes('/_bulk');
}

/** An item is two lines: what to do, and the document. */
function itemsIn({ body }: ProxiedRequest): number {
  return (body.split('\n').length - 1) / 2;
}

/** OpenSearch gets this share of a request's items; each of the others is answered with `item`. */
function refuseItems(item: object, share: 0 | 0.5): ProxyStep {
  return async (request) => {
    const taken = Math.ceil(itemsIn(request) * share);
    const body = `${request.body.split('\n', 2 * taken).join('\n')}\n`;
    const answered = taken === 0 ? '{"items":[]}' : (await request.forward({ body })).body;
    const { items, ...others } = bulkResponse.parse(JSON.parse(answered));
    const refused = Array.from({ length: itemsIn(request) - taken }, () => item);
    return { status: 200, body: JSON.stringify({ ...others, errors: true, items: [...items, ...refused] }) };
  };
}

/** What can happen to a bulk request. */
export const BULK_FAULTS = {
  none: pass,
  'refuse all': answer(429),
  'refuse half': refuseItems(REFUSED, 0.5),
  'lose the answer': loseResponse,
  'disk full': refuseItems(blocked(429), 0),
  'disk full for half': refuseItems(blocked(403), 0.5),
  /** As while its shards recover. */
  unavailable: answer(503),
  reset: cut,
} as const satisfies Record<string, ProxyStep>;

export type BulkFault = keyof typeof BULK_FAULTS;

export type BulkProxy = Awaited<ReturnType<typeof bulkProxy>>;

/**
 * A proxy in front of OpenSearch that disturbs bulk requests.
 *
 * @param faults of the first bulk request, the second, …; the others pass until `disturb` is called
 */
export async function bulkProxy(openSearch: string, faults: readonly BulkFault[] = []) {
  const requests: number[] = [];
  let refused = 0;
  let later: BulkFault = 'none';
  let open = Promise.resolve();
  let release: () => void = () => undefined;
  const { url, close } = await startProxy(openSearch, async (request) => {
    if (!isBulk(request)) return request.forward();
    const fault = faults[requests.length];
    requests.push(itemsIn(request));
    if (fault === undefined) await open;
    const answered = await BULK_FAULTS[fault ?? later](request);
    if (answered?.status !== 200 || answered.body.includes('"errors":true')) refused += 1;
    return answered;
  });
  return {
    url,
    /** How many items each bulk request had. */
    requests: requests as readonly number[],
    /** How many bulk requests were not taken in full, by OpenSearch or by the proxy, or got no answer. */
    refused: () => refused,
    /** What happens to bulk requests from now on; `hold` holds them until the next call. */
    disturb: (fault: BulkFault | 'hold') => {
      release();
      if (fault === 'hold') ({ promise: open, resolve: release } = Promise.withResolvers<void>());
      else later = fault;
    },
    close,
  };
}
