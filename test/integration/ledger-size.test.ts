import { beforeAll, expect, test } from '@jest/globals';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { publicationHistory } from '../../src/publications/history.ts';
import { appendEvent, readEvents } from '../../src/publications/ledger.ts';
import { prepareIndices } from '../../src/storage/templates.ts';
import { throughProxy } from '../support/proxy.ts';

const AT = '2026-11-20T00:00:00.000Z';

let environment: TestEnvironment;

beforeAll(async () => {
  environment = await testEnvironment();
  await prepareIndices(environment.store);
});

/** So many labels, as of a file whose STATUS column has free text. */
function labels(count: number): Record<string, number> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`${at} ${'free text '.repeat(20)}`, at]),
  );
}

test('the ledger is read by pages, in order, without the labels that an earlier version wrote unbounded', async () => {
  const { client, store } = environment;
  const index = store.names.ledger;
  const statuses = labels(4000);
  for (let large = 0; large < 5; large += 1)
    await client.index({ index, body: { publication: `large${large}`, at: AT, event: 'refused', statuses } });
  const ids = Array.from({ length: 2500 }, (_, at) => `run${at}`);
  await client.bulk({
    index,
    refresh: true,
    body: ids.flatMap((publication) => [{ index: {} }, { publication, at: AT, event: 'queued' }]),
  });

  let bytes = 0;
  const { publications } = await throughProxy(
    environment,
    async (request) => {
      const answer = await request.forward();
      bytes += answer.body.length;
      return answer;
    },
    (through) => publicationHistory(through.store),
  );
  const listed = publications.map(({ publication }) => publication).filter((id) => id.startsWith('run'));
  expect(listed).toEqual(ids.toReversed());
  expect(publications.find(({ publication }) => publication === 'large3')).toMatchObject({
    state: 'refused',
  });
  expect(bytes).toBeLessThan(2_000_000);
});

test('an event is bounded, however much went wrong', async () => {
  const { store } = environment;
  await appendEvent(store, {
    publication: 'wide',
    event: 'refused',
    unknown_labels: { constructor: 3 },
    reasons: Array(1000).fill('y'.repeat(100_000)),
  });
  const [event] = await readEvents(store, 'wide');
  expect(JSON.stringify(event).length).toBeLessThan(100_000);
  expect(event?.unknown_labels).toMatchObject({ constructor: 3 });
});
