import type { ObservedFault } from './fault-form.ts';
import { openSearchProxy, type ProxiedRequest } from './open-search-proxy.ts';
import { describeProgress, endOf, expectInterrupted, loadProgress } from './publication-run.ts';
import type { PublicationUnderWay, Publisher } from './publisher.ts';

/** How many requests a publication has made. */
export interface RequestCounts {
  bulk: number;
  other: number;
  /** Of both kinds: those that read or write digests or changes. */
  comparing: number;
}

/** A request at which a publication is interrupted. */
export interface InterruptedRequest {
  /** @param made how many there have been, this one included */
  readonly is: (request: ProxiedRequest, made: Readonly<RequestCounts>) => boolean;
  /** Whether OpenSearch still does what it asks for. */
  readonly isDone: boolean;
}

/** A publication that was interrupted, when, and what it was doing. */
interface Interruption {
  readonly publication: PublicationUnderWay;
  readonly at: number;
  readonly hit: string;
}

/** A proxy between workers and OpenSearch that holds one request of a publication while something is killed. */
export interface InterruptingProxy {
  readonly url: string;
  /** Counts from here on. */
  countAnew(): void;
  counted(): Readonly<RequestCounts>;
  /**
   * Kills at a request of a publication, which is never answered.
   *
   * @param begin begins the publication
   * @param kill must throw when it kills nothing
   * @throws {Error} when the publication ends without this request, or nothing was killed
   */
  interrupt(
    request: InterruptedRequest,
    begin: () => Promise<PublicationUnderWay>,
    kill: () => Promise<unknown>,
  ): Promise<Interruption>;
  close(): Promise<void>;
}

export function isBulk({ path }: ProxiedRequest): boolean {
  return path.includes('/_bulk');
}

/** Whether it reads or writes digests or changes. */
export function isComparing({ path }: ProxiedRequest): boolean {
  return /\/[^/]*(license-digests-|changes\/)/.test(path);
}

/** A worker asks for it until it is answered, so there may be any number. */
function isWaiting({ path }: ProxiedRequest): boolean {
  return path.startsWith('/_cluster/health');
}

export async function interruptingProxy({ environment, documents }: Publisher): Promise<InterruptingProxy> {
  let made: RequestCounts = { bulk: 0, other: 0, comparing: 0 };
  let awaited: InterruptedRequest | undefined;
  let held = Promise.withResolvers<() => void>();

  const proxy = await openSearchProxy(environment.config.OPENSEARCH_URL, async (request) => {
    if (isWaiting(request)) return request.forward();
    made[isBulk(request) ? 'bulk' : 'other'] += 1;
    if (isComparing(request)) made.comparing += 1;
    if (awaited?.is(request, made) !== true) return request.forward();
    const { isDone } = awaited;
    awaited = undefined;
    if (isDone) await request.forward();
    await new Promise<void>((release) => held.resolve(release));
    return undefined;
  });

  function countAnew(): void {
    made = { bulk: 0, other: 0, comparing: 0 };
  }
  return {
    url: proxy.url,
    countAnew,
    counted: () => made,
    interrupt: async (request, begin, kill) => {
      countAnew();
      held = Promise.withResolvers();
      awaited = request;
      const publication = await begin();
      const release = await Promise.race([held.promise, publication.ended]);
      awaited = undefined;
      if (typeof release !== 'function') {
        throw new Error('The publication ended without the request at which it was to be interrupted.');
      }
      try {
        const progress = await loadProgress(environment, publication.publication, documents);
        const at = Date.now();
        await kill();
        return { at, hit: describeProgress(progress), publication };
      } finally {
        release();
      }
    },
    close: proxy.close,
  };
}

interface KillAndRecovery {
  /** Must throw when it kills nothing. */
  readonly kill: () => Promise<unknown>;
  readonly recover: () => Promise<unknown>;
}

/**
 * Kills at a request of a publication of the large files. Expects that this interrupted it, and that it goes live
 * at a later attempt.
 */
export async function killAtRequest(
  proxy: InterruptingProxy,
  publications: Publisher,
  request: InterruptedRequest,
  { kill, recover }: KillAndRecovery,
): Promise<ObservedFault> {
  const { environment } = publications;
  const interruption = await proxy.interrupt(request, () => publications.begin('large'), kill);
  const { at, hit, publication } = interruption;
  await recover();
  await publications.expectPublished(publication);
  const seconds = (Date.now() - at) / 1000;
  await expectInterrupted(environment, publication.publication);
  const outcome = await endOf(environment, publication.publication);
  await publications.expectRecovered('large');
  return { hit, seconds, outcome };
}
