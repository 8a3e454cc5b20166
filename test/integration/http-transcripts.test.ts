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
 * Replays the exchanges of `test/http-transcripts/*.http` against running services and compares every answer. The
 * format of the files is in `test/http-transcripts/README.md`. `RECORD=1` records the current responses instead.
 *
 * Differences are: status line, names, values and number of headers, body, whether the connection is kept open, and
 * extra bytes after the response. Not compared: the order of headers, the case of their names, the order within Allow
 * and Vary, how a body was split into chunks, and values written as `<placeholder>`, such as dates and ids. A
 * placeholder matches only values of the right form.
 */
const FOLDER = resolve(import.meta.dirname, '../http-transcripts');

const IS_RECORDING = process.env.RECORD === '1';

type ServiceName = keyof TranscriptServices['stages'];

/**
 * How often an exchange is replayed, each time from new client addresses. On a busy machine OpenSearch or Redis may be
 * too slow once: the service then answers 503 or counts limits in memory. A real difference occurs every time.
 */
const MAX_TRIES = 4;

interface SetUp {
  readonly service: ServiceName;
  /** Replays slow exchanges at the same time instead of one after the other. */
  readonly together?: true;
  /** For exchanges that cannot be replayed. */
  readonly once?: true;
}

/** The service that each file runs against. */
const FILES: Readonly<Record<string, SetUp>> = {
  'addresses.http': { service: 'plain' },
  'admin.http': { service: 'plain' },
  'api-keys.http': { service: 'plain' },
  'behind-a-proxy.http': { service: 'limited' },
  'bodies.http': { service: 'plain' },
  'boards.http': { service: 'plain' },
  'changes.http': { service: 'plain' },
  'connections.http': { service: 'plain' },
  'mcp-2025.http': { service: 'plain' },
  'mcp-2026.http': { service: 'plain' },
  'mcp-origins.http': { service: 'plain' },
  'nothing-published.http': { service: 'empty' },
  'opensearch-away.http': { service: 'withoutOpenSearch' },
  'pages.http': { service: 'plain' },
  'rate-limits.http': { service: 'limited' },
  'rosters.http': { service: 'plain' },
  'slow-clients.http': { service: 'plain', together: true },
  'stopping.http': { service: 'stopping', once: true },
  'verify.http': { service: 'plain' },
};

const transcripts: readonly (readonly [file: string, Transcript])[] = Object.keys(FILES).map((file) => [
  file,
  readTranscript(readFileSync(join(FOLDER, file), 'utf8')),
]);

let services: TranscriptServices | undefined;
/** The text of each replayed exchange, by file and name. */
const played = new Map<string, ReadonlyMap<string, string>>();

let lastPlay = 0;

/** Replays an exchange from new client addresses. Returns its text, or the error message. */
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

/** Replays an exchange until its text equals the recorded one or repeats. */
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
  test('has unique names', () => {
    const names = exchanges.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
  });

  test.each(exchanges.map(({ name, recorded }) => ({ name, recorded })))('$name', ({ name, recorded }) => {
    const now = played.get(file)?.get(name);
    if (IS_RECORDING) expect(now).toContain(name);
    else expect(now).toBe(recorded);
  });
});
