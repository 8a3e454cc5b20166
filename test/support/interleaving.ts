import type { TestEnvironment } from '../../scripts/environment.ts';
import { openStore, type Store } from '../../src/storage/store.ts';
import { openSearchProxy, type ProxiedRequest } from './open-search-proxy.ts';

/** What works on the publications of an installation, as a command or the worker does. */
export type Operation = (store: Store) => Promise<unknown>;

/** How two operations ended of which the second ran while the first was paused. */
export interface Interleaved {
  readonly first: PromiseSettledResult<unknown>;
  /** `undefined` when the first made fewer requests, so that it was not paused. */
  readonly second: PromiseSettledResult<unknown> | undefined;
  /** The request before which the first was paused. */
  readonly pausedAt: string | undefined;
}

/**
 * Runs an operation, pauses it before its request of this number, runs another to its end, and lets it go on.
 *
 * @param isCounted which requests are counted
 * @param afterEach is called after each request of both
 */
export async function interleaved(
  environment: TestEnvironment,
  [first, second]: readonly [Operation, Operation],
  number: number,
  {
    isCounted,
    afterEach,
  }: { isCounted: (request: ProxiedRequest) => boolean; afterEach: () => Promise<void> },
): Promise<Interleaved> {
  let made = 0;
  let pausedAt: string | undefined;
  let secondEnded: PromiseSettledResult<unknown> | undefined;
  const firstEnded = await through(
    environment,
    first,
    async (request) => {
      if (isCounted(request)) made += 1;
      if (made === number && pausedAt === undefined) {
        pausedAt = `${request.method} ${request.path.replaceAll(environment.store.prefix, '')}`;
        secondEnded = await through(environment, second, async () => undefined, afterEach);
      }
    },
    afterEach,
  );
  return { first: firstEnded, second: secondEnded, pausedAt };
}

/** Runs an operation with a store whose requests can be held and looked at. */
async function through(
  { config }: TestEnvironment,
  operation: Operation,
  before: (request: ProxiedRequest) => Promise<void>,
  after: () => Promise<void>,
): Promise<PromiseSettledResult<unknown>> {
  const proxy = await openSearchProxy(config.OPENSEARCH_URL, async (request) => {
    await before(request);
    const answer = await request.forward();
    await after();
    return answer;
  });
  const store = openStore({ ...config, OPENSEARCH_URL: proxy.url }, 60_000);
  try {
    const [ended] = await Promise.allSettled([operation(store)]);
    return ended;
  } finally {
    await store.client.close();
    await proxy.close();
  }
}
