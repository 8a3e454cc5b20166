import { SearchUnavailableError, TooBusyError } from './errors.ts';

/** A client that has waited this long for a place in a batch has given up or soon will. */
const MAX_WAIT_MS = 2000;

export interface BatcherOptions {
  readonly maxBatchSize: number;
  /** How many batches may be in flight. Queries that arrive meanwhile share the next batch. */
  readonly concurrency: number;
}

interface Waiting<Query, Response> {
  readonly query: Query;
  readonly since: number;
  readonly resolve: (response: Response | PromiseLike<Response>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Batches concurrent queries. A batch is sent as soon as the process has read all queries that have arrived; it does
 * not wait to fill up. A query that has waited two seconds is rejected with `TooBusyError`, so that no queue builds up
 * behind a slow response.
 *
 * @param request answers the queries of a batch in order, or fails one with a rejected promise. If the request itself
 * fails, the whole batch fails with its error
 */
export function batcher<Query, Response>(
  request: (queries: readonly Query[]) => Promise<readonly (Response | PromiseLike<Response>)[]>,
  { maxBatchSize, concurrency }: BatcherOptions,
): (query: Query) => Promise<Response> {
  let waiting: Waiting<Query, Response>[] = [];
  let inFlight = 0;
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled || waiting.length === 0 || inFlight >= concurrency) return;
    isScheduled = true;
    setImmediate(send);
  }

  function refuseLate(): void {
    const earliest = performance.now() - MAX_WAIT_MS;
    const first = waiting.findIndex(({ since }) => since >= earliest);
    const late = waiting.splice(0, first < 0 ? waiting.length : first);
    for (const { reject } of late) reject(new TooBusyError('The query waited too long for its turn.'));
  }

  async function send(): Promise<void> {
    refuseLate();
    const batch = waiting.slice(0, maxBatchSize);
    waiting = waiting.slice(maxBatchSize);
    isScheduled = false;
    if (batch.length === 0) return;
    inFlight += 1;
    schedule();
    try {
      const responses = await request(batch.map(({ query }) => query));
      if (responses.length !== batch.length) throw new Error('Not every query of the batch was answered.');
      for (const [at, response] of responses.entries()) batch[at]?.resolve(response);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    inFlight -= 1;
    schedule();
  }

  return (query) =>
    new Promise((resolve, reject) => {
      waiting.push({ query, since: performance.now(), resolve, reject });
      schedule();
    });
}

/** Fails when the work takes too long. The work continues; its requests have their own timeouts. */
export function withTimeout<Result>(work: Promise<Result>, ms: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new SearchUnavailableError('OpenSearch did not answer in time')),
      ms,
    );
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
