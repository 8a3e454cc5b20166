import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { matchesIn, numberMissIn, numbersIn, recordIn } from '../support/answers.ts';
import type { ApiAnswer } from '../support/api.ts';
import { calledFiles } from '../support/called-files.ts';
import { fixturesAnd, nurseRow, times } from '../support/fixtures.ts';
import type { ProxyAnswer, ProxyStep } from '../support/proxy.ts';
import { sendRoster } from '../support/rosters.ts';
import { sentTogether } from '../support/sent-together.ts';
import { startService } from '../support/service.ts';

/** Counts that are the same in every run. `npm run bench lookups` measures times, `npm run bench guard` CPU. */

const NURSING = 'Nursing Board';
const AT_ONCE = 64;
/** More names than one batched search may have. */
const CROWD = 1001;
const NUMBERS = times(AT_ONCE, (number) => `RN.${910_000 + number}`);

/** The kind of each search that reached OpenSearch. */
let searches: string[] = [];
/** The document id that OpenSearch fails to fetch. */
let failedId: string | undefined;

const proxied: ProxyStep = async (request) => {
  const kind = /\/(_search|_msearch|_count|_doc|_mget)\b/.exec(request.path)?.[1];
  const isLookup = kind !== undefined && request.path.includes('licenses-') && !request.body.includes('aggs');
  if (isLookup) searches.push(kind);
  const answer = await request.forward();
  return kind === '_mget' && failedId !== undefined ? withFailed(answer, failedId) : answer;
};
const { environment, api, rest } = await startService({
  // For what counts the files.
  settings: { NODE_OPTIONS: '--inspect=127.0.0.1:0' },
  files: (folder) =>
    fixturesAnd(folder, {
      individual: [
        // The index is in the order of the names, so a search that is cut off at a thousand finds these.
        ...times(CROWD, (number) => nurseRow(`BUSY, A${number}`, `RN.${920_000 + number}`)),
        ...times(AT_ONCE, (number) => nurseRow(`COST, C${number}`, `RN.${910_000 + number}`)),
      ],
    }),
  proxied,
});
// From here on the API process has verified the key and knows the live publication.
await byNumber('RN.910001');

const fetched = z.object({ docs: z.array(z.looseObject({ _id: z.string() })) });

/** An answer to an `_mget` in which one document failed, as when a shard is away. */
function withFailed({ status, body }: ProxyAnswer, id: string): ProxyAnswer {
  const docs = fetched
    .parse(JSON.parse(body))
    .docs.map((doc) => (doc._id === id ? { _id: id, error: { type: 'no_shard_available' } } : doc));
  return { status, body: JSON.stringify({ docs }) };
}

function byNumber(license_number: string): Promise<ApiAnswer> {
  return rest.verify({ board: NURSING, license_number });
}

const byName = (last_name: string, first_name?: string) =>
  rest.verify({ board: NURSING, last_name, ...(first_name === undefined ? {} : { first_name }) });

const byAssistant = (license_number: string) =>
  rest.callTool('verify_license', { board: NURSING, license_number });

/** Lookups at this board that arrive in one turn of the event loop. */
function together(lookups: readonly object[]): Promise<ApiAnswer[]> {
  const bodies = lookups.map((lookup) => ({ board: NURSING, ...lookup }));
  return sentTogether({ api, port: environment.config.PORT, key: rest.key, bodies });
}

const byNumbers = (numbers: readonly string[]) =>
  together(numbers.map((license_number) => ({ license_number })));

async function searchesFor<Result>(work: () => Promise<Result>): Promise<[Result, string[]]> {
  searches = [];
  const result = await work();
  return [result, searches];
}

