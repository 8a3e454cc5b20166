import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

const fields = z.record(z.string(), z.unknown());

const call = z
  .strictObject({
    tool: z.string(),
    arguments: fields.default({}),
    /** Whether the tool rejects the call. */
    isError: z.boolean().default(false),
    license: fields.optional(),
    licenses: z.array(fields).optional(),
    outcome: z.enum(['not_found', 'ambiguous']).optional(),
    facts: fields.default({}),
    /** A pattern that the text of the result must match. */
    says: z
      .string()
      .transform((pattern) => new RegExp(pattern))
      .optional(),
    /** Texts that the result must not contain. */
    never: z.array(z.string()).default([]),
  })
  .transform(({ license, licenses = license && [license], outcome, facts, ...others }) => ({
    ...others,
    /** Fields that the result must have. It may have others. */
    facts: {
      ...(licenses && { outcome: 'found', count: licenses.length, truncated: false, licenses }),
      ...(outcome && { outcome, count: 0, licenses: [] }),
      ...facts,
    },
  }));

const questions = z.array(
  z.strictObject({ ask: z.string(), kind: z.string().optional(), calls: z.array(call) }),
);

export type Question = z.output<typeof questions>[number];

/** A scripted tool call, as a careful agent would make it, and the expected content of the result. */
export type Call = Question['calls'][number];

/** Questions to assistants, with the tool calls of a careful agent and the expected content of the results. */
export const QUESTIONS: readonly Question[] = questions.parse(
  parse(readFileSync(join(import.meta.dirname, 'questions.yaml'), 'utf8')),
);
