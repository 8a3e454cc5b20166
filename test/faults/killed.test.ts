import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { childrenOf } from '../support/children.ts';
import { faultTest, inForm } from '../support/fault-form.ts';
import { lapseLocks, type Publisher, publisher } from '../support/publisher.ts';
import { type RandomMoment, randomMoments, untilMoment } from '../support/random-moments.ts';

const ROWS = inForm({ short: 15_000, full: 40_000 });
const WORKER_KILLS = inForm({ short: 1, full: 20 });
const PATIENT_WORKER_KILLS = inForm({ short: 0, full: 2 });
const PROCESS_KILLS = inForm({ short: 1, full: 10 });

let publications: Publisher;

beforeAll(async () => {
  publications = await publisher({ rows: ROWS });
}, 180_000);
beforeEach(() => publications.makeReady(), 60_000);
afterAll(() => publications.stop());

/** @returns the seconds until the publication was live */
async function killWorker(moment: RandomMoment, isLockWaitedFor: boolean): Promise<number> {
  const publication = await publications.begin('large');
  await untilMoment(moment, publication, publications);
  const killedAt = Date.now();
  publications.worker().child.kill('SIGKILL');
  if (!isLockWaitedFor) await lapseLocks(publications.environment);
  await publications.startWorker();
  await publications.expectPublished(publication);
  const seconds = (Date.now() - killedAt) / 1000;
  await publications.expectRecovered('large');
  return seconds;
}

for (const moment of randomMoments(WORKER_KILLS, 'worker')) {
  faultTest(
    'worker killed (SIGKILL) at a random moment, its lock on the job lapsed at once',
    moment.name,
    async () => ({
      seconds: await killWorker(moment, false),
      outcome: 'the next worker starts the publication again; live',
    }),
    120_000,
  );
}

for (const moment of randomMoments(PATIENT_WORKER_KILLS, 'worker, lock waited for')) {
  faultTest(
    'worker killed (SIGKILL) at a random moment, its lock on the job waited for',
    moment.name,
    async () => ({
      seconds: await killWorker(moment, true),
      outcome: 'the next worker starts the publication again; live',
    }),
    240_000,
  );
}

for (const moment of randomMoments(PROCESS_KILLS, 'process')) {
  faultTest(
    "the publication's own process killed (SIGKILL) at a random moment",
    moment.name,
    async () => {
      const publication = await publications.begin('large');
      await untilMoment(moment, publication, publications);
      const killedAt = Date.now();
      for (const id of await childrenOf(publications.worker().child.pid ?? 0)) process.kill(id, 'SIGKILL');
      await publications.expectPublished(publication);
      const seconds = (Date.now() - killedAt) / 1000;
      await publications.expectRecovered('large');
      return { seconds, outcome: 'the worker starts the publication again; live' };
    },
    120_000,
  );
}
