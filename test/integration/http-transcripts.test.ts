import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Exchange,
  readTranscript,
  type Transcript,
  transcriptText,
} from '../support/transcripts/exchange.ts';
import { play } from '../support/transcripts/play.ts';
import {
  type ServiceStage,
  startTranscriptServices,
  type TranscriptServices,
} from '../support/transcripts/services.ts';

/**
 * Replays the exchanges of `test/http-transcripts/*.http` against running services and compares every answer. How a
 * file is to be read stands in `test/http-transcripts/README.md`. `RECORD=1` writes the answers that come instead.
 *
 * What counts as a difference: status line, names and values of headers, how many times a header comes, body,
 * whether the service keeps the connection, and bytes beyond the answer. What does not: the order of headers and the
 * case of their names, the order within Allow and Vary, how a body was cut into chunks, and values that are written
 * as `<what they are>`, such as dates and ids. Those are masked only where they have the right form.
 */
const FOLDER = resolve(import.meta.dirname, '../http-transcripts');

const IS_RECORDING = process.env.RECORD === '1';

type ServiceName = keyof TranscriptServices['stages'];

/**
 * How often an exchange is played, each time from other addresses. On a busy machine OpenSearch may answer too late
 * (503), and Redis too, so that limits count anew in memory; a difference that clients see comes each time.
 */
const MAX_TRIES = 4;

interface SetUp {
  readonly service: ServiceName;
  /** All at the same time, for those that are slow; one after the other unless given. */
  readonly together?: true;
  /** For those that can't be played again. */
  readonly once?: true;
}

/** What service each file is about. */
const FILES: Readonly<Record<string, SetUp>> = {
  'addresses.http': { service: 'plain' },
  'admin.http': { service: 'plain' },
  'api-keys.http': { service: 'plain' },
  'behind-a-proxy.http': { service: 'limited' },
  'bodies.http': { service: 'plain' },
  'boards.http': { service: 'plain' },
  'connections.http': { service: 'plain' },
  'mcp-2025.http': { service: 'plain' },
  'mcp-2026.http': { service: 'plain' },
  'mcp-origins.http': { service: 'plain' },
  'nothing-published.http': { service: 'empty' },
  'opensearch-away.http': { service: 'withoutOpenSearch' },
  'pages.http': { service: 'plain' },
  'rate-limits.http': { service: 'limited' },
  'slow-clients.http': { service: 'plain', together: true },
  'stopping.http': { service: 'stopping', once: true },
  'verify.http': { service: 'plain' },
};

const transcripts: readonly (readonly [file: string, Transcript])[] = Object.keys(FILES).map((file) => [
  file,
  readTranscript(readFileSync(join(FOLDER, file), 'utf8')),
]);

let services: TranscriptServices | undefined;
/** What was played, by file and the name of the exchange. */
const played = new Map<string, ReadonlyMap<string, string>>();

let lastPlay = 0;

/** Plays one exchange from addresses that no other play has. What went wrong stands in the place of its text. */
async function playOnce(exchange: Exchange, stage: ServiceStage): Promise<string> {
  lastPlay += 1;
  const [high, low] = [lastPlay >> 8, lastPlay & 255];
  const values = {
    ...stage.values,
    address: `198.18.${high}.${low}`,
    'other address': `198.19.${high}.${low}`,
    network: lastPlay.toString(16),
  };
  try {
    return await play(exchange, { ...stage, values, localAddress: `127.1.${high}.${low}` });
  } catch (error) {
    if (IS_RECORDING) throw error;
    return String(error);
  }
}

/** Plays an exchange until its text is the recorded one or comes a second time. */
async function playAgain(exchange: Exchange, stage: ServiceStage): Promise<string> {
  const seen = new Set([exchange.recorded]);
  for (let tries = 1; ; tries += 1) {
    const text = await playOnce(exchange, stage);
    if (seen.has(text) || tries === MAX_TRIES) return text;
    seen.add(text);
  }
}

async function playFile(file: string, { introduction, exchanges }: Transcript): Promise<void> {
  const { service, together, once } = FILES[file] ?? { service: 'plain' };
  if (services === undefined) throw new Error('The services have not been started.');
  const stage = services.stages[service];
  const texts: string[] = [];
  if (together) texts.push(...(await Promise.all(exchanges.map((each) => playOnce(each, stage)))));
  else for (const each of exchanges) texts.push(await (once ? playOnce : playAgain)(each, stage));

  played.set(file, new Map(exchanges.map(({ name }, at) => [name, texts[at] ?? ''])));
  if (IS_RECORDING) await writeFile(join(FOLDER, file), transcriptText(introduction, texts));
}

beforeAll(async () => {
  services = await startTranscriptServices();
  await Promise.all(transcripts.map(([file, transcript]) => playFile(file, transcript)));
}, 180_000);
afterAll(() => services?.stop());

test('every transcript is replayed', () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.http'));
  expect(Object.keys(FILES).sort()).toEqual(files.sort());
});

describe.each(transcripts)('%s', (file, { exchanges }) => {
  test('has no name twice', () => {
    const names = exchanges.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
  });

  test.each(exchanges.map(({ name, recorded }) => ({ name, recorded })))('$name', ({ name, recorded }) => {
    const now = played.get(file)?.get(name);
    if (IS_RECORDING) expect(now).toContain(name);
    else expect(now).toBe(recorded);
  });
});
