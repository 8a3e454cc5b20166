import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** One API process as a balancer knows it. */
export interface Upstream {
  readonly port: number;
  readonly adminPort: number;
}

/** A proxy that hands requests in turn to the processes that say that they are ready. */
export interface Balancer {
  readonly url: string;
  close(): Promise<void>;
}

const ASKS_EVERY_MS = 200;

/** It never tries a request a second time: what fails behind it fails for the client. */
export async function balancer(upstreams: readonly Upstream[]): Promise<Balancer> {
  const agent = new Agent({ keepAlive: true });
  const ready = new Set<Upstream>();
  let isOpen = true;
  let turn = 0;

  async function follow(upstream: Upstream): Promise<void> {
    while (isOpen) {
      const answer = await fetch(`http://127.0.0.1:${upstream.adminPort}/readyz`).catch(() => undefined);
      await answer?.body?.cancel();
      if (answer?.status === 200) ready.add(upstream);
      else ready.delete(upstream);
      await sleep(ASKS_EVERY_MS);
    }
  }

  function forward(incoming: IncomingMessage, response: ServerResponse): void {
    const choice = [...ready];
    turn += 1;
    const upstream = choice[turn % choice.length];
    if (upstream === undefined) {
      response.writeHead(502).end();
      return;
    }
    const { method = 'GET', url: path = '/', headers } = incoming;
    const sent = request(
      { host: '127.0.0.1', port: upstream.port, method, path, headers, agent },
      (answer) => {
        const { connection: _, 'keep-alive': __, ...kept } = answer.headers;
        response.writeHead(answer.statusCode ?? 502, kept);
        answer.pipe(response);
      },
    );
    sent.on('error', () => {
      if (!response.headersSent) response.writeHead(502);
      response.end();
    });
    incoming.pipe(sent);
  }

  const following = upstreams.map(follow);
  const server = createServer(forward);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  while (ready.size < upstreams.length) await sleep(ASKS_EVERY_MS);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      isOpen = false;
      server.closeAllConnections();
      await Promise.all([...following, new Promise((resolve) => server.close(resolve))]);
      agent.destroy();
    },
  };
}
