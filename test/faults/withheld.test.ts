/** @room changes */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { TestEnvironment } from '../../scripts/environment.ts';
import { startApi } from '../../scripts/licenses-processes.ts';
import { publicationHistory } from '../../src/publications/history.ts';
import { newId } from '../../src/publications/metadata.ts';
import { prune } from '../../src/publications/prune.ts';
import { rollBack } from '../../src/publications/rollback.ts';
import { apiClient } from '../support/api.ts';
import { allChanges } from '../support/changes.ts';
import { daysAfter } from '../support/days.ts';
import { inForm, inLongFormOnly } from '../support/fault-form.ts';
import { times } from '../support/fixtures.ts';
import { command } from '../support/in-process.ts';
import { cut, loseResponse } from '../support/proxy.ts';
import { newEnvironment } from '../support/publication-days.ts';
import { type DatasetFiles, publishFiles } from '../support/publishing.ts';

/** What stands in every place of the nurse, and nowhere else in the files. */
const MARK = 'QUXVILLE';
const FIRST_NUMBER = 777_777;
const NUMBER = `RN.${FIRST_NUMBER}`;

const COLUMNS =
  'BOARD,LICENSE_NUMBER,TYPE,STATUS,EXPIRATION_DATE,PARCEL_CITY,PARCEL_COUNTY,PARCEL_ZIP_CODE,PARCEL_STREET_ADDRESS,PARCEL_SUITE,QUERY_RUN_DATE';

/** What the State's file says of the nurse on one day; `undefined` when it does not have her. */
type Places = readonly string[] | undefined;
const AT_HOME: Places = [MARK, MARK, `${MARK}-1`, `1 ${MARK} ROAD`, `${MARK} A`];
const MOVED: Places = [`${MARK} HEIGHTS`, MARK, `${MARK}-2`, `2 ${MARK} STREET`, `${MARK} B`];
const HIDDEN: Places = ['HIDDEN', 'HIDDEN', 'HIDDEN', 'HIDDEN', 'HIDDEN'];
const MISSING: Places = undefined;
/** Her row can't be read on that day. */
const BROKEN: Places = [...MOVED, 'too', 'many', 'cells'];

/** The requests of one erasure to the index of the changes, and more. */
const MOST_REQUESTS = 20;

let day = 0;

async function filesWith({ folder }: TestEnvironment, ...nurses: readonly Places[]): Promise<DatasetFiles> {
  day += 1;
  const date = daysAfter('2025-12-31', day);
  const row = (name: string, board: string, number: string, cells: readonly string[]) =>
    `"${name}",${board},${number},,Active,2099-01-01,${cells.join(',')},${date}\n`;
  const lima = ['LIMA', '', '', '', ''];
  const others = times(30, (at) => row(`HOLDER, ${at}`, 'Nursing Board', `RN.${900_000 + at}`, lima));
  const marked = nurses.flatMap((places, at) =>
    places === undefined ? [] : [row('DOE, JANE', 'Nursing Board', `RN.${FIRST_NUMBER + at}`, places)],
  );
  const [individual, business] = [join(folder, `i-${newId()}.csv`), join(folder, `b-${newId()}.csv`)];
  await writeFile(individual, `LICENSEE_NAME,${COLUMNS}\n${others.join('')}${marked.join('')}`);
  const pharmacy = row('PHARMACY', 'Board of Pharmacy', '02900001', lima);
  await writeFile(business, `BUSINESS_NAME,${COLUMNS}\n${pharmacy}`);
  return { individual, business };
}

async function publishWith(environment: TestEnvironment, ...nurses: readonly Places[]): Promise<string> {
  const result = await publishFiles(environment, await filesWith(environment, ...nurses));
  if (result.state !== 'live') throw new Error(JSON.stringify(result));
  return result.publication;
}

const hit = z.object({ _index: z.string(), _source: z.unknown() });
const found = z.object({ hits: z.object({ total: z.object({ value: z.int() }), hits: z.array(hit) }) });

/** The documents of all indices of the installation that have the mark, by index. */
async function documentsWithMark({ client, store }: TestEnvironment, mark = MARK): Promise<string[]> {
  await client.indices.refresh({ index: `${store.prefix}*` });
  const { body } = await client.search({ index: `${store.prefix}*`, body: { size: 10_000 } });
  const { hits, total } = found.parse(body).hits;
  expect(hits).toHaveLength(total.value);
  return hits
    .filter(({ _source }) => JSON.stringify(_source).includes(mark))
    .map(({ _index, _source }) => `${_index.slice(store.prefix.length)}: ${JSON.stringify(_source)}`);
}

