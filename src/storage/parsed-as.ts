import type { z } from 'zod';

/** Parses JSON and validates it; `undefined` for text that is not JSON or does not fit the schema. */
export function parsedAs<Value>(shape: z.ZodType<Value>, json: string): Value | undefined {
  try {
    return shape.parse(JSON.parse(json));
  } catch {
    return undefined;
  }
}
