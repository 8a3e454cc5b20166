import { test } from '@jest/globals';
import { type RequirementId, requirement } from '../requirements.ts';
import { nameWithIds } from './requirement-ids.ts';

/**
 * Declares a test with the requirements it verifies. Its name lists them.
 *
 * @throws {Error} when an id is not in test/requirements.ts
 */
export function verifies(
  ids: RequirementId | readonly RequirementId[],
  name: string,
  verify: () => void | Promise<void>,
  timeout?: number,
): void {
  const all = [ids].flat();
  for (const id of all) requirement(id);
  test(nameWithIds(name, all), verify, timeout);
}
