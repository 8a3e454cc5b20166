import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import getPort from 'get-port';
import { StartError } from './processes.ts';

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

/** Where something will listen, and the setting that names the port. */
export interface WantedPort {
  readonly setting: string;
  readonly host: string;
  readonly port: number;
}

/**
 * Checks that ports can be listened on, all at once. (get-port would answer with another port, not with the reason.)
 *
 * @throws {StartError} for the first that can't, naming the setting to change
 */
export async function checkPortsAreFree(ports: readonly WantedPort[]): Promise<void> {
  const servers: Server[] = [];
  try {
    for (const { setting, host, port } of ports) {
      const server = createServer().listen(port, host);
      servers.push(server);
      await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
        const what = error.code === 'EADDRINUSE' ? 'is taken' : `can't be listened on (${error.code})`;
        throw new StartError(
          `Port ${port} of ${host} ${what}: stop what uses it, or set ${setting} to another.`,
        );
      });
    }
  } finally {
    for (const server of servers) await new Promise((closed) => server.close(closed));
  }
}
