import { expect, test } from '@jest/globals';
import { directDependencies, isAllowed, lockedPackages, reasons } from '../../scripts/dependency-page.ts';

test('every direct dependency has a reason, and every reason a dependency', () => {
  const { dependencies, devDependencies, optionalDependencies } = directDependencies();
  const names = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
  expect(Object.keys(reasons()).toSorted()).toEqual(names.toSorted());
});

test('every package in the lock file has an allowed license', () => {
  expect(lockedPackages().filter((each) => !isAllowed(each))).toEqual([]);
});

test.each([
  ['MIT', true],
  ['(MIT OR CC0-1.0)', true],
  ['Apache-2.0 AND MIT', true],
  ['MIT AND GPL-3.0-only', false],
  ['MPL-2.0', false],
  ['none', false],
])('%s of any package is allowed: %s', (license, allowed) => {
  expect(isAllowed({ name: 'any', license })).toBe(allowed);
});
