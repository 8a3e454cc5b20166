import { randomInt } from 'node:crypto';
import getPort from 'get-port';

/** The address that only this machine reaches. */
const LOOPBACK = '127.0.0.1';

/**
 * From 32768 on, Linux gives ports to outgoing connections: one of those may be taken before a server that is to
 * listen on it has started.
 */
const FIRST_PORT = 10_000;
const LAST_PORT = 32_767;

const CANDIDATES = 50;

/** A free port of the loopback address. Two calls in this process never return the same port. */
export function freePort(): Promise<number> {
  const port = Array.from({ length: CANDIDATES }, () => randomInt(FIRST_PORT, LAST_PORT + 1));
  return getPort({ host: LOOPBACK, port });
}

/** Free ports of the loopback address. */
export function freePorts(count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, freePort));
}
