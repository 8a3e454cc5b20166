import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { z } from 'zod';
import { type Balancer, balancer, type Upstream } from '../support/balancer.ts';
import { freePorts } from '../support/environment.ts';
import { faultTest, inForm } from '../support/fault-form.ts';
import { type RunningProcess, startApi } from '../support/processes.ts';
import { startService, type TestService } from '../support/service.ts';

const CLIENTS = 16;
const ROUNDS = inForm({ short: 1, full: 5 });
const DRAIN_SECONDS = '1';

let service: TestService;
let processes: RunningProcess[];
let upstreams: readonly Upstream[];
let behind: Balancer;

function variablesOf({ port, adminPort }: Upstream): Record<string, string> {
  return {
    ...service.environment.variables,
    DRAIN_SECONDS,
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
  };
}

beforeAll(async () => {
  service = await startService();
  const [port = 0, adminPort = 0, otherPort = 0, otherAdminPort = 0] = await freePorts(4);
  upstreams = [
    { port, adminPort },
    { port: otherPort, adminPort: otherAdminPort },
  ];
  processes = await Promise.all(upstreams.map((upstream) => startApi(variablesOf(upstream))));
  behind = await balancer(upstreams);
}, 60_000);
afterAll(async () => {
  await behind.close();
  await Promise.all(processes.map((each) => each.stop()));
  await service.stop();
});

const licenseNumber = z.object({ license_number: z.string() });

/** Asks without pause by kept connections until it is told to stop; every answer must be the one asked for. */
async function askUntil(hasEnded: () => boolean, at: number): Promise<{ right: number; wrong: string[] }> {
  const number = `RN.${700_001 + (at % 2)}`;
  const wrong: string[] = [];
  let right = 0;
  while (!hasEnded()) {
    const answer = await fetch(`${behind.url}/api/v1/lookup/verify`, {
      method: 'POST',
      headers: { 'x-api-key': service.rest.key, 'content-type': 'application/json' },
      body: JSON.stringify({ board: 'Nursing Board', license_number: number }),
    }).catch((error: unknown) => error);
    const text = answer instanceof Response ? await answer.text() : String(answer);
    const isRight =
      answer instanceof Response &&
      answer.status === 200 &&
      licenseNumber.parse(JSON.parse(text)).license_number === number;
    if (isRight) right += 1;
    else wrong.push(text);
  }
  return { right, wrong };
}

faultTest(
  'two API processes restarted one after the other (SIGTERM) under load',
  '',
  async () => {
    let hasEnded = false;
    const asking = Array.from({ length: CLIENTS }, (_, at) => askUntil(() => hasEnded, at));
    const begun = Date.now();
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [at, upstream] of upstreams.entries()) {
        await processes[at]?.stop();
        processes[at] = await startApi(variablesOf(upstream));
        await sleep(1000);
      }
    }
    const seconds = (Date.now() - begun) / 1000;
    hasEnded = true;
    const answers = await Promise.all(asking);
    expect(answers.flatMap(({ wrong }) => wrong)).toEqual([]);
    const right = answers.reduce((sum, each) => sum + each.right, 0);
    expect(right).toBeGreaterThan(CLIENTS);
    return { seconds, outcome: 'no request of any client fails' };
  },
  180_000,
);