/** Everything that the service and the command line say. */
async function said(environment: TestEnvironment): Promise<string> {
  const { variables, folder } = environment;
  await startApi(variables);
  const rest = await apiClient(environment);
  const asked = { board: 'Nursing Board', license_number: NUMBER };
  const answers = [
    await rest.verify(asked),
    await rest.callTool('license_history', asked),
    await rest.callTool('verify_license', asked),
  ];
  const history = `/api/v1/history?${new URLSearchParams(asked)}`;
  for (const path of [history, `/licenses/NUR/${NUMBER}`, '/data', '/status'])
    answers.push(await rest.get(path));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const texts = [JSON.stringify(await allChanges(rest)), ...answers.map(({ text }) => text)];
  for (const { publication } of (await publicationHistory(environment.store)).publications) {
    const [changes, rejects] = [join(folder, 'changes.csv'), join(folder, 'rejects.csv')];
    const files = ['--changes', changes, '--rejects', rejects];
    const shown = await command(variables, 'publications', 'show', publication, ...files, '--json');
    texts.push(shown.stdout, shown.stderr, await readFile(changes, 'utf8'), await readFile(rejects, 'utf8'));
  }
  return texts.join('\n');
}

describe('a place that the State withholds', () => {
  const HOW: readonly [string, readonly Places[]][] = [
    ['in the row', [AT_HOME, MOVED, HIDDEN]],
    ['twice', [AT_HOME, HIDDEN, MOVED, MISSING, AT_HOME, MISSING, HIDDEN]],
    ['while the license was missing', [AT_HOME, MOVED, MISSING, HIDDEN]],
    ['after a row that could not be read', [AT_HOME, BROKEN, HIDDEN]],
  ];
  test.each(inForm({ short: HOW.slice(0, 1), long: HOW }))('%s is in no index', async (_how, days) => {
    const environment = await newEnvironment({ KEEP_PUBLICATIONS: '1' });
    for (const places of days) await publishWith(environment, places);
    expect(await documentsWithMark(environment)).toEqual([]);
  });

  test('is in no response, page or output of a command', async () => {
    const environment = await newEnvironment({ KEEP_PUBLICATIONS: '1' });
    for (const places of [AT_HOME, MOVED, MISSING, HIDDEN]) await publishWith(environment, places);
    const text = await said(environment);
    expect(text).toContain(NUMBER);
    expect(text).not.toContain(MARK);
    expect(text).toContain('"city":{"before":null,"after":null,"erased":true}');
  });

  test('is only in indices that are kept for a rollback, and gone after it was undone', async () => {
    const environment = await newEnvironment({ KEEP_PUBLICATIONS: '2' });
    const { store } = environment;
    await publishWith(environment, MOVED);
    const before = await publishWith(environment, AT_HOME);
    const after = await publishWith(environment, MISSING);
    await rollBack(store, before);
    await rollBack(store, after);
    const hidden = await publishWith(environment, HIDDEN);
    await rollBack(store, after);
    await rollBack(store, hidden);
    const left = await documentsWithMark(environment);
    expect(left.filter((text) => !text.startsWith('licenses-'))).toEqual([]);
    await prune(store, 1);
    expect(await documentsWithMark(environment)).toEqual([]);
  });

  inLongFormOnly(() => {
    test('is erased although the erasure was killed at any of its requests', async () => {
      const environment = await newEnvironment({ KEEP_PUBLICATIONS: '1' });
      // One nurse for each request at which the erasure is killed.
      const nurses = times(MOST_REQUESTS, (number) => String.fromCharCode(64 + number));
      const placesOf = (marked: Places) =>
        nurses.map((name) => marked?.map((cell) => cell.replaceAll(MARK, `${MARK}${name}`)));
      for (const marked of [AT_HOME, MOVED, MISSING]) await publishWith(environment, ...placesOf(marked));
      for (let killedAt = 1; killedAt <= MOST_REQUESTS; killedAt += 1) {
        let made = 0;
        let isPruning = false;
        const files = await filesWith(environment, ...times(killedAt, () => HIDDEN));
        const publishing = publishFiles(environment, files, {
          through: (request) => {
            if (request.body.includes('"event":"live"')) isPruning = true;
            if (isPruning && request.path.includes('changes/')) made += 1;
            if (made < killedAt) return request.forward();
            return made === killedAt && killedAt % 2 === 0 ? loseResponse(request) : cut(request);
          },
        });
        const [ended] = await Promise.allSettled([publishing]);
        await prune(environment.store, 1);
        const left = await documentsWithMark(environment, `${MARK}${nurses[killedAt - 1]}`);
        expect({ killedAt, left }).toEqual({ killedAt, left: [] });
        if (ended.status === 'fulfilled') {
          expect(made).toBeGreaterThan(3);
          return;
        }
      }
      throw new Error(`The erasure makes more than ${MOST_REQUESTS} requests.`);
    });
  });
});
