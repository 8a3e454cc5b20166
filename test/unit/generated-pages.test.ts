import { globSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { generatedFiles } from '../../bench/reports/documents.ts';
import { FOLDER, PAGES } from '../../scripts/generated-pages.ts';
import { documentedTables, documentText } from '../support/documented.ts';
import { ERRORS_PAGE } from '../support/errors-page.ts';
import { FAULTS_PAGE, faultsPage } from '../support/fault-table.ts';

test.each([...PAGES])('%s is what npm run generated-pages writes', (name, page) => {
  expect(documentText(`${FOLDER}/${name}`)).toBe(page());
});

test('the page of faults is what the fault tests write of the rows that it has', () => {
  const text = documentText(FAULTS_PAGE);
  const [, day = '', cores = ''] = /of (\S+), on (\d+) cores/.exec(text) ?? [];
  const rows = documentedTables(FAULTS_PAGE, 'fault').flatMap((table) => table.rows);
  expect(text).toBe(faultsPage(day, cores, rows));
});

test('every page of the folder is generated, so a test compares it', async () => {
  const generated = [...PAGES.keys()].map((name) => `${FOLDER}/${name}`);
  const measured = [...(await generatedFiles()).keys()].filter((file) => file.startsWith(FOLDER));
  const files = globSync(`${FOLDER}/*`, { cwd: `${import.meta.dirname}/../..` });
  expect(files.toSorted()).toEqual([...generated, ...measured, ERRORS_PAGE, FAULTS_PAGE].toSorted());
});
