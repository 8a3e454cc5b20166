/** @room lookups */
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from '@jest/globals';
import pLimit from 'p-limit';
import { z } from 'zod';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import type { View } from '../../src/answers/view.ts';
import { addTo } from '../../src/licenses/counts.ts';
import { numberKey } from '../../src/licenses/fold.ts';
import { type StoredLicense, storedLicense } from '../../src/licenses/license.ts';
import { NOT_FOUND_REASONS } from '../../src/licenses/lookup.ts';
import { CAUTIONS, NOTES } from '../../src/licenses/standing.ts';
import { MAX_ITEMS_WITH_SUGGESTIONS } from '../../src/rosters/service.ts';
import { search } from '../../src/storage/checked-search.ts';
import type { ApiAnswer } from '../support/api.ts';
import { type CommonAnswer, ofVerify } from '../support/common-answers.ts';
import { eventually } from '../support/eventually.ts';
import { inForm, SEED } from '../support/fault-form.ts';
import { FIXTURES_DATE, withRows } from '../support/fixtures.ts';
import { hasNumber, hasSameBoard, type Interface, interfacesOf, TOGETHER } from '../support/interfaces.ts';
import type { DatasetFiles } from '../support/publishing.ts';
import {
  CROWD,
  FIRST_DAY_ROWS,
  LEFT_QUESTIONS,
  ODD_NUMBERS,
  ODD_ROWS,
  type Question,
  questionsAbout,
  SECOND_DAY_ROWS,
} from '../support/questions.ts';
import { sendRoster } from '../support/rosters.ts';
import { startService, type TestService } from '../support/service.ts';

/** Enough that some names have more matches than a roster lists, and some more than a lookup returns. */
const ROWS = inForm({ short: 3000, long: 20_000 });
const QUESTIONS = inForm({ short: 800, long: 4000 });
/** Rosters of one item, of one window, of a window and one, and of the most that there may be. */
const ROSTER_SIZES = [1, 100, 250, 251, 1000];
/** What is suggested for these is chosen from more licenses than a roster lists matches. */
const SIMILAR_TO_MANY: readonly Question[] = [
  { board: 'Cosmetology and Barber Board', search_type: 'business', business_name: 'VAIL' },
  { board: 'Nursing Board', license_number: 'RN.75007X0', last_name: 'CROWD' },
];

/** What POST /lookup/verify answers to each question. */

async function sampleAndOddRows(folder: string): Promise<DatasetFiles[]> {
  const options = { directory: folder, rows: ROWS, seed: 7, date: FIXTURES_DATE };
  const { individual, business } = await writeSampleData(options);
  const days = [FIRST_DAY_ROWS, SECOND_DAY_ROWS].map(async (rows, day) => ({
    individual: await withRows(individual, join(folder, `day-${day}.csv`), [...ODD_ROWS, ...CROWD, ...rows]),
    business,
  }));
  return Promise.all(days);
}

const hits = z.object({ hits: z.object({ hits: z.array(z.object({ _source: storedLicense })) }) });

const service = await startService({ files: sampleAndOddRows });
const { client, store } = service.environment;
const many = await someLicenses({ size: 2000, from: SEED % (ROWS - 2000) });
const odd = await someLicenses({
  size: 100,
  query: { terms: { 'keys.number': ODD_NUMBERS.map(numberKey) } },
});
expect(odd.length).toBeGreaterThanOrEqual(ODD_NUMBERS.length);
const questions = [
  ...SIMILAR_TO_MANY,
  ...LEFT_QUESTIONS,
  ...questionsAbout(many, odd, QUESTIONS, SEED),
].slice(0, QUESTIONS);
const answers = await verifiedBy(service);

/** On a busy machine a lookup may take longer than it may: then the question is asked again. */
async function answerTo({ rest }: Pick<TestService, 'rest'>, question: unknown): Promise<ApiAnswer> {
  let answer = await rest.verify(question);
  await eventually('the question is answered', async () => {
    if (answer.status === 503) answer = await rest.verify(question);
    return answer.status !== 503;
  });
  return answer;
}

function verifiedBy(service: TestService): Promise<ApiAnswer[]> {
  const inTurn = pLimit(TOGETHER);
  return Promise.all(questions.map((question) => inTurn(() => answerTo(service, question))));
}

async function someLicenses(body: Record<string, unknown>): Promise<StoredLicense[]> {
  // A load writes licenses in no fixed order, but a seed stands for the same questions.
  const sorted = { ...body, sort: ['keys.number', 'board'] };
  const { hits: found } = await search(client, hits, { index: store.names.alias, body: sorted });
  return found.hits.map(({ _source }) => _source);
}

