import { readConfig } from '../../src/config.ts';
import { eventually } from './eventually.ts';
import { type ProxyStep, pass, startProxy } from './proxy.ts';

export type HeldScroll = Awaited<ReturnType<typeof heldScroll>>;

/** A proxy before OpenSearch that can hold the pages of exports. */
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
    /** How many scrolls were begun and not cleared. */
    get open() {
      return open;
    },
    /** How many pages were asked for, the first ones left out. */
    get pages() {
      return pages;
    },
    /** Holds every page after the first from now on. */
    hold: () => {
      gate = Promise.withResolvers();
    },
    /** Waits until so many are held. */
    reached: (count: number) => eventually(`${count} pages are held`, async () => held >= count),
    /** Lets what is held go on: as asked, unless a step is given. */
    release: (step: ProxyStep = pass) => {
      gate?.resolve(step);
      gate = undefined;
    },
    /** What happens before the first page of the next scroll is asked for, once. */
    beforeNext: (work: () => Promise<unknown>) => {
      before = work;
    },
  };
}
