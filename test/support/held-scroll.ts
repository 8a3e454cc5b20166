import { readConfig } from '../../src/config.ts';
import { eventually } from './eventually.ts';
import { type ProxyStep, pass, startProxy } from './proxy.ts';

/** A proxy before OpenSearch that can hold the pages of exports. */
export interface HeldScroll {
  readonly url: string;
  /** How many scrolls were begun and not cleared. */
  readonly open: number;
  /** How many pages were asked for, the first ones left out. */
  readonly pages: number;
  /** Holds every page after the first from now on. */
  hold(): void;
  /** Waits until so many are held. */
  reached(count: number): Promise<void>;
  /** Lets what is held go on: as asked, unless a step is given. */
  release(step?: ProxyStep): void;
  /** What happens before the first page of the next scroll is asked for, once. */
  beforeNext(work: () => Promise<unknown>): void;
  close(): Promise<void>;
}

export async function heldScroll(server = readConfig().OPENSEARCH_URL): Promise<HeldScroll> {
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
    get open() {
      return open;
    },
    get pages() {
      return pages;
    },
    hold: () => {
      gate = Promise.withResolvers();
    },
    reached: (count) => eventually(`${count} pages are held`, async () => held >= count),
    release: (step = pass) => {
      gate?.resolve(step);
      gate = undefined;
    },
    beforeNext: (work) => {
      before = work;
    },
    close: () => proxy.close(),
  };
}
