import { Gauge } from 'prom-client';
import { metrics } from '../../src/telemetry/metrics.ts';

/**
 * A process started with `--import` of this file says at /metrics how long one turn of its event loop kept it since
 * the last scrape, at most. That is the user CPU time of its main thread between two runs of a timer that is always due: a
 * turn delays the timer to its end. The time of a clock would also count what other processes of the machine do, the CPU
 * time of the process what its other threads do, and the time in the kernel how the machine hands out memory.
 */
const DUE_AFTER_MS = 1;

let before = process.threadCpuUsage();
let longest = 0;

setInterval(() => {
  const now = process.threadCpuUsage();
  longest = Math.max(longest, now.user - before.user);
  before = now;
}, DUE_AFTER_MS).unref();

new Gauge({
  name: 'test_longest_turn_ms',
  help: 'User CPU time of the longest turn since the last scrape',
  registers: [metrics],
  collect() {
    this.set(longest / 1000);
    longest = 0;
  },
});
