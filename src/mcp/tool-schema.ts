import type { z } from 'zod';

/** A JSON Schema of an object, as tools are described by. */
export type ObjectSchema = { readonly type: 'object'; readonly [keyword: string]: unknown };

const TARGET = { target: 'draft-2020-12' } as const;

/**
 * A schema as JSON Schema, in the form that clients are shown. What they send is not held to it by the SDK, which
 * would refuse it in words of its own and without data_as_of: the tool does that (`readParameters`).
 *
 * @param side of a schema that changes values, the one that is sent to the service or the one that it answers
 */
export function objectSchema(schema: z.ZodType, side: 'input' | 'output'): ObjectSchema {
  return { ...schema['~standard'].jsonSchema[side](TARGET), type: 'object' };
}
