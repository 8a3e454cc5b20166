import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readCsv } from '../../src/dataset/csv.ts';
import { fileText } from '../../src/dataset/source-file.ts';
import { newId } from '../../src/publications/metadata.ts';
import { writeRejects } from '../../src/publications/rejected-rows.ts';
import { licensesOf } from '../support/day-files.ts';
import { FIXTURES } from '../support/fixtures.ts';
import { rejectedOf } from '../support/ledger.ts';
import { answer, loseResponse, throughProxy } from '../support/proxy.ts';
import { filesOf, newEnvironment, published } from '../support/publication-days.ts';
import { publishFiles } from '../support/publishing.ts';

const NURSING = 'Nursing Board';
const PHARMACY = 'Board of Pharmacy';

describe('the rows that a publication rejected', () => {
  /** The fields of each row of a CSV file, with the header first. */
  async function parsed(path: string): Promise<(readonly string[])[]> {
    const rows: (readonly string[])[] = [];
    for await (const batch of readCsv(fileText(path))) {
      for (const { fields, problem } of batch) {
        expect(problem).toBeUndefined();
        rows.push(fields);
      }
    }
    return rows;
  }

  test('are exported to a CSV file exactly as they were, including quotes', async () => {
    const environment = await newEnvironment();
    const { store, folder } = environment;
    const { publication } = await publishFiles(environment, FIXTURES);
    const path = join(folder, 'rejects.csv');
    expect(await writeRejects(store, publication, path)).toEqual({
      file: path,
      rows: 6,
    });
    const [header, ...rows] = await parsed(path);
    expect(header).toEqual(['FILE', 'LINE', 'REASON', 'ROW']);
    const lines = (await readFile(FIXTURES.individual, 'utf8')).split('\n');
    const rejected = await rejectedOf(environment, publication);
    expect(rows).toEqual(
      rejected.map(({ file, line, reason }) => [file, String(line), reason, lines[line - 1]]),
    );
    expect(rows.map(([, line]) => line)).toEqual(['19', '20', '21', '22', '23', '26']);
    expect(rows[4]?.[3]).toMatch(/^"OPEN, OLGA,Nursing Board/);
  });

  test('are all exported when there are several pages, without those of other publications', async () => {
    const environment = await newEnvironment();
    const { store, folder } = environment;
    await publishFiles(environment, FIXTURES);
    const individual = licensesOf(NURSING, 'RN.', 2500).map((row, at) =>
      at % 2 === 0 ? row : { ...row, name: `"A", "B"\r\nC ${at}`, expires: 'never' },
    );
    const business = [...licensesOf(PHARMACY, '02', 2), { board: PHARMACY, number: '' }];
    const files = await filesOf(environment, '2026-11-21', { individual, business });
    const { publication } = await publishFiles(environment, files);
    const path = join(folder, 'rejects.csv');
    await writeRejects(store, publication, path);
    const [, ...rows] = await parsed(path);
    expect(rows).toHaveLength(1251);
    expect(rows.slice(0, 3).map(([file, line]) => [file, line])).toEqual([
      ['individual', '3'],
      // Each rejected row spans two lines.
      ['individual', '6'],
      ['individual', '9'],
    ]);
    expect(rows[0]?.[3]).toBe(
      '"""A"", ""B""\r\nC 1","Nursing Board","RN.900002","","Active","","No","never","LIMA","2026-11-21"',
    );
    expect(rows.at(-1)).toEqual(['business', '4', 'LICENSE_NUMBER is blank', expect.any(String)]);
  });

  test('are exported with their formulas neutralized', async () => {
    const environment = await newEnvironment();
    const [row] = licensesOf(NURSING, 'RN.', 1);
    if (row === undefined) throw new Error('There is a license.');
    const names = ['=1+1', 'X;=1+1', 'X\n＝1'];
    const individual = [
      ...licensesOf(NURSING, 'RN.', 10),
      ...names.map((name, at) => ({ ...row, name, number: `RN.${800_000 + at}`, expires: 'never' })),
    ];
    const files = await filesOf(environment, '2026-11-20', {
      individual,
      business: licensesOf(PHARMACY, '02', 2),
    });
    const { publication } = await publishFiles(environment, files);
    const path = join(environment.folder, 'formulas.csv');
    await writeRejects(environment.store, publication, path);
    const [, ...rows] = await parsed(path);
    expect(rows.map(([, , , raw]) => raw?.slice(0, 10))).toEqual([
      `'"=1+1","N`,
      `"X;'=1+1",`,
      `"X\n'＝1","N`,
    ]);
  });

  test('are exported as a header alone if there are none', async () => {
    const environment = await newEnvironment();
    const { store, folder } = environment;
    const { publication } = await published(environment, '2026-11-20');
    const path = join(folder, 'none.csv');
    await writeFile(path, 'an earlier file');
    await writeRejects(store, publication, path);
    expect(await readFile(path, 'utf8')).toBe('FILE,LINE,REASON,ROW\n');
  });

  test('are stored exactly once even if OpenSearch refuses them or its responses are lost', async () => {
    const environment = await newEnvironment();
    const faults = [answer(429), loseResponse, answer(429)];
    const { publication } = await throughProxy(
      environment,
      (request) => {
        const fault = request.path.includes('rejected-rows/_bulk') ? faults.shift() : undefined;
        return fault === undefined ? request.forward() : fault(request);
      },
      (through) => publishFiles(through, FIXTURES),
    );
    expect(faults).toEqual([]);
    expect(await rejectedOf(environment, publication)).toHaveLength(6);
  });

  test('are not stored twice by a second attempt', async () => {
    const environment = await newEnvironment();
    const publication = newId();
    const stop = new AbortController();
    const broken = publishFiles(environment, FIXTURES, {
      publication,
      signal: stop.signal,
      onProgress: ({ step }) => {
        if (step === 'making durable') stop.abort(new Error('killed by the test'));
      },
    });
    await expect(broken).rejects.toThrow('killed by the test');
    const before = await rejectedOf(environment, publication);
    expect(before).toHaveLength(6);

    const again = await publishFiles(environment, FIXTURES, { publication });
    expect(again).toMatchObject({ state: 'live', publication, rejected: 6 });
    expect(await rejectedOf(environment, publication)).toEqual(before);
  });
});