/** So many questions end in each of the four ways, and so many are of each rarer kind. */
const FEWEST_OF_AN_OUTCOME = QUESTIONS / 50;
const FEWEST_OF_A_KIND = inForm({ short: 1, long: 5 });

test('the questions are of all the kinds that there are', () => {
  const counts = new Map<string, number>();
  for (const { outcome, isCut, reason, licenses } of answers.map(ofVerify)) {
    const codes = licenses.flatMap(({ cautions = '', notes = '' }) => `${cautions} ${notes}`.split(' '));
    for (const kind of new Set([outcome, isCut && 'cut', reason, ...codes])) {
      if (kind) addTo(counts, kind);
    }
  }
  const isBelow = (fewest: number) => (kind: string) => (counts.get(kind) ?? 0) < fewest;
  const few = [
    ...['found', 'several', 'none', 'invalid'].filter(isBelow(FEWEST_OF_AN_OUTCOME)),
    ...['cut', ...NOT_FOUND_REASONS, ...CAUTIONS, ...NOTES].filter(isBelow(FEWEST_OF_A_KIND)),
  ];
  expect({ seed: SEED, counts: Object.fromEntries(counts), few }).toMatchObject({ few: [] });
});

/** Interfaces with a request for each question are asked only so many: they take the time. */
const QUESTIONS_OF_SINGLE_REQUESTS = inForm({ short: 400, long: 1500 });

/** Each interface takes at least this share of the questions. */
const FEWEST_TAKEN = 0.6;

/** The interface's answers to the questions that it takes, by question. */
async function answersOf({ takes, isSingle, ask }: Interface) {
  const taken = questions.slice(0, isSingle ? QUESTIONS_OF_SINGLE_REQUESTS : QUESTIONS).filter(takes);
  const given = await ask(taken);
  return new Map(taken.map((question, at) => [question, given[at]]));
}

test('the same question gets the same answer over every interface', async () => {
  const asked: (Interface & { readonly given: Awaited<ReturnType<typeof answersOf>> })[] = [];
  // One after the other: rosters wait while single lookups are under way.
  for (const each of interfacesOf(service)) asked.push({ ...each, given: await answersOf(each) });
  const statewide = asked.find(({ searchesAllBoards }) => searchesAllBoards)?.given;
  const compared = new Map<string, number>();
  const differences = questions.flatMap((question, at) => {
    const rest = ofVerify(answerAt(at));
    const said = new Map([['POST /lookup/verify', rest]]);
    const different = asked.flatMap(({ name, searchesAllBoards, expected, given }) => {
      const answer = given.get(question);
      // REST asks for the board. Without one, the others are compared with the first that searches all boards.
      const isStatewide = searchesAllBoards && question.board === undefined;
      const reference = isStatewide ? statewide?.get(question) : rest;
      if (answer === undefined || reference === undefined) return [];
      said.set(name, answer);
      addTo(compared, name);
      return isDeepStrictEqual(answer, expected(reference)) ? [] : [name];
    });
    const answers = Object.fromEntries([...said].map(([name, answer]) => [name, inWords(answer)]));
    return different.length === 0 ? [] : [{ question, different, answers }];
  });
  // One of each kind is enough to read.
  const kinds = Map.groupBy(differences, ({ different }) => different.join());
  const examples = [...kinds.values()].map(([first, ...others]) => ({ ...first, others: others.length }));
  expect({ seed: SEED, examples }).toEqual({ seed: SEED, examples: [] });
  // Each has no field for some of the questions.
  const few = asked.filter(({ name, isSingle }) => {
    const all = isSingle ? QUESTIONS_OF_SINGLE_REQUESTS : QUESTIONS;
    return (compared.get(name) ?? 0) < FEWEST_TAKEN * all;
  });
  expect({ few: few.map(({ name }) => name), compared: [...compared] }).toMatchObject({ few: [] });
});

test('the number of shards changes no answer', async () => {
  const sharded = await startService({ files: sampleAndOddRows, settings: { INDEX_SHARDS: '5' } });
  const given = await verifiedBy(sharded);
  const differences = questions.flatMap((question, at) => {
    const [one, other] = [answerAt(at).body, given[at]?.body];
    return isDeepStrictEqual(one, other) ? [] : [{ question, one, other }];
  });
  const examples = differences.slice(0, 3);
  expect({ seed: SEED, count: differences.length, examples }).toMatchObject({ count: 0, examples: [] });
});

