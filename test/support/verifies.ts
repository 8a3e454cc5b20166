import { test } from '@jest/globals';
import type { RequirementId } from '../requirements.ts';
import { nameWithIds } from './requirement-ids.ts';

/** Declares a test with the requirements it verifies, ids of test/requirements.json. Its name lists them. */
export function verifies(
  ids: RequirementId | readonly RequirementId[],
  name: string,
  verify: () => void | Promise<void>,
  timeout?: number,
): void {
  test(nameWithIds(name, [ids].flat()), verify, timeout);
}
