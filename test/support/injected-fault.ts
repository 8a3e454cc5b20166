import { Server } from 'node:http';
import { Histogram } from 'prom-client';

/**
 * Injects unexpected faults into a process started with `--import` of this file. The histogram that counts page
 * requests throws in the event handler of each page request. On SIGUSR2 a timer throws; on SIGALRM a promise is
 * rejected that nobody awaits. After SIGHUP, the process's servers never report that they have closed.
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

/** Each histogram gets its own `observe` when it is created, so a setter intercepts it. */
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
