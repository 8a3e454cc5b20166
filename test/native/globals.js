/** What a test file gets for `@jest/globals`: the functions that belong to it. */
export const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } =
  globalThis[Symbol.for('test-file-globals')];
