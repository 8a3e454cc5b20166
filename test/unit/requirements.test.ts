import { expect, test } from '@jest/globals';
import { verifyingTests } from '../../scripts/requirements-page.ts';
import { REQUIREMENTS } from '../requirements.ts';
import { documentText } from '../support/documented.ts';

const IDS = Object.keys(REQUIREMENTS);

test('every id that a test verifies is a requirement, and every requirement has a test', () => {
  expect([...new Set(verifyingTests().flatMap(({ ids }) => ids))].toSorted()).toEqual(IDS.toSorted());
});

test('every call of verifies is one that the page can read', () => {
  const tests = verifyingTests().filter(({ file }) => file.endsWith('.ts'));
  const files = new Set(tests.map(({ file }) => file));
  for (const file of files) {
    const calls = documentText(file).match(/^\s*(?:await )?verifies\(/gm) ?? [];
    expect([file, calls.length]).toEqual([file, tests.filter((each) => each.file === file).length]);
  }
});
