import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { openSearchProxy, type ProxiedRequest, type ProxyAnswer } from './open-search-proxy.ts';

/** What the proxy does with a bulk request. */
export type BulkFault =
  | 'none'
  /** OpenSearch is asked once `disturb` is called with something else. */
  | 'hold'
  /** OpenSearch is not asked; 429 for the whole request. */
  | 'refuse all'
  /** The first half goes through; 429 for each item of the other half. */
  | 'refuse half'
  /** OpenSearch does it, but the answer is lost. */
  | 'lose the answer'
  /** OpenSearch is not asked; each item is answered as where the disk is full. */
  | 'disk full'
  /** The first half goes through; the other half is answered as where the disk is full. */
  | 'disk full for half'
  /** OpenSearch is not asked; 503, as while its shards recover. */
  | 'unavailable'
  /** OpenSearch is not asked; the connection breaks. */
  | 'reset';

/** A proxy in front of OpenSearch that disturbs bulk requests. */
export interface BulkProxy {
  readonly url: string;
  /** How many items each bulk request had. */
  readonly requests: number[];
  /** How many bulk requests were not taken in full, by OpenSearch or by the proxy, or got no answer. */
  refused(): number;
  /** What happens to bulk requests from now on. */
  disturb(fault: BulkFault): void;
  close(): Promise<void>;
}

const bulkResponse = z.looseObject({ errors: z.boolean(), items: z.array(z.unknown()) });

const REFUSED_ITEM = {
  create: { status: 429, error: { type: 'opensearch_rejected_execution_exception', reason: 'by the test' } },
};

/** What OpenSearch answers at its flood stage: with status 429, some releases with 403. */
function blockedItem(status: 403 | 429): object {
  const reason =
    'index [by the test] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, ' +
    'index has read-only-allow-delete block];';
  return { create: { status, error: { type: 'cluster_block_exception', reason } } };
}

/**
 * @param faults what happens to the first bulk request to an index of licenses, the second, …; the rest go
 * through, until `disturb` is called
 */
export async function bulkProxy(openSearch: string, faults: readonly BulkFault[] = []): Promise<BulkProxy> {
  const requests: number[] = [];
  let refused = 0;
  let later: BulkFault = 'none';
  const proxy = await openSearchProxy(openSearch, async (request) => {
    if (!request.path.includes('/_bulk')) return request.forward();
    const items = linesOf(request).length / 2;
    const fault = faults[requests.length] ?? later;
    requests.push(items);
    while (fault === 'hold' && later === 'hold') await sleep(10);
    const answered = await disturbed(request, fault);
    if (answered?.status !== 200 || answered.body.includes('"errors":true')) refused += 1;
    return answered;
  });
  return {
    url: proxy.url,
    requests,
    refused: () => refused,
    disturb: (fault) => {
      later = fault;
    },
    close: proxy.close,
  };
}

async function disturbed(request: ProxiedRequest, fault: BulkFault): Promise<ProxyAnswer | undefined> {
  switch (fault) {
    case 'none':
    case 'hold':
      return request.forward();
    case 'refuse all':
      return { status: 429, body: '{"error":"by the test"}' };
    case 'refuse half':
      return halfTaken(request, REFUSED_ITEM);
    case 'lose the answer':
      await request.forward();
      return undefined;
    case 'disk full':
      return {
        status: 200,
        body: JSON.stringify({ errors: true, items: notTaken(request, blockedItem(429), 0) }),
      };
    case 'disk full for half':
      return halfTaken(request, blockedItem(403));
    case 'unavailable':
      return { status: 503, body: '{"error":"by the test"}' };
    case 'reset':
      return undefined;
  }
}

async function halfTaken(request: ProxiedRequest, other: object): Promise<ProxyAnswer> {
  const lines = linesOf(request);
  const taken = Math.ceil(lines.length / 4);
  const answered = await request.forward(`${lines.slice(0, 2 * taken).join('\n')}\n`);
  const parsed = bulkResponse.parse(JSON.parse(answered.body));
  const items = [...parsed.items, ...notTaken(request, other, taken)];
  return { status: 200, body: JSON.stringify({ ...parsed, errors: true, items }) };
}

/** One answer for each item from the given one on. */
function notTaken(request: ProxiedRequest, answer: object, from: number): object[] {
  return Array.from({ length: linesOf(request).length / 2 - from }, () => answer);
}

function linesOf({ body }: ProxiedRequest): string[] {
  return body.split('\n').slice(0, -1);
}
