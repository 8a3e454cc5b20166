const CLEAN_UPS = Symbol.for('test-clean-ups');

/**
 * Has something undone at the end of the test file that makes it, what was made last first; also when a test or a
 * hook fails before it could say so. Elsewhere than in a test, whoever made it undoes it.
 */
export function atEndOfTestFile(cleanUp: () => Promise<unknown>): void {
  const cleanUps: unknown = Reflect.get(globalThis, CLEAN_UPS);
  if (Array.isArray(cleanUps)) cleanUps.push(cleanUp);
}

/** Does it at the first call; further calls wait for the same. */
export function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}
