const CLEAN_UPS = Symbol.for('test-clean-ups');

/**
 * Registers a clean-up for the end of the current test file. Clean-ups run in reverse order, even when a test or a hook
 * fails early. Outside a test file, the caller must clean up itself.
 */
export function atEndOfTestFile(cleanUp: () => Promise<unknown>): void {
  const cleanUps: unknown = Reflect.get(globalThis, CLEAN_UPS);
  if (Array.isArray(cleanUps)) cleanUps.push(cleanUp);
}

/** Runs the work on the first call. Further calls return the same promise. */
export function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}
