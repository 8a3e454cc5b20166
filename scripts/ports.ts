import { randomInt } from 'node:crypto';
import getPort from 'get-port';

/** The loopback address, which only this machine can reach. */
const LOOPBACK = '127.0.0.1';

/**
 * Linux uses ports from 32768 for outgoing connections. Such a port may be taken before the server that should listen
 * on it has started. `fetch` refuses port 10080.
 */
const FIRST_PORT = 10_081;
const LAST_PORT = 32_767;

const CANDIDATES = 50;

/** Finds a free loopback port. Two calls in this process never return the same port. */
export function freePort(): Promise<number> {
  const port = Array.from({ length: CANDIDATES }, () => randomInt(FIRST_PORT, LAST_PORT + 1));
  return getPort({ host: LOOPBACK, port });
}

/** Finds free loopback ports. */
export function freePorts(count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, freePort));
}
