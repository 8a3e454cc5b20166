import type { z } from 'zod';

/** What JSON says; `undefined` for a text that is none, or says something else. */
export function parsedAs<Value>(shape: z.ZodType<Value>, json: string): Value | undefined {
  try {
    return shape.parse(JSON.parse(json));
  } catch {
    return undefined;
  }
}
