import type { z } from 'zod';

/** A JSON Schema of an object, for the parameters and the results of tools. */
export type ObjectSchema = { readonly type: 'object'; readonly [keyword: string]: unknown };

const TARGET = { target: 'draft-2020-12' } as const;

/**
 * The JSON Schema that clients are shown. The SDK does not check parameters against it, because its errors would lack
 * data_as_of; `readParameters` does.
 *
 * @param side whether the values come from clients or go to them, which differs when a schema transforms values
 */
export function objectSchema(schema: z.ZodType, side: 'input' | 'output'): ObjectSchema {
  return { ...schema['~standard'].jsonSchema[side](TARGET), type: 'object' };
}
