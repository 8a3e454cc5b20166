import { Gauge } from 'prom-client';
import { metrics } from '../../src/telemetry/metrics.ts';

/**
 * A process started with `--import` of this file reports at /metrics the longest turn of its event loop since the last
 * scrape. The length is the user CPU time of the main thread between two runs of a timer that is always due, because a
 * turn delays the timer until it ends. Wall-clock time would also count other processes on the machine, process CPU
 * time would count other threads, and kernel time would count the machine's memory management.
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
