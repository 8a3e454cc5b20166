import { connect, createServer, type Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { atEndOfTestFile } from '../../scripts/clean-up.ts';
import { testEnvironment } from '../../scripts/environment.ts';
import { startWorker } from '../../scripts/licenses-processes.ts';
import { eventually } from '../support/eventually.ts';
import { ownRedis } from '../support/own-servers.ts';
import { filesOf } from '../support/publication-days.ts';
import { publish } from '../support/worker-installation.ts';

/** One address that leads to one of several servers, as that of a managed Redis. Open connections stay. */
async function address(first: string) {
  let to = new URL(first);
  const server = createServer((client) => {
    const redis = connect(Number(to.port), to.hostname);
    const end = (one: Socket, other: Socket) => one.on('error', () => other.destroy()).pipe(other);
    end(client, redis);
    end(redis, client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEndOfTestFile(async () => void server.close());
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
  return {
    url: `redis://127.0.0.1:${port}`,
    leadsTo: (next: string) => {
      to = new URL(next);
    },
  };
}

test('the queue writes again after Redis has failed over behind its address, without a restart', async () => {
  const [before, after] = [await ownRedis(), await ownRedis()];
  const redis = await address(before.url);
  const environment = await testEnvironment({ REDIS_URL: redis.url });
  const worker = await startWorker(environment.variables);
  const admin = Number(/"port":(\d+)/.exec(worker.output())?.[1]);
  const ready = async () => (await fetch(`http://127.0.0.1:${admin}/readyz`)).status;
  const files = await filesOf(environment, '2026-11-20');
  expect(await publish({ environment }, files)).toMatchObject({ code: 0 });

  const old = new Redis(before.url);
  const { hostname, port } = new URL(after.url);
  await old.replicaof(hostname, Number(port));
  redis.leadsTo(after.url);
  // A replica that is still written to says so, and the connection is opened again.
  await eventually('the worker is ready', async () => (await ready()) === 200);
  expect(await publish({ environment }, await filesOf(environment, '2026-11-21'))).toMatchObject({ code: 0 });
  old.disconnect();
  await worker.stop();
});
