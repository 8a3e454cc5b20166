import { Server } from 'node:http';
import { Histogram } from 'prom-client';

/**
 * A process started with `--import` of this file has faults that nobody expects: on SIGUSR2 a timer throws, on SIGALRM
 * a promise is rejected that nobody waits for, and what counts requests to pages throws, in an event handler of each.
 * After SIGHUP, its servers never say that they are closed.
 */
const MESSAGE = 'injected by a test';

process.on('SIGUSR2', () => {
  setTimeout(() => {
    throw new Error(`${MESSAGE}, in a timer`);
  });
});
process.on('SIGALRM', () => {
  void Promise.reject(new Error(`${MESSAGE}, in a promise`));
});
process.on('SIGHUP', () => {
  Server.prototype.close = function close() {
    return this;
  };
});

/** Each histogram gets its `observe` when it is made. */
Object.defineProperty(Histogram.prototype, 'observe', {
  set(this: Histogram, observe: (...given: unknown[]) => void) {
    const value = (...given: unknown[]) => {
      const [labels] = given;
      const isPage = typeof labels === 'object' && labels !== null && Object.values(labels).includes('web');
      if (isPage) throw new Error(`${MESSAGE}, in an event handler`);
      observe.apply(this, given);
    };
    Object.defineProperty(this, 'observe', { value });
  },
});
