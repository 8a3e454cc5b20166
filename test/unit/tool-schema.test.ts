import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { computedOnce, trusted } from '../../src/mcp/tool-schema.ts';

const schema = z.object({ number: z.string().trim().min(1).describe('The number') });
const TARGET = { target: 'draft-2020-12' } as const;

describe('computedOnce', () => {
  test('has the JSON Schemas of the schema, each the same object every time', () => {
    const { jsonSchema } = computedOnce(schema)['~standard'];
    expect(jsonSchema.input(TARGET)).toEqual(schema['~standard'].jsonSchema.input(TARGET));
    expect(jsonSchema.output(TARGET)).toEqual(schema['~standard'].jsonSchema.output(TARGET));
    expect(jsonSchema.input(TARGET)).toBe(jsonSchema.input(TARGET));
  });

  test('checks and changes values as the schema does', async () => {
    const { validate } = computedOnce(schema)['~standard'];
    expect(await validate({ number: ' RN.1 ' })).toEqual({ value: { number: 'RN.1' } });
    expect(await validate({ number: '' })).toHaveProperty('issues.0.path', ['number']);
  });
});

describe('trusted', () => {
  test('says what it is in JSON Schema, and takes what it is given', async () => {
    const { jsonSchema, validate } = trusted(schema)['~standard'];
    expect(jsonSchema.output(TARGET)).toEqual(schema['~standard'].jsonSchema.output(TARGET));
    expect(await validate({ number: 7 })).toEqual({ value: { number: 7 } });
  });
});