function answerAt(at: number): ApiAnswer {
  const answer = answers[at];
  if (answer === undefined) throw new Error('There are fewer answers than questions.');
  return answer;
}

function inWords({ outcome, licenses, isCut, reason }: CommonAnswer): string {
  const listed = licenses.map(
    ({ board, number, cautions }) => `${board} ${number}${cautions === undefined ? '' : ` [${cautions}]`}`,
  );
  return [outcome, reason, listed.join(', '), isCut && 'and more'].filter(Boolean).join(': ');
}

const rosterBody = z.object({
  count: z.int(),
  summary: z.record(z.string(), z.int()),
  results: z.array(z.looseObject({ outcome: z.string() })),
});

const verified = z.looseObject({
  ...{ multiple: z.array(z.unknown()).optional(), truncated: z.boolean().optional() },
  ...{ found: z.boolean().optional(), cautions: z.array(z.string()).optional() },
  ...{ reason: z.string().optional(), detail: z.string().optional(), message: z.string().optional() },
  ...{ did_you_mean: z.array(z.string()).optional(), name_match: z.boolean().optional() },
});

/** What a roster's result must be, by the answer of /lookup/verify to the same fields. */
function expectedResult(
  question: Question,
  { status, body }: ApiAnswer,
  maxMatches: number,
  isOmitted: boolean,
): object {
  const { multiple, truncated, found, detail, message, ...others } = verified.parse(body);
  if (status === 400) return { outcome: 'invalid', detail };
  if (status === 404 || found === false) {
    const { source: _s, last_scraped: _l, data_age_days: _d, count: _c, ...facts } = others;
    const { did_you_mean_name_match: _n, ...omitted } = z.looseObject({}).parse(facts);
    return isOmitted
      ? {
          ...{ outcome: 'not_found', ...omitted, did_you_mean: [] },
          ...{ detail: expect.any(String), suggestions_omitted: true },
        }
      : { outcome: 'not_found', ...facts, detail: detail ?? message };
  }
  expect(status).toBe(200);
  if (multiple === undefined) {
    const { name_at_board: _n, ...omitted } = z.looseObject({}).parse(body);
    const record = isOmitted ? omitted : body;
    return { outcome: 'found', found_by: hasNumber(question) ? 'number' : 'name', record };
  }
  return {
    outcome: 'ambiguous',
    matches: multiple.slice(0, maxMatches),
    truncated: truncated === true || multiple.length > maxMatches,
  };
}

test('every item of a roster is answered with all that a single lookup answers', async () => {
  let [start, round] = [0, 0];
  // A roster also takes a number without a board, and a board by its code or short name.
  const places = [...questions.keys()].filter((at) => hasSameBoard(questions[at] ?? {}));
  while (start < places.length) {
    const chosen = places.slice(start, start + (ROSTER_SIZES[round % ROSTER_SIZES.length] ?? 1));
    const items = chosen.map((at) => questions[at] ?? {});
    const maxMatches = 1 + ((round * 7) % 20);
    const { status, body } = await sendRoster(service.rest, { items, max_matches: maxMatches });
    expect(status).toBe(200);
    const { count, summary, results } = rosterBody.parse(body);
    expect([count, results.length]).toEqual([items.length, items.length]);
    const counted = { found: 0, clear: 0, ambiguous: 0, not_found: 0, invalid: 0 };
    let withSuggestions = 0;
    for (const [index, question] of items.entries()) {
      const single = answerAt(chosen[index] ?? -1);
      const { outcome, ...rest } = results[index] ?? { outcome: 'missing' };
      if (outcome === 'found' && verified.parse(single.body).cautions?.length === 0) counted.clear += 1;
      if (isOutcome(outcome)) counted[outcome] += 1;
      const { reason = 'unknown', name_match: nameMatch } = verified.parse(single.body);
      // Any other miss says already which licenses are meant.
      const hasSuggestions = (outcome === 'not_found' && reason === 'unknown') || nameMatch === false;
      if (hasSuggestions) withSuggestions += 1;
      const isOmitted = hasSuggestions && withSuggestions > MAX_ITEMS_WITH_SUGGESTIONS;
      expect({ question, seed: SEED, outcome, ...rest }).toEqual({
        ...{ question, seed: SEED, index, reference: null },
        ...expectedResult(question, single, maxMatches, isOmitted),
      });
    }
    expect(summary).toEqual(counted);
    start += items.length;
    round += 1;
  }
});

function isOutcome(outcome: string): outcome is View['outcome'] {
  return ['found', 'ambiguous', 'not_found', 'invalid'].includes(outcome);
}
