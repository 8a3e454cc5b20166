import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { parsed } from '../support/api.ts';
import { answerChecker, openApiIn } from '../support/openapi.ts';
import { rawRequest } from '../support/raw-http.ts';
import { Player, type ServiceStage } from '../support/transcripts/play.ts';
import { readCommon } from '../support/transcripts/response-lines.ts';
import { startTranscriptServices } from '../support/transcripts/services.ts';
import { type Exchange, readTranscript } from '../support/transcripts/transcript.ts';

/**
 * Plays the exchanges of `test/http-transcripts/*.http` against running services and compares every response. The
 * format of the files is in `test/http-transcripts/README.md`. `RECORD=1` records the current responses instead.
 *
 * Differences are: status line, names, values and number of headers, body, whether the connection is kept open, and
 * extra bytes after the response. Not compared: the order of headers, the case of their names, the order within Allow
 * and Vary, and values written as `<placeholder>`, such as dates and ids. A placeholder matches only values of the
 * right form.
 */
const FOLDER = resolve(import.meta.dirname, '../http-transcripts');
const COMMON = 'common.http';

const IS_RECORDING = process.env.RECORD === '1';

/** The files in the order in which they are played. */
const BEFORE_PUBLICATION = ['nothing-published.http'];
const PLAIN = [
  ...['verify.http', 'changes.http', 'export.http', 'records.http', 'rosters.http'],
  ...['webhook.http', 'subscriptions.http', 'connections.http'],
  ...['mcp-2025.http', 'mcp-2026.http', 'mcp-origins.http'],
  'pages.http',
  // These change the service, so they come last.
  ...['admin.http', 'opensearch-away.http', 'stopping.http'],
];
const LIMITED = ['rate-limits.http', 'webhook-not-set-up.http'];

const common = readCommon(readFileSync(join(FOLDER, COMMON), 'utf8'));
const transcripts = [...BEFORE_PUBLICATION, ...PLAIN, ...LIMITED].map((file) => ({
  file,
  ...readTranscript(readFileSync(join(FOLDER, file), 'utf8')),
}));

const answers: Player['answers'] = [];
/** The text of each exchange that was played, or what went wrong. */
const played = new Map<Exchange, string>();

/** Plays an exchange from a new client address. */
async function playOne(exchange: Exchange, stage: ServiceStage): Promise<string> {
  const client = `${(played.size + 1) >> 8}.${(played.size + 1) & 255}`;
  const values = { ...stage.values, address: `198.18.${client}`, 'other address': `198.19.${client}` };
  try {
    const player = new Player({ ...stage, values, localAddress: `127.1.${client}`, common });
    const text = await player.play(exchange);
    answers.push(...player.answers);
    return text;
  } catch (error) {
    if (IS_RECORDING) throw error;
    return String(error);
  }
}

async function playFiles(files: readonly string[], stage: ServiceStage): Promise<void> {
  for (const { file, introduction, exchanges } of transcripts.filter((each) => files.includes(each.file))) {
    for (const exchange of exchanges) played.set(exchange, await playOne(exchange, stage));
    const texts = exchanges.map((exchange) => played.get(exchange));
    if (IS_RECORDING) await writeFile(join(FOLDER, file), `${[introduction, ...texts].join('\n\n')}\n`);
  }
}

const services = await startTranscriptServices();
await playFiles(BEFORE_PUBLICATION, services.plain);
await services.publish();
const document = openApiIn(await rawRequest(services.plain.port, '/openapi.json'));
await playFiles(LIMITED, services.limited);
await playFiles(PLAIN, services.plain);
afterAll(() => services.stop());

test('every transcript is played, and its exchanges have names of their own', () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.http') && name !== COMMON);
  expect(transcripts.map(({ file }) => file).sort()).toEqual(files.sort());
  const names = transcripts.flatMap(({ file, exchanges }) => exchanges.map(({ name }) => `${file} ${name}`));
  expect(names).toEqual([...new Set(names)]);
});

test('every response of an operation is as the OpenAPI document says', () => {
  const check = answerChecker(document);
  const templates = Object.keys(document.paths).map(
    (template) => [template, new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`)] as const,
  );
  let checked = 0;
  for (const [line, { status, headers, body }] of answers) {
    const [method = '', path = ''] = line.toLowerCase().split(/[ ?]/);
    const [template = ''] = templates.find(([, pattern]) => pattern.test(path)) ?? [];
    const isOfService = headers.has('x-request-id') && headers.get('content-type')?.includes('json') === true;
    if (!isOfService || document.paths[template]?.[method] === undefined) continue;
    check(method, template, { status, headers, text: String(body), body: parsed(String(body)) });
    checked += 1;
  }
  expect(checked).toBeGreaterThan(50);
});

test('the log has the stack of an error that nobody expected, and each kind of error that is refused with 503', () => {
  const log = services.plain.api.output();
  expect(log).toMatch(/"path":"\/api\/v1\/lookup\/verify",.*"stack":.*"request failed"/);
  expect(log).toMatch(/"requests":1,"error":"NothingPublishedError",.*"requests refused with 503"/);
});

describe.each(transcripts)('$file', ({ exchanges }) => {
  test.each(exchanges)('$name', (exchange) => {
    if (!IS_RECORDING) expect(played.get(exchange)).toBe(exchange.recorded);
  });
});
