import { expect } from '@jest/globals';
import { z } from 'zod';
import { NOT_FOUND_REASONS } from '../../src/licenses/lookup.ts';
import { CAUTIONS, NOTES } from '../../src/licenses/standing.ts';
import type { ApiAnswer } from './api.ts';

/** A license record, with exactly the required fields (RECORD-01), and name_match where a name was compared. */
export const recordAnswer = z.strictObject({
  ...{ found: z.literal(true), license_number: z.string().min(1), full_name: z.string().min(1) },
  ...{ board: z.string().min(1), license_type: z.string().min(1).nullable() },
  ...{ status: z.nullable(z.string().regex(/^[^a-z]+$/)), expiry_date: z.iso.date().nullable() },
  ...{ days_until_expiry: z.int().nullable(), city: z.string().min(1).nullable() },
  ...{ state: z.nullable(z.string().regex(/^[A-Z]{2}$/)), raw_status: z.string().min(1).nullable() },
  ...{ county: z.string().min(1).nullable(), issue_date: z.iso.date().nullable() },
  ...{ extra_data: z.record(z.string(), z.string().min(1)), cautions: z.array(z.enum(CAUTIONS)) },
  ...{ notes: z.array(z.enum(NOTES)), source: z.literal('dataset') },
  last_scraped: z.iso.datetime({ local: true }).regex(/^\d{4}-\d{2}-\d{2}T00:00:00$/),
  data_age_days: z.int(),
  /** Present only if the request has a name and a number. */
  name_match: z.boolean().optional(),
  /** Present only if the name belongs to another license. */
  name_at_board: z.boolean().optional(),
});

const origin = { source: z.literal('dataset'), last_scraped: z.string(), data_age_days: z.int() };

const matchesAnswer = z.strictObject({
  ...{ found: z.literal(true), count: z.int().min(2), truncated: z.boolean() },
  ...{ message: z.string().optional(), multiple: z.array(recordAnswer).min(2).max(100) },
  ...origin,
});

const noMatchAnswer = z.strictObject({
  found: z.literal(false),
  count: z.literal(0),
  message: z.string().regex(/dataset of \d{4}-\d{2}-\d{2}.*The issuing board is the authority/),
  did_you_mean: z.array(z.string().min(1)).max(5),
  ...origin,
});

const errorAnswer = z.strictObject({
  detail: z.string().min(1),
  /** Present only in responses to lookups. */
  data_age_days: z.int().nullable().optional(),
});

const numberMissAnswer = z.strictObject({
  detail: z.string().regex(/dataset of \d{4}-\d{2}-\d{2}.*The issuing board is the authority/),
  ...{ reason: z.enum(NOT_FOUND_REASONS), did_you_mean: z.array(z.string().min(1)).max(3) },
  did_you_mean_name_match: z.array(z.boolean()).max(3).optional(),
  last_in_dataset: z.iso.date().nullable().optional(),
  ...{ last_raw_status: z.string().nullable().optional(), data_age_days: z.int() },
});

export type RecordAnswer = z.output<typeof recordAnswer>;

function bodyOf<Body>(answer: ApiAnswer, status: number, schema: z.ZodType<Body>): Body {
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status });
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  return schema.parse(answer.body);
}

/** The record in a response with status 200. */
export const recordIn = (answer: ApiAnswer): RecordAnswer => bodyOf(answer, 200, recordAnswer);

/** The response with several matches and status 200. */
export const matchesIn = (answer: ApiAnswer): z.output<typeof matchesAnswer> =>
  bodyOf(answer, 200, matchesAnswer);

/** The license numbers in a search response, one or more, in order. */
export function numbersIn(answer: ApiAnswer): string[] {
  const body = bodyOf(answer, 200, z.union([recordAnswer, matchesAnswer, noMatchAnswer]));
  if (!body.found) return [];
  return 'multiple' in body ? body.multiple.map((record) => record.license_number) : [body.license_number];
}

/** The response of a search without a match, with status 200. */
export const noMatchIn = (answer: ApiAnswer): z.output<typeof noMatchAnswer> =>
  bodyOf(answer, 200, noMatchAnswer);

/** The response for an unknown number, with status 404. */
export const numberMissIn = (answer: ApiAnswer): z.output<typeof numberMissAnswer> =>
  bodyOf(answer, 404, numberMissAnswer);

/** The detail of an error response. The body has no other field. */
export const detailIn = (answer: ApiAnswer, status: number): string =>
  bodyOf(answer, status, errorAnswer).detail;

/** The detail of an error, checked not to reveal internals. */
export function safeDetailIn(answer: ApiAnswer, status: number): string {
  const detail = detailIn(answer, status);
  expect(answer.text).not.toMatch(
    /at \w+.*:\d+:\d+|node_modules|\.ts\b|Error:|opensearch|redis|stack|licenses-\d/i,
  );
  return detail;
}
