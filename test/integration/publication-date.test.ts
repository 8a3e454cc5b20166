import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { z } from 'zod';
import { writeSampleData } from '../../src/dataset/sample-data.ts';
import { BOARDS } from '../../src/licenses/boards.ts';
import { readMetadata } from '../../src/publications/metadata.ts';
import { noMatchIn, recordIn } from '../support/answers.ts';
import { FIXTURES } from '../support/fixtures.ts';
import { type DatasetFiles, publishFiles } from '../support/publishing.ts';
import { startService, type TestService } from '../support/service.ts';
import { verifies } from '../support/verifies.ts';

const BOTH = ['individual', 'business'] as const;

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

let lastDay = 0;

/** A date later than all before. */
function nextDate(): string {
  lastDay += 1;
  return `2026-12-${String(lastDay).padStart(2, '0')}`;
}

/** The fixtures with their run date changed, or taken out, in these files. */
async function dated(date: string, of: readonly (keyof DatasetFiles)[]): Promise<DatasetFiles> {
  const files = { ...FIXTURES };
  for (const file of of) {
    files[file] = join(service.environment.folder, `${file}-${date || 'undated'}.csv`);
    const text = await readFile(FIXTURES[file], 'utf8');
    await writeFile(files[file], text.replaceAll(/2026-11-(20|19)$/gm, date));
  }
  return files;
}

/** The date that answers now, also when nothing of the fixtures is live. */
async function lastScraped(): Promise<string> {
  const answer = await service.rest.verify({ board: 'Nursing Board', last_name: 'Nobody of this name' });
  return noMatchIn(answer).last_scraped;
}

async function answersFrom(date: string): Promise<void> {
  const deadline = Date.now() + 10_000;
  while ((await lastScraped()) !== `${date}T00:00:00` && Date.now() < deadline) await sleep(100);
  expect(await lastScraped()).toBe(`${date}T00:00:00`);
}

async function expectRefused(files: DatasetFiles, date?: string): Promise<void> {
  const options = { isGuarded: true, ...(date === undefined ? {} : { date }) };
  expect(await publishFiles(service.environment, files, options)).toMatchObject({ state: 'refused' });
}

async function publishDated(date: string): Promise<void> {
  const result = await publishFiles(service.environment, await dated(date, BOTH));
  expect(result).toMatchObject({ state: 'live', date });
  await answersFrom(date);
}

verifies('DESIGN-DATE-02', 'files of two different dates do not go live', async () => {
  const before = await lastScraped();
  await expectRefused(await dated(nextDate(), ['individual']));
  expect(await lastScraped()).toBe(before);
});

verifies('DESIGN-DATE-03', 'a date that is given counts only where the files have none', async () => {
  const date = nextDate();
  await expectRefused(await dated(nextDate(), BOTH), date);
  const undated = await dated('', BOTH);
  await expectRefused(undated);
  expect(await publishFiles(service.environment, undated, { date })).toMatchObject({ state: 'live', date });
  await answersFrom(date);
});

verifies(
  ['SPEC-1-02', 'SPEC-2.2-12', 'DESIGN-DATE-01'],
  'answers come from the most recent publication, and none may be kept',
  async () => {
    await publishDated(nextDate());
    const date = nextDate();
    await publishDated(date);
    const answer = await service.rest.verify({ board: 'Nursing Board', license_number: 'RN.700001' });
    expect(recordIn(answer).last_scraped).toBe(`${date}T00:00:00`);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  },
);

const status = z.object({ publication: z.object({ sample: z.boolean(), date: z.string() }) });

async function publicationAtStatus() {
  return status.parse((await service.rest.get('/status')).body).publication;
}

verifies(
  ['DESIGN-DATE-04', 'SPEC-2.2-01', 'SPEC-2.2-04'],
  'generated data says so, and its records of every board are whole',
  async () => {
    const { environment, rest } = service;
    const real = nextDate();
    await publishDated(real);
    expect(await publicationAtStatus()).toMatchObject({ sample: false, date: real });

    const date = nextDate();
    const files = await writeSampleData({ directory: environment.folder, rows: 3000, seed: 5, date });
    const published = await publishFiles(environment, files);
    const { index } = z.object({ state: z.literal('live'), index: z.string() }).parse(published);
    await answersFrom(date);
    expect((await readMetadata(environment.client, index)).sample).toBe(true);
    expect(await publicationAtStatus()).toMatchObject({ sample: true, date });

    const stored = z.object({ license_number: z.string() });
    const hits = z.object({ hits: z.object({ hits: z.array(z.object({ _source: stored })) }) });
    for (const board of BOARDS) {
      const some = await environment.client.search({
        index,
        body: { size: 4, query: { term: { board: board.name } } },
      });
      const licenses = hits.parse(some.body).hits.hits.map((hit) => hit._source);
      expect([board.name, licenses.length]).toEqual([board.name, 4]);
      for (const { license_number } of licenses) {
        const answered = recordIn(await rest.verify({ board: board.name, license_number }));
        expect(answered).toMatchObject({ license_number, board: board.name });
        expect(board.license_types.map(({ name }) => name)).toContain(answered.license_type);
      }
    }
  },
);
