import { expect, test } from '@jest/globals';
import { statusOutcome } from '../../src/access/usage.ts';

test.each([
  [200, 'answered'],
  [304, 'answered'],
  [400, 'refused'],
  [401, 'unauthorized'],
  [404, 'refused'],
  [413, 'refused'],
  [429, 'limited'],
  [500, 'failed'],
  [501, 'refused'],
  [503, 'unavailable'],
] as const)('a request answered with %d is counted as %s', (status, outcome) => {
  expect(statusOutcome(status)).toBe(outcome);
});
