import { globSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { generatedFiles } from '../../bench/reports/documents.ts';
import { FOLDER, PAGES } from '../../scripts/generated-pages.ts';
import { documentText } from '../support/documented.ts';
import { ERRORS_PAGE } from '../support/errors-page.ts';

test.each([...PAGES])('%s is what npm run generated-pages writes', (name, page) => {
  expect(documentText(`${FOLDER}/${name}`)).toBe(page());
});

test('every page of the folder is generated, so a test compares it', async () => {
  const generated = [...PAGES.keys()].map((name) => `${FOLDER}/${name}`);
  const measured = [...(await generatedFiles()).keys()].filter((file) => file.startsWith(FOLDER));
  const files = globSync(`${FOLDER}/*`, { cwd: `${import.meta.dirname}/../..` });
  expect(files.toSorted()).toEqual([...generated, ...measured, ERRORS_PAGE].toSorted());
});
