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

test('a license of any package is allowed if all of its parts are', () => {
  const allowed = ['MIT', '(MIT OR CC0-1.0)', 'Apache-2.0 AND MIT'];
  const licenses = [...allowed, 'MIT AND GPL-3.0-only', 'MPL-2.0', 'none'];
  expect(licenses.filter((license) => isAllowed({ name: 'any', license }))).toEqual(allowed);
});
