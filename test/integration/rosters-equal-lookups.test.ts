import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { storedLicense } from '../../src/licenses/license-document.ts';
import { search } from '../../src/storage/checked-search.ts';
import type { ApiAnswer } from '../support/api.ts';
import { FIXTURES_DATE } from '../support/fixtures.ts';
import { itemsAbout, type SentItem } from '../support/roster-items.ts';
import { startService, type TestService } from '../support/service.ts';

/** Enough that some names have more matches than a roster lists, and some more than a lookup returns. */
const ROWS = 20_000;
const ITEMS = 4000;
/** Rosters of one item, of one window, of a window and one, and of the most that there may be. */
const ROSTER_SIZES = [1, 100, 250, 251, 1000];
const SEED = Math.floor(Math.random() * 1_000_000);

let service: TestService;

beforeAll(async () => {
  service = await startService({
    files: (folder) => writeSampleData({ directory: folder, rows: ROWS, seed: 7, date: FIXTURES_DATE }),
  });
}, 120_000);
afterAll(() => service.stop());

const hits = z.object({ hits: z.object({ hits: z.array(z.object({ _source: storedLicense })) }) });

async function someLicenses() {
  const { client, store } = service.environment;
  const { hits: found } = await search(client, hits, {
    index: store.names.alias,
    body: { size: 2000, from: SEED % 8000, sort: ['_doc'] },
  });
  return found.hits.map(({ _source }) => _source);
}

const result = z.looseObject({ outcome: z.string() });
const answer = z.object({
  count: z.int(),
  summary: z.record(z.string(), z.int()),
  results: z.array(result),
});

async function sendRoster(items: readonly SentItem[], maxMatches: number) {
  const { status, body } = await service.rest.request('POST', '/api/v1/lookup/batch', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ items, max_matches: maxMatches }),
  });
  expect(status).toBe(200);
  return answer.parse(body);
}

const verified = z.looseObject({
  multiple: z.array(z.unknown()).optional(),
  truncated: z.boolean().optional(),
  found: z.boolean().optional(),
  detail: z.string().optional(),
  message: z.string().optional(),
  did_you_mean: z.array(z.string()).optional(),
});

/** What a roster's result must be, by the answer of /lookup/verify to the same fields. */
function expectedResult({ status, body }: ApiAnswer, maxMatches: number, isOmitted: boolean): object {
  const { multiple, truncated, found, detail, message, did_you_mean } = verified.parse(body);
  if (status === 400) return { outcome: 'invalid', detail };
  if (status === 404 || found === false) {
    return isOmitted
      ? { outcome: 'not_found', detail: expect.any(String), did_you_mean: [], suggestions_omitted: true }
      : { outcome: 'not_found', detail: detail ?? message, did_you_mean };
  }
  expect(status).toBe(200);
  if (multiple === undefined) return { outcome: 'found', record: body };
  return {
    outcome: 'ambiguous',
    matches: multiple.slice(0, maxMatches),
    truncated: truncated === true || multiple.length > maxMatches,
  };
}

test('every item of a roster is answered as a single lookup answers it', async () => {
  const items = itemsAbout(await someLicenses(), ITEMS, SEED);
  const counts = new Map<string, number>();
  let [start, round] = [0, 0];
  while (start < items.length) {
    const roster = items.slice(start, start + (ROSTER_SIZES[round % ROSTER_SIZES.length] ?? 1));
    const maxMatches = 1 + ((round * 7) % 20);
    const { count, summary, results } = await sendRoster(roster, maxMatches);
    expect([count, results.length]).toEqual([roster.length, roster.length]);
    let misses = 0;
    for (let at = 0; at < roster.length; at += 25) {
      const singles = await Promise.all(roster.slice(at, at + 25).map((item) => service.rest.verify(item)));
      for (const [offset, single] of singles.entries()) {
        const item = roster[at + offset];
        const result = results[at + offset];
        if (result === undefined) throw new Error('The roster has too few results.');
        const { outcome, ...rest } = result;
        if (outcome === 'not_found') misses += 1;
        const expected = expectedResult(single, maxMatches, misses > 50);
        expect({ item, seed: SEED, outcome, ...rest }).toEqual({
          item,
          seed: SEED,
          index: at + offset,
          reference: null,
          ...expected,
        });
        counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
      }
    }
    expect(Object.values(summary).reduce((sum, each) => sum + each, 0)).toBe(roster.length);
    start += roster.length;
    round += 1;
  }
  for (const outcome of ['found', 'ambiguous', 'not_found', 'invalid']) {
    expect([outcome, counts.get(outcome)]).toEqual([outcome, expect.any(Number)]);
    expect(counts.get(outcome)).toBeGreaterThan(ITEMS / 50);
  }
}, 180_000);
