import { expect, test } from '@jest/globals';
import { daysBetween, onOneDay } from '../support/days.ts';
import { eventually } from '../support/eventually.ts';
import { FIXTURES, FIXTURES_DATE, fixturesAnd, nurseRow, times } from '../support/fixtures.ts';
import { sentTogether } from '../support/sent-together.ts';
import { seriesAt } from '../support/series.ts';
import { startService } from '../support/service.ts';

const NURSING = 'Nursing Board';
/** One of each of the 22 rows of the fixtures that are not rejected, one endorsement, and the one that is added. */
const LICENSES = 24;

const added = { individual: [nurseRow('ADDED, ADA', 'RN.700900')] };
const { api, environment, rest } = await startService({
  settings: { MCP_REQUESTS_PER_MINUTE: '2' },
  files: async (folder) => [FIXTURES, await fixturesAnd(folder, added)],
});

const series = () => seriesAt(environment.config.ADMIN_PORT);

/** By how much series grow while requests are made. */
async function growth(requests: () => Promise<unknown>) {
  const before = await series();
  await requests();
  const after = await series();
  return (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
}

test('the metrics count requests by interface and outcome', async () => {
  const more = await growth(async () => {
    await rest.verify({ board: NURSING, license_number: 'RN.700001' });
    await rest.verify({ board: NURSING, license_number: 'RN.0700001' });
    await rest.verify({ board: NURSING, last_name: 'Nobodywhoisthere' });
    await rest.verify({ board: 'Nursing' });
    await rest.get('/api/v1/lookup/boards');
    await rest.request('GET', '/api/v1/lookup/boards', { headers: { 'x-api-key': 'wrong' } });
    for (const _ of [1, 2, 3]) await rest.callTool('verify_license', { license_number: 'RN.700001' });
  });
  const outcomes = (name: string, all: readonly string[]) =>
    all.map((outcome) => more(`licenses_request_seconds_count{interface="${name}",outcome="${outcome}"}`));
  const ofRest = outcomes('rest', ['found', 'none', 'refused', 'answered', 'unauthorized']);
  expect([ofRest, outcomes('mcp', ['answered', 'limited'])]).toEqual([
    [1, 2, 1, 1, 1],
    [2, 1],
  ]);
  expect(more('licenses_tool_calls_total{tool="verify_license",outcome="found"}')).toBe(2);
});

test('the metrics show the batch sizes of OpenSearch requests, and their durations', async () => {
  const bodies = times(20, (number) => ({ board: NURSING, license_number: `RN.${700_000 + number}` }));
  const sent = { api, port: environment.config.PORT, key: rest.key, bodies };
  const more = await growth(() => sentTogether(sent));
  expect([
    more('licenses_batch_size_sum{asks="ids"}'),
    more('licenses_batch_size_count{asks="ids"}'),
    more('licenses_opensearch_seconds_count{asks="ids",answered="yes"}'),
  ]).toEqual([20, 1, 1]);
});

test('the metrics show the state of the data, the rate limits and the process', async () => {
  const { store, client } = environment;
  const { body: stored } = await client.count({ index: store.names.alias });
  // The count of the first request may have come too late for Redis: that is known for a minute.
  await eventually('limits are shared', async () => (await series()).get('licenses_limits_shared') === 1);
  const { today, answer: told } = await onOneDay(series);
  expect(stored.count).toBe(LICENSES);
  expect(told.get('licenses_publication_licenses')).toBe(stored.count);
  expect(told.get('licenses_publication_age_days')).toBe(daysBetween(FIXTURES_DATE, today));
  // Nothing else changed yet, and nobody knows how many usually do.
  expect([...told].filter(([name]) => name.startsWith('licenses_board_'))).toEqual([
    ['licenses_board_unchanged_days{board="Nursing Board"}', 0],
  ]);
  expect(told.get('licenses_lookups_in_flight')).toBe(0);
  expect(told.get('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
});

test('the metrics have no key, name or license number', async () => {
  await rest.verify({ board: NURSING, last_name: 'Secretive' });
  const text = [...(await series()).keys()].join('\n');
  expect(text).not.toMatch(/secretive|700001|olv_/i);
  expect(text).not.toContain(rest.key.slice(-4));
});
