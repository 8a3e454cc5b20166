import { z } from 'zod';
import { answer, cut, loseResponse, type ProxiedRequest, type ProxyStep, pass, startProxy } from './proxy.ts';

/** OpenSearch's response for an item at the flood stage: status 429, or 403 in some releases. */
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

export const isBulk = ({ path }: ProxiedRequest): boolean => path.includes('/_bulk');

/** Counts the items of a request. An item is two lines: the operation and the document. */
const itemsIn = ({ body }: ProxiedRequest): number => (body.split('\n').length - 1) / 2;

/** Sends this share of a request's items to OpenSearch, and answers each of the others with `item`. */
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

/** The possible faults of a bulk request. */
export const BULK_FAULTS = {
  none: pass,
  'refuse all': answer(429),
  'refuse half': refuseItems(REFUSED, 0.5),
  'lose the answer': loseResponse,
  'disk full': refuseItems(blocked(429), 0),
  'disk full for half': refuseItems(blocked(403), 0.5),
  /** Like OpenSearch while its shards recover. */
  unavailable: answer(503),
  reset: cut,
} as const satisfies Record<string, ProxyStep>;

export type BulkFault = keyof typeof BULK_FAULTS;

export type BulkProxy = Awaited<ReturnType<typeof bulkProxy>>;

/**
 * A proxy in front of OpenSearch that disturbs bulk requests.
 *
 * @param faults for the first bulk request, the second, …; later requests pass until `disturb` is called
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
    /** The number of items in each bulk request. */
    requests: requests as readonly number[],
    /** The number of bulk requests that OpenSearch or the proxy did not accept in full or did not answer. */
    refused: () => refused,
    /** Sets the fault of bulk requests from now on; `hold` holds them until the next call. */
    disturb: (fault: BulkFault | 'hold') => {
      release();
      if (fault === 'hold') ({ promise: open, resolve: release } = Promise.withResolvers<void>());
      else later = fault;
    },
    close,
  };
}
