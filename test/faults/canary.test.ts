import { expect, test } from '@jest/globals';
import { BOARDS } from '../../src/licenses/boards.ts';
import { publicationDetails } from '../../src/publications/history.ts';
import { indicesUnderAlias, newId } from '../../src/publications/metadata.ts';
import { licensesOf, writeDay } from '../support/day-files.ts';
import { FIXTURES } from '../support/fixtures.ts';
import { cut, type ProxyStep, pass } from '../support/proxy.ts';
import { filesOf, newEnvironment, nurses } from '../support/publication-days.ts';
import { publishFiles } from '../support/publishing.ts';

const environment = await newEnvironment();
/** Where nothing is live. */
const empty = await newEnvironment();
/** Files without faults. */
const clean = await filesOf(environment, '2026-11-20', { individual: nurses(5) });

/**
 * Publishes the fixtures; a step handles the lookups in the index that is about to go live, another one all requests
 * after the switch of the alias. `isLive` says that an earlier attempt has switched it.
 */
function publishedWith({
  at = environment,
  files = FIXTURES,
  publication = newId(),
  isGuarded = true,
  isLive = false,
  before = pass,
  after = pass,
}) {
  let step: 'loading' | 'asking' | 'live' = isLive ? 'live' : 'loading';
  return publishFiles(at, files, {
    publication,
    isGuarded,
    through: async (request) => {
      if (step === 'live') return after(request);
      if (step === 'asking' && isLookup(request.path)) return before(request);
      const answer = await request.forward();
      // The canary asks once the digest and the types beside it are written.
      if (request.path.includes('/_doc/types') && request.method === 'PUT') step = 'asking';
      if (request.path.startsWith('/_aliases') && request.method === 'POST') step = 'live';
      return answer;
    },
  });
}

/** Whether a request to this path is a lookup. */
const isLookup = (path: string): boolean => /\/_(m?search|mget)\b/.test(path) && path.includes('licenses-');

const withOtherCities: ProxyStep = async (request) => {
  const answer = await request.forward();
  return { ...answer, body: answer.body.replaceAll('"city":"', '"city":"NEW ') };
};

test('a wrong answer of a lookup in the new index refuses it before it is live', async () => {
  const publication = newId();
  const result = await publishedWith({ at: empty, files: clean, publication, before: withOtherCities });
  for (const differs of [
    /^canary: .*Nursing Board \S+, by number: the answer differs from the files/,
    /Nursing Board \S+, by person: /,
    /Pharmacy \S+, by business: /,
  ])
    expect(result).toMatchObject({ state: 'refused', reasons: [expect.stringMatching(differs)] });
  const failed = { board: null, column: null, measured: expect.any(Number), limit: 0, passed: false };
  expect(result).toMatchObject({ checks: expect.arrayContaining([{ check: 'canary', ...failed }]) });
  expect(await indicesUnderAlias(empty.store)).toEqual([]);
  expect((await publicationDetails(empty.store, publication)).summary.state).toBe('refused');
});

test('a number that is called ambiguous, as where its license is not found by id, refuses the index', async () => {
  const individual = ['X.1', 'x.1'].map((number) => ({ board: 'Nursing Board', number }));
  const business = licensesOf('Board of Pharmacy', '02', 1);
  const files = await writeDay(environment.folder, newId(), { date: '2026-11-20', individual, business });
  const before: ProxyStep = async (request) => {
    const answer = await request.forward();
    if (!request.path.includes('/_mget')) return answer;
    return { ...answer, body: answer.body.replaceAll('"found":true', '"found":false') };
  };
  const result = await publishedWith({ at: empty, files, before });
  const differs = /^canary: (?=.*Nursing Board X\.1, by number: )(?=.*Nursing Board x\.1, by number: )/;
  expect(result).toMatchObject({ state: 'refused', reasons: [expect.stringMatching(differs)] });
});

test('an attempt whose lookups in the new index get no answer fails, and can be made again', async () => {
  const publication = newId();
  const broken = { status: 500, body: '{"error":"broken","status":500}' };
  const unanswered = publishedWith({ at: empty, files: clean, publication, before: async () => broken });
  await expect(unanswered).rejects.toThrow();
  expect(await indicesUnderAlias(empty.store)).toEqual([]);
  expect((await publicationDetails(empty.store, publication)).summary.state).toBe('verifying');

  let lookups = 0;
  const before: ProxyStep = (request) => {
    lookups += 1;
    return (lookups <= 2 ? cut : pass)(request);
  };
  const result = await publishedWith({ at: await newEnvironment(), files: clean, before });
  expect(lookups).toBeGreaterThan(2);
  expect(result).toMatchObject({ state: 'live', is_found: true });
});

test('the canary finds holders however their names are written', async () => {
  const names = ['SMITH,MARY', 'SMITH , MARY', 'SMITH JR, MARY', 'SMITH', 'SMITH, -', '-, MARY'];
  const individual = [...names, `${'X'.repeat(900)}, MARY`].map((name, at) => ({
    ...{ name, number: 'RN.1', board: BOARDS[at]?.name ?? '' },
  }));
  const [boardOfMany = '', boardOfTwo = ''] = BOARDS.slice(names.length + 1).map((board) => board.name);
  // More than a lookup lists, and two licenses that a number means.
  for (let at = 0; at < 101; at += 1)
    individual.push({ name: 'SMITH, MARY', number: `RN.${at}`, board: boardOfMany });
  for (const number of ['X.1', 'X-1']) individual.push({ name: 'DOE, JOHN', number, board: boardOfTwo });
  const files = await writeDay(environment.folder, newId(), { date: '2026-11-20', individual, business: [] });
  const result = await publishedWith({ files: { ...files, business: FIXTURES.business }, isGuarded: false });
  expect(result).toMatchObject({
    ...{ state: 'live', licenses: 114 },
    overridden: expect.not.arrayContaining([expect.stringMatching(/^canary/)]),
  });
});

test('a publication that was killed right after the switch is completed: lookup, checks and unknown labels', async () => {
  const publication = newId();
  const killed = publishedWith({ publication, isGuarded: false, after: cut });
  await expect(killed).rejects.toThrow();
  let lookups = 0;
  const after: ProxyStep = (request) => {
    lookups += Number(isLookup(request.path));
    return request.forward();
  };
  const result = await publishedWith({ publication, isGuarded: false, isLive: true, after });
  expect(lookups).toBeGreaterThan(0);
  const { summary, events } = await publicationDetails(environment.store, publication);
  const steps = ['reading', 'loading', 'verifying', 'verifying', 'live'];
  expect(events.map(({ event }) => event)).toEqual(steps);
  expect(result).toMatchObject({ state: 'live', is_found: true, seconds: expect.any(Number) });
  expect(summary).toMatchObject({
    state: 'live',
    unknown_labels: expect.objectContaining({}),
    checks: expect.arrayContaining([expect.objectContaining({ check: 'canary', passed: true })]),
    forced: 'a test of something else',
  });
  expect(Object.keys(summary.unknown_labels ?? {})).not.toEqual([]);
});
