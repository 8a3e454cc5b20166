import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type TestEnvironment, testEnvironment } from '../../scripts/environment.ts';
import { numberQuery } from '../../src/lookup/queries.ts';
import { bodyOf, searchAlone } from '../../src/lookup/search.ts';
import { publicationDetails } from '../../src/publications/history.ts';
import { indicesUnderAlias, newId } from '../../src/publications/metadata.ts';
import { VerificationError } from '../../workers/publish/verify.ts';
import { textOf, writeDay } from '../support/day-files.ts';
import { fileServer, served } from '../support/file-server.ts';
import {
  BASE,
  type BasePublication,
  indices,
  MEDICAL,
  NURSING,
  nextDay,
  pharmacies,
  publishBase,
  rollBackToBase,
} from '../support/guarded-days.ts';
import { throughProxy } from '../support/proxy.ts';
import { publishFiles } from '../support/publishing.ts';

/** Many publications are kept, so that each test can roll back to the base. */
const SETTINGS = { KEEP_PUBLICATIONS: '100' };

let environment: TestEnvironment;
let base: BasePublication;

beforeAll(async () => {
  environment = await testEnvironment(SETTINGS);
  base = await publishBase(environment);
});
beforeEach(() => rollBackToBase(environment, base));

describe('even with force, nothing goes live from', () => {
  afterEach(async () => {
    expect(await indicesUnderAlias(environment.store)).toEqual([base.index]);
  });

  test('files that changed after they were submitted', async () => {
    const files = await writeDay(environment.folder, 'changing', nextDay());
    const result = await publishFiles(environment, files, {
      onProgress: ({ step }) => {
        if (step === 'reading') writeFileSync(files.business, textOf(BASE, 'business'));
      },
    });
    expect(result).toMatchObject({
      state: 'refused',
      reasons: ['changed: business-changing.csv changed after the publication was asked for.'],
    });
  });

  test('a gzip file that is cut off', async () => {
    const files = await writeDay(environment.folder, 'gz', nextDay());
    const packed = gzipSync(await readFile(files.individual));
    const individual = join(environment.folder, 'cut.csv.gz');
    await writeFile(individual, packed.subarray(0, packed.length - 20));
    const before = await indices(environment);
    for (const isGuarded of [true, false]) {
      const result = await publishFiles(environment, { ...files, individual }, { isGuarded });
      expect(result).toMatchObject({
        state: 'refused',
        reasons: [expect.stringMatching(/^truncated: cut\.csv\.gz can't be read as a gzip file/)],
      });
      expect((await publicationDetails(environment.store, result.publication)).summary).toMatchObject({
        state: 'refused',
      });
    }
    expect(await indices(environment)).toEqual(before);
  });

  /** Publishes with force, and changes the index just before this request. */
  async function disturbed(
    request: '_flush' | '_refresh',
    name: string,
    disturb: (index: string) => Promise<unknown>,
  ): Promise<unknown> {
    const pattern = new RegExp(`^/([^/]*licenses-[^/]+)/${request}`);
    const publication = newId();
    const files = await writeDay(environment.folder, name, nextDay());
    let isDone = false;
    const result = await throughProxy(
      environment,
      async (asked) => {
        const [, index] = pattern.exec(asked.path) ?? [];
        if (index !== undefined && !isDone) {
          isDone = true;
          await disturb(index);
        }
        return asked.forward();
      },
      (through) => publishFiles(through, files, { publication }).catch((error: unknown) => error),
    );
    const { events } = await publicationDetails(environment.store, publication);
    expect(events.map(({ event }) => event)).toEqual(['reading', 'loading', 'verifying']);
    return result;
  }

  test.each<[string, (index: string) => Promise<unknown>, string]>([
    [
      'lacks a license',
      (index) => environment.client.delete({ index, id: 'NUR/RN.900007' }),
      'The index has 319 licenses, but 320 were sent.',
    ],
    [
      'has a license at another board',
      (index) => environment.client.update({ index, id: 'NUR/RN.900007', body: { doc: { board: MEDICAL } } }),
      'The index has 199 licenses of Nursing Board, but 200 were sent.',
    ],
    [
      'has other values than were sent for every license of a board',
      (index) =>
        environment.client.bulk({
          index,
          body: pharmacies.flatMap(({ number }) => [
            { update: { _id: `PRX/${number}` } },
            { doc: { city: 'AKRON' } },
          ]),
        }),
      'reads back otherwise than it was sent.',
    ],
  ])('an index that %s', async (what, disturb, message) => {
    const before = await indices(environment);
    const failure = await disturbed('_refresh', what.replaceAll(' ', '-'), disturb);
    expect(failure).toBeInstanceOf(VerificationError);
    expect(failure).toMatchObject({ message: expect.stringContaining(message) });
    expect(await indices(environment)).toEqual(before);
  });

  test('an index that lost a license before it was on disk, as in a crash', async () => {
    const lost = (index: string) => environment.client.delete({ index, id: 'NUR/RN.900007' });
    const failure = await disturbed('_flush', 'lost', lost);
    expect(failure).toMatchObject({ message: 'The index has 319 licenses, but 320 were sent.' });
  });
});

describe('the guards do not refuse', () => {
  async function atNumber(number: string): Promise<string[]> {
    const [index = ''] = await indicesUnderAlias(environment.store);
    const query = numberQuery(number);
    const found =
      query === undefined ? [] : (await searchAlone(environment.client, index, bodyOf(query))).licenses;
    return found.map(({ board, license_number }) => `${board}: ${license_number}`).toSorted();
  }

  test('one number at two boards: both licenses are live and found', async () => {
    const files = await writeDay(
      environment.folder,
      'two-boards',
      nextDay({ individual: [...BASE.individual, { board: MEDICAL, number: 'RN.900001' }] }),
    );
    const result = await publishFiles(environment, files, { isGuarded: true });
    expect(result).toMatchObject({ state: 'live', licenses: 321, rejected: 0 });
    expect(await atNumber('RN.900001')).toEqual([`${MEDICAL}: RN.900001`, `${NURSING}: RN.900001`]);
  });

  test('files from URLs: downloaded, listed without credentials, and skipped while unchanged', async () => {
    const day = nextDay({ individual: [...BASE.individual, { board: NURSING, number: 'RN.web' }] });
    const individual = gzipSync(textOf(day, 'individual'));
    const business = Buffer.from(textOf(day, 'business'));
    const people = await fileServer(served({ content: individual, headers: { etag: '"1"' } }));
    const places = await fileServer(served({ content: business, headers: { etag: '"1"' } }));
    try {
      const urls = {
        individual: people.url.replace('http://', 'http://user:secret@'),
        business: places.url,
      };
      const config = {
        ...environment.config,
        STATE_DIR: join(environment.folder, 'state'),
        DATASET_INDIVIDUAL: urls.individual,
      };
      const steps: string[] = [];
      const result = await publishFiles({ ...environment, config }, urls, {
        isGuarded: true,
        onProgress: ({ step }) => steps.push(step),
      });
      expect(result).toMatchObject({ state: 'live', licenses: 321 });
      expect([...new Set(steps)].slice(0, 3)).toEqual(['downloading', 'reading', 'loading']);
      const { summary, events } = await publicationDetails(environment.store, result.publication);
      expect(summary.sources).toEqual({ individual: people.url, business: places.url });
      expect(summary.sha256?.business).toBe(createHash('sha256').update(business).digest('hex'));
      expect(JSON.stringify(events)).not.toContain('secret');

      const again = await publishFiles({ ...environment, config }, urls, { isGuarded: true });
      expect(again).toMatchObject({ state: 'skipped', live: result.publication });
      expect(people.requests.at(-1)).toMatchObject({ 'if-none-match': '"1"' });
    } finally {
      await people.close();
      await places.close();
    }
  });
});

test('when OpenSearch creates no index since its disk is nearly full, the publication says so', async () => {
  // What OpenSearch 3.8 answered on a disk of which 7 % was free.
  const error = {
    type: 'index_create_block_exception',
    reason: 'blocked by: [FORBIDDEN/10/cluster create-index blocked (api)];',
  };
  const files = await writeDay(environment.folder, 'full', nextDay());
  const publishing = throughProxy(
    environment,
    async (request) =>
      request.method === 'PUT' && /^\/[^/]*licenses-[^/]+$/.test(request.path)
        ? { status: 403, body: JSON.stringify({ error: { root_cause: [error], ...error }, status: 403 }) }
        : request.forward(),
    (through) => publishFiles(through, files),
  );
  await expect(publishing).rejects.toThrow(
    'OpenSearch refuses to create an index, as it does when less than 10 % of its disk is free.',
  );
});
