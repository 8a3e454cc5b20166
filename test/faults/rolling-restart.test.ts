/** @long @room lookups */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { startApi } from '../../scripts/licenses-processes.ts';
import { freePorts } from '../../scripts/ports.ts';
import { clientAt } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { times } from '../support/fixtures.ts';
import { answer, startProxy, type WebServer } from '../support/proxy.ts';
import { requestsEnded } from '../support/series.ts';
import { startService } from '../support/service.ts';

const CLIENTS = 16;
const ROUNDS = 5;
const CHECKED_EVERY_MS = 200;
/** Far longer than the load balancer needs to see that a process is not ready, also on a busy machine. */
const DRAIN_SECONDS = '10';

/** An API process, as a load balancer knows it. */
type Upstream = { readonly port: number; readonly adminPort: number };

let isOver = false;
const ready = new Set<Upstream>();

/** Checks again and again whether a process is ready. */
async function check(upstream: Upstream): Promise<void> {
  while (!isOver) {
    const checked = await fetch(`http://127.0.0.1:${upstream.adminPort}/readyz`).catch(() => undefined);
    await checked?.body?.cancel();
    if (checked?.status === 200) ready.add(upstream);
    else ready.delete(upstream);
    await sleep(CHECKED_EVERY_MS);
  }
}

/** Forwards each request once, to the processes that are ready in turn: what fails there fails for the client. */
function startBalancer(): Promise<WebServer> {
  let turn = 0;
  return startProxy('', (request) => {
    turn += 1;
    const upstream = [...ready][turn % ready.size];
    if (upstream === undefined) return answer(502)(request);
    return request.forward({ to: `http://127.0.0.1:${upstream.port}` });
  });
}

function variablesOf({ port, adminPort }: Upstream): Record<string, string> {
  const ports = { PORT: String(port), ADMIN_PORT: String(adminPort) };
  return { ...service.environment.variables, DRAIN_SECONDS, ...ports };
}

const service = await startService();
const [port = 0, adminPort = 0, otherPort = 0, otherAdminPort = 0] = await freePorts(4);
const upstreams: readonly Upstream[] = [
  { port, adminPort },
  { port: otherPort, adminPort: otherAdminPort },
];
const processes = await Promise.all(upstreams.map((upstream) => startApi(variablesOf(upstream))));
void Promise.all(upstreams.map(check));
await eventually('both are ready', () => ready.size === upstreams.length);
const balancer = await startBalancer();
afterAll(() => {
  isOver = true;
});

const licenseNumber = z.object({ license_number: z.string() });

/** The responses that clients got. */
let right = 0;
const wrong: string[] = [];

/** Sends lookups without pause over kept connections until `hasEnded`. Every response must be the right one. */
async function ask(at: number, hasEnded: () => boolean): Promise<void> {
  const number = `RN.${700_001 + (at % 2)}`;
  while (!hasEnded()) {
    const { text, status } = await clientAt(balancer.url, service.rest.key)
      .verify({ board: 'Nursing Board', license_number: number })
      .catch((error: unknown) => ({ text: String(error), status: 0 }));
    const isRight = status === 200 && licenseNumber.parse(JSON.parse(text)).license_number === number;
    if (isRight) right += 1;
    else wrong.push(text);
  }
}

/**
 * Stops a process and starts another in its place. Expects that both answered lookups, and that the first one exited
 * without being killed.
 */
async function restart(at: number, upstream: Upstream): Promise<void> {
  const old = processes[at];
  await untilAnswering(upstream);
  await old?.stop();
  expect(old?.child).toMatchObject({ exitCode: 0, signalCode: null });
  processes[at] = await startApi(variablesOf(upstream));
  await untilAnswering(upstream);
}

const untilAnswering = ({ adminPort }: Upstream) =>
  eventually('it answers lookups under load', async () => (await requestsEnded(adminPort, 'rest')) > 0);

test('two API processes restarted one after the other (SIGTERM) under load', async () => {
  let hasEnded = false;
  const asking = times(CLIENTS, (at) => ask(at, () => hasEnded));
  const ids = new Set(processes.map(({ child }) => child.pid));
  const meanwhile: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [at, upstream] of upstreams.entries()) {
      const before = right;
      await restart(at, upstream);
      meanwhile.push(right - before);
      ids.add(processes[at]?.child.pid);
    }
  }
  hasEnded = true;
  await Promise.all(asking);
  expect(wrong).toEqual([]);
  expect(ids.size).toBe(upstreams.length * (ROUNDS + 1));
  expect(Math.min(...meanwhile)).toBeGreaterThan(CLIENTS);
});
