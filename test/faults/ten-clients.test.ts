import { afterAll, beforeAll, expect } from '@jest/globals';
import { z } from 'zod';
import { readEvents } from '../../src/publications/ledger.ts';
import { faultTest, inForm } from '../support/fault-form.ts';
import { type Publisher, publisher } from '../support/publisher.ts';

const CLIENTS = 10;
const ROWS = inForm({ short: 5000, full: 40_000 });
const ROUNDS = inForm({ short: 1, full: 3 });

let publications: Publisher;

beforeAll(async () => {
  publications = await publisher({ rows: ROWS });
}, 120_000);
afterAll(() => publications.stop());

const answer = z.union([
  z.object({ state: z.literal('live'), publication: z.string() }),
  z
    .object({ state: z.literal('skipped'), live: z.string() })
    .transform(({ state, live }) => ({ state, publication: live })),
]);

for (let round = 1; round <= ROUNDS; round += 1) {
  faultTest(
    'the same publication asked for by ten clients at once',
    `round ${round}`,
    async () => {
      const { client, config } = publications.environment;
      const before = await readEvents(client, config.INDEX_PREFIX);
      const asked = await Promise.all(Array.from({ length: CLIENTS }, () => publications.publish('large')));
      expect(asked.map(({ code }) => code)).toEqual(asked.map(() => 0));
      const answers = asked.map(({ stdout }) => answer.parse(JSON.parse(stdout)));
      expect(new Set(answers.map(({ publication }) => publication)).size).toBe(1);

      const events = (await readEvents(client, config.INDEX_PREFIX)).slice(before.length);
      expect(events.filter(({ event }) => event === 'loading')).toHaveLength(1);
      const joined = answers.filter(({ state }) => state === 'live').length;
      await publications.expectRecovered('large');
      return { outcome: `one publication, told to ${joined}; ${CLIENTS - joined} found it live already` };
    },
    120_000,
  );
}
