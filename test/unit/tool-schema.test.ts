import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { objectSchema } from '../../src/mcp/tool-schema.ts';

const schema = z.object({
  number: z.string().trim().min(1).describe('The number'),
  board: z.string().default('Nursing Board'),
});

test('a tool’s parameters as JSON Schema: what is sent', () => {
  expect(objectSchema(schema, 'input')).toMatchObject({
    type: 'object',
    properties: { number: { type: 'string', minLength: 1, description: 'The number' } },
    required: ['number'],
  });
});

test('a tool’s result as JSON Schema: what is answered', () => {
  expect(objectSchema(schema, 'output')).toMatchObject({ type: 'object', required: ['number', 'board'] });
});
