import { readConfig } from '../../src/config.ts';
import { eventually } from './eventually.ts';
import { type ProxyStep, pass, startProxy } from './proxy.ts';

/** A proxy in front of OpenSearch that can hold the pages of exports. */
export async function heldScroll(server = readConfig().OPENSEARCH_URL) {
  let gate: PromiseWithResolvers<ProxyStep> | undefined;
  let held = 0;
  let open = 0;
  let pages = 0;
  let before: (() => Promise<unknown>) | undefined;
  const proxy = await startProxy(server, async (request) => {
    const isScroll = request.path.startsWith('/_search/scroll');
    if (isScroll && request.method !== 'DELETE') pages += 1;
    if (isScroll && request.method === 'DELETE') open -= 1;
    else if (isScroll && gate !== undefined) {
      held += 1;
      const step = await gate.promise;
      held -= 1;
      return step(request);
    } else if (/_search\?.*scroll=/.test(request.path)) {
      open += 1;
      const work = before;
      before = undefined;
      await work?.();
    }
    return request.forward();
  });
  return {
    url: proxy.url,
    /** The number of scrolls that were started and not cleared. */
    get open() {
      return open;
    },
    /** The number of requested pages, except the first pages. */
    pages: () => pages,
    /** From now on, holds every page after the first. */
    hold: () => {
      gate = Promise.withResolvers();
    },
    /** Waits until this many pages are held. */
    reached: (count: number) => eventually(`${count} pages are held`, async () => held >= count),
    /** Releases the held requests: unchanged, or with the given step. */
    release: (step: ProxyStep = pass) => {
      gate?.resolve(step);
      gate = undefined;
    },
    /** Runs the work once, before the first page of the next scroll is requested. */
    beforeNext: (work: () => Promise<unknown>) => {
      before = work;
    },
  };
}