test.each<[string, () => Promise<ApiAnswer>, string[]]>([
  ['a number takes one fetch by id', () => byNumber('RN.910002'), ['_mget']],
  ['a number in another form takes a fetch and a search', () => byNumber('rn910002'), ['_mget', '_search']],
  ['a name takes one search', () => byName('Cost', 'C'), ['_search']],
  ['a number by an assistant takes one fetch', () => byAssistant('RN.910002'), ['_mget']],
  // A second search, for suggestions.
  ['a number that is not found', () => byNumber('RN.9199999'), ['_mget', '_search', '_search']],
  // Two more searches, for double surnames with it and for similar ones.
  ['a surname that is not found', () => byName('Csot'), ['_search', '_search', '_search']],
  // One request for it and its other forms, and one for similar surnames.
  ['a full name of no surname', () => byName('Csot', 'C'), ['_search', '_search', '_msearch']],
  // These too, and one request for all similar names.
  ['another given name', () => byName('Cost', 'Zebedee'), ['_search', '_search', '_msearch', '_msearch']],
])('OpenSearch requests of a single lookup: %s', async (_what, ask, expected) => {
  const [, asked] = await searchesFor(ask);
  expect(asked).toEqual(expected);
});

const license = (answer: ApiAnswer) => recordIn(answer).license_number;
const suggestions = (answer: ApiAnswer) => numberMissIn(answer).did_you_mean.join();

const FETCHED = ['_mget', '_mget'];
const SEARCHED = [...FETCHED, '_search', '_search'];
const SUGGESTED = [...SEARCHED, '_search', '_search'];

test.each<[string, (number: string) => string, (answer: ApiAnswer) => string, asked: string[]]>([
  ['license: by number', (number) => number, license, FETCHED],
  ['license: in other forms', (number) => number.toLowerCase().replace('.', ' '), license, SEARCHED],
  ['suggestion: a zero too many', (number) => number.replace('.', '.0'), suggestions, SUGGESTED],
  ['suggestion: a letter for a digit', (number) => number.replace('0', 'O'), suggestions, SUGGESTED],
])('simultaneous lookups share a batch, and each gets its own %s', async (_what, typed, given, expected) => {
  const [answers, asked] = await searchesFor(() => byNumbers(NUMBERS.map(typed)));
  expect(answers.map(given)).toEqual(NUMBERS);
  expect(asked.toSorted()).toEqual(expected);
});

test('simultaneous lookups by the numbers of a list share a larger batch', async () => {
  const items = NUMBERS.slice(4).map((license_number) => ({ board: NURSING, license_number }));
  const [answer, asked] = await searchesFor(() => sendRoster(rest, { items }));
  expect(answer.body).toMatchObject({ summary: { found: items.length } });
  expect(asked).toEqual(['_mget']);
});

test('simultaneous lookups that find nothing do not get the license of another lookup in the batch', async () => {
  const typed = NUMBERS.map((number, at) => (at % 2 === 0 ? number : number.replace('.', '.77')));
  const answers = await byNumbers(typed);
  expect(answers.map((each) => (each.status === 200 ? license(each) : numberMissIn(each).reason))).toEqual(
    NUMBERS.map((number, at) => (at % 2 === 0 ? number : 'unknown')),
  );
});

test('simultaneous lookups all succeed when one document can’t be fetched by id: that one is searched for', async () => {
  failedId = 'NUR/RN.910004';
  try {
    const numbers = NUMBERS.slice(0, 8);
    const [answers, asked] = await searchesFor(() => byNumbers(numbers));
    expect(answers.map(license)).toEqual(numbers);
    expect(asked).toContain('_search');
  } finally {
    failedId = undefined;
  }
});

test('simultaneous lookups of the same number all get its license', async () => {
  const numbers = times(AT_ONCE, () => 'RN.910007');
  const [answers, asked] = await searchesFor(() => byNumbers(numbers));
  expect(answers.map((answer) => recordIn(answer).full_name)).toEqual(times(AT_ONCE, () => 'COST, C7'));
  expect(asked).toEqual(['_mget', '_mget']);
});

