import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { testFiles } from '../../scripts/test-files.ts';
import { documentText } from '../support/documented.ts';

const nightly = z.object({
  jobs: z.object({
    long: z.object({ strategy: z.object({ matrix: z.object({ room: z.array(z.string()) }) }) }),
  }),
});

test('every room of the long form is run each night', () => {
  const rooms = new Set(testFiles('long', []).map(({ room }) => room));
  const { jobs } = nightly.parse(parse(documentText('.github/workflows/nightly.yml')));
  expect(jobs.long.strategy.matrix.room.toSorted()).toEqual([...rooms].toSorted());
});

test('what only the long form runs has a room, and no other form runs it', () => {
  const long = testFiles('long', []).filter(({ isLong }) => isLong);
  expect(long.length).toBeGreaterThan(5);
  const short = new Set(testFiles('all', []).map(({ path }) => path));
  expect(long.filter(({ path }) => short.has(path))).toEqual([]);
  expect([...short]).toEqual(expect.arrayContaining(testFiles('default', []).map(({ path }) => path)));
});
