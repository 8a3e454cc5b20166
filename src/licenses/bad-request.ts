import type { z } from 'zod';

/** The request is invalid. The message says what to send instead. */
export class BadRequestError extends Error {}

/**
 * A value from a request, as its schema reads it.
 *
 * @throws {BadRequestError} with the first message of the schema
 */
export function checked<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (!result.success) throw new BadRequestError(result.error.issues[0]?.message);
  return result.data;
}