test('simultaneous lookups by name share a batch, and each gets its own matches', async () => {
  const names = NUMBERS.map((_, at) => `C${at + 1}`);
  const [answers, asked] = await searchesFor(() =>
    together(names.map((first_name) => ({ last_name: 'Cost', first_name }))),
  );
  expect(answers.map(numbersIn)).toEqual(
    names.map((name) => NUMBERS.filter((_, at) => names[at]?.startsWith(name))),
  );
  expect(asked).toEqual(['_search', '_search']);
});

test('simultaneous lookups by name with and without a filter do not share matches', async () => {
  const lookup = { last_name: 'Cost', first_name: 'C64' };
  const answers = await together([{ ...lookup, city: 'Akron' }, lookup, { ...lookup, city: 'Lima' }]);
  expect(answers.map(numbersIn)).toEqual([[], ['RN.910064'], ['RN.910064']]);
});

test('simultaneous lookups by name get all their matches when another lookup in the batch has a thousand', async () => {
  const names = times(7, (number) => `C${number}`);
  const [busy, ...answers] = await together([
    { last_name: 'Busy', first_name: 'A' },
    ...names.map((first_name) => ({ last_name: 'Cost', first_name })),
  ]);
  if (busy === undefined) throw new Error('There is no answer.');
  expect(matchesIn(busy)).toMatchObject({ count: 100, truncated: true });
  expect(numbersIn(busy).filter((number) => !number.startsWith('RN.92'))).toEqual([]);
  expect(answers.map(numbersIn)).toEqual(
    names.map((name) => NUMBERS.filter((_, at) => `C${at + 1}`.startsWith(name))),
  );
});

/** Whoever follows a lookup opens this many files. Fewer would be files of 300 lines and more. */
const MAX_FILES = 22;

test('a lookup by number runs code of at most 22 files', async () => {
  const calls = await calledFiles(api);
  // When the second lookup is answered, the usage of the first has been counted.
  const lookups = () => byNumber('RN.910002').then(() => byNumber('RN.910002'));
  let files = await calls.during(lookups);
  // A timer may run code of another file beside a lookup, but not beside each of thirty pairs.
  for (const _ of times(29, Number)) {
    const called = new Set(await calls.during(lookups));
    files = files.filter((file) => called.has(file));
  }
  // Shows every file if there are too many.
  expect(files.length > MAX_FILES ? files : []).toEqual([]);
  calls.close();
});

test('besides OpenSearch, a lookup costs one Redis command, alone or with 63 others at once', async () => {
  const counter = await redisCounter();
  expect(await counter.commandsFor(() => byNumber('RN.910003'))).toBe(1);
  expect(await counter.commandsFor(() => byNumbers(NUMBERS))).toBe(1);
  counter.close();
});

/** Counts the commands that this environment's processes send to Redis, without those that a script runs there. */
async function redisCounter() {
  const redis = new Redis(environment.config.REDIS_URL);
  const { hostname, port } = new URL(environment.config.REDIS_URL);
  // ioredis fails where a command is reported in one packet with the answer to MONITOR.
  const monitor = connect(Number(port), hostname).setEncoding('utf8');
  let reported = '';
  monitor.on('data', (text: string) => (reported += text));
  monitor.write('MONITOR\r\n');
  await untilReported('+OK');

  async function untilReported(text: string): Promise<void> {
    while (!reported.includes(text)) await once(monitor, 'data');
  }

  /** Redis reports commands in their order: once this one is reported, so are all before it. */
  async function allReported(): Promise<void> {
    const marker = randomUUID();
    await Promise.all([redis.echo(marker), untilReported(marker)]);
  }

  return {
    commandsFor: async (work: () => Promise<unknown>): Promise<number> => {
      await allReported();
      reported = '';
      await work();
      await allReported();
      const ours = reported.split('\r\n').filter((line) => line.includes(environment.config.INDEX_PREFIX));
      return ours.filter((line) => !line.includes(' lua] ')).length;
    },
    close: () => {
      monitor.destroy();
      redis.disconnect();
    },
  };
}
