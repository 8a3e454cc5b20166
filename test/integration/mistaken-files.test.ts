import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { beforeAll, expect, test } from '@jest/globals';
import type { TestEnvironment } from '../../scripts/environment.ts';
import { deleteOtherDownloads } from '../../src/dataset/download.ts';
import { licensesIndices } from '../../src/publications/metadata.ts';
import { type ProxyStep, throughProxy } from '../support/proxy.ts';
import { filesOf, newEnvironment } from '../support/publication-days.ts';
import { publishFiles } from '../support/publishing.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let environment: TestEnvironment;

beforeAll(async () => {
  environment = await newEnvironment();
});

test('rows that all have a cell more than the header are named as that', async () => {
  const files = await filesOf(environment, '2026-11-20');
  const [header = '', ...rows] = (await readFile(files.individual, 'utf8')).split('\n');
  await writeFile(files.individual, [header, ...rows.map((row) => (row === '' ? '' : `${row},`))].join('\n'));
  expect(await publishFiles(environment, files, { isGuarded: true })).toMatchObject({
    state: 'refused',
    reasons: [
      expect.stringMatching(
        /^columns: No row of the individual file \(\S+\) can be read: the first has 11 fields, not 10\.$/,
      ),
    ],
  });
});

test.each([
  [
    'swapped files',
    ({ individual, business }: Files) => ({ individual: business, business: individual }),
    /^columns: .*are the two files swapped\?$/,
  ],
  [
    'the same file twice',
    ({ individual }: Files) => ({ individual, business: individual }),
    /^columns: The individual file \S+ and the business file \S+ are the same\.$/,
  ],
])('%s are named as that', async (_what, mistaken, reason) => {
  const files = mistaken(await filesOf(environment, '2026-11-20'));
  expect(await publishFiles(environment, files, { isGuarded: true })).toMatchObject({
    state: 'refused',
    reasons: [expect.stringMatching(reason)],
  });
});

type Files = Awaited<ReturnType<typeof filesOf>>;

test('a file that has everything twice is refused before it is read to its end', async () => {
  const files = await filesOf(environment, '2026-11-20');
  const [header = '', row = ''] = (await readFile(files.individual, 'utf8')).split('\n');
  await writeFile(files.individual, `${header}\n${`${row}\n`.repeat(60_000)}`);
  const result = await publishFiles(environment, files, { isGuarded: true });
  if (result.state !== 'refused') throw new Error(JSON.stringify(result));
  expect(result.reasons).toEqual([expect.stringMatching(/^duplicates: \d+ numbers are duplicated/)]);
  const [, duplicates] = /(\d+) numbers/.exec(result.reasons[0] ?? '') ?? [];
  expect(Number(duplicates)).toBeLessThan(40_000);
});

test('a publication for which OpenSearch has too little disk fails before it is loaded, and says so', async () => {
  const files = await filesOf(environment, '2026-11-20');
  const small: ProxyStep = async (request) => {
    if (!request.path.startsWith('/_nodes')) return request.forward();
    const total = { total_in_bytes: 100_000_000_000, available_in_bytes: 10_000_001_000 };
    return { status: 200, body: JSON.stringify({ nodes: { one: { fs: { total } } } }) };
  };
  await expect(throughProxy(environment, small, (through) => publishFiles(through, files))).rejects.toThrow(
    /^OpenSearch has 0 MB of disk left for a publication, which takes about 0 MB\./,
  );
  expect(await licensesIndices(environment.store)).toEqual([]);
});

const folder = temporaryFolder();

test('downloads from earlier addresses are deleted', async () => {
  const directory = folder.path('downloads');
  await mkdir(directory);
  for (const name of ['a-1.csv', 'a-1.csv.json', 'a-2.csv', 'a-2.csv.json', 'b-1.csv', 'b-1.csv.part'])
    await writeFile(`${directory}/${name}`, '');
  await deleteOtherDownloads(directory, [`${directory}/a-2.csv`, `${directory}/b-2.csv`]);
  expect((await readdir(directory)).toSorted()).toEqual(['a-2.csv', 'a-2.csv.json']);
});
