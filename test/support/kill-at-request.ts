import { type ProxiedRequest, type ProxyStep, pass, startProxy } from './proxy.ts';
import { expectInterrupted } from './publication-run.ts';
import type { Publisher } from './publisher.ts';

export type RequestFilter = (request: ProxiedRequest) => boolean;

/** A request of a publication that is never answered. */
export interface FatalRequest {
  readonly is: RequestFilter;
  /** How many such requests come before it. */
  readonly after: number;
  /** Whether OpenSearch still does what it asks for. */
  readonly isDone: boolean;
}

interface KillAndRecovery {
  /** Must throw when it kills nothing. */
  readonly kill: () => Promise<unknown>;
  /** @param publication the id of what was interrupted */
  readonly recover: (publication: string) => Promise<unknown>;
  /** Whether the publication may go live at its first attempt, as when OpenSearch is killed instead of the worker. */
  readonly mayContinue?: boolean;
}

/** A proxy between the workers and OpenSearch that holds a request of a publication while something is killed. */
export type KillingProxy = Awaited<ReturnType<typeof killingProxy>>;

/** Whether it reads or writes digests or changes. */
export const isComparing: RequestFilter = ({ path }) => /\/[^/]*(license-digests-|changes\/)/.test(path);

/** A worker asks for it until it is answered, so there may be any number. */
const isWaiting: RequestFilter = ({ path }) => path.startsWith('/_cluster/health');

export async function killingProxy(publications: Publisher) {
  const { environment } = publications;
  let step: ProxyStep = pass;
  const { url, close } = await startProxy(environment.config.OPENSEARCH_URL, (request) =>
    isWaiting(request) ? request.forward() : step(request),
  );
  return {
    url,
    /** Publishes the second day without a fault. @returns how many requests of each kind that took */
    requestsWithoutFault: async (...kinds: readonly RequestFilter[]): Promise<number[]> => {
      const counts = new Map(kinds.map((isKind) => [isKind, 0]));
      step = (request) => {
        for (const [isKind, count] of counts) if (isKind(request)) counts.set(isKind, count + 1);
        return request.forward();
      };
      await publications.expectPublished(await publications.begin('second'));
      return [...counts.values()];
    },
    /**
     * Publishes the second day and kills at this request. Expects that the publication goes live nevertheless, at a
     * later attempt unless it may continue.
     *
     * @throws {Error} when the publication ends without this request, or nothing was killed
     */
    killAt: async (
      { is, after, isDone }: FatalRequest,
      { kill, recover, mayContinue = false }: KillAndRecovery,
    ): Promise<void> => {
      const held = Promise.withResolvers<'held'>();
      const released = Promise.withResolvers<void>();
      let before = 0;
      step = async (request) => {
        if (!is(request) || before++ !== after) return request.forward();
        if (isDone) await request.forward();
        held.resolve('held');
        await released.promise;
        return undefined;
      };
      const publication = await publications.begin('second');
      if ((await Promise.race([held.promise, publication.ended])) !== 'held') {
        throw new Error('The publication ended without the request at which it was to be interrupted.');
      }
      try {
        await kill();
      } finally {
        released.resolve();
      }
      await recover(publication.publication);
      await publications.expectPublished(publication);
      if (!mayContinue) await expectInterrupted(environment, publication.publication);
      await publications.expectRecovered('second');
    },
    close,
  };
}
