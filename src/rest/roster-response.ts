import { z } from 'zod';
import { originBody, originFields } from '../answers/origin.ts';
import { FOUND_BY, missFacts } from '../answers/view.ts';
import { itemsOf } from '../answers/words.ts';
import { MAX_LISTED_MATCHES } from '../licenses/lookup.ts';
import { MAX_ITEMS, type RosterResult } from '../rosters/roster.ts';
import { type AnswerFormat, MAX_ITEMS_WITH_SUGGESTIONS } from '../rosters/service.ts';
import { licenseBody, missBody } from './verify-response.ts';

export const resultBase = {
  index: z.int().describe('The place of the item in the roster, from 0'),
  reference: z.string().nullable().describe('As in the item'),
};

const foundResult = z.object({
  ...resultBase,
  outcome: z.literal('found'),
  found_by: z
    .enum(FOUND_BY)
    .describe('name: the only match, so compare it with the person or business meant'),
  record: licenseBody,
});

const ambiguousResult = z.object({
  ...resultBase,
  outcome: z.literal('ambiguous'),
  matches: z.array(licenseBody).max(MAX_LISTED_MATCHES).describe('Exact names first'),
  truncated: z.boolean().describe('Whether more match than are listed'),
});

export const notFoundResult = z.object({
  ...resultBase,
  outcome: z.literal('not_found'),
  detail: z.string().describe('What was searched, in which dataset, and what to do'),
  ...missFacts.shape,
  reason: missFacts.shape.reason
    .optional()
    .meta({ description: 'Of an item with a number, as in the 404 of /lookup/verify' }),
  did_you_mean: z
    .array(z.string())
    .describe('Numbers or names that exist and may be meant, as in /lookup/verify'),
  suggestions_omitted: z
    .literal(true)
    .optional()
    .describe(`Present where did_you_mean is left out: after ${MAX_ITEMS_WITH_SUGGESTIONS} such items`),
});

export const invalidResult = z.object({
  ...resultBase,
  outcome: z.literal('invalid'),
  detail: z.string().describe('What is wrong and what to send instead, as in a 400 of /lookup/verify'),
});

export const rosterAnswerBody = z
  .object({
    count: z.int().min(1).max(MAX_ITEMS),
    summary: z
      .object({
        found: z.int(),
        clear: z.int().describe('Those of the found, by number or as the only match, that have no cautions'),
        ambiguous: z.int(),
        not_found: z.int(),
        invalid: z.int(),
      })
      .describe('How many items ended in each way; clear is part of found'),
    ...originFields,
    results: z
      .array(z.discriminatedUnion('outcome', [foundResult, ambiguousResult, notFoundResult, invalidResult]))
      .describe('In the order of the items'),
  })
  .meta({ id: 'RosterAnswer' });

export function resultBody({ index, reference, view, suggestionsOmitted }: RosterResult) {
  const item = { index, reference, outcome: view.outcome };
  switch (view.outcome) {
    case 'found':
      return { ...item, found_by: view.foundBy, record: view.record };
    case 'ambiguous':
      return { ...item, matches: view.records, truncated: view.truncated };
    case 'not_found':
      return { ...item, ...missBody(view), ...(suggestionsOmitted && { suggestions_omitted: true }) };
    case 'invalid':
      return { ...item, detail: view.detail };
  }
}

/** A roster's answer as JSON. */
export const JSON_ANSWER: AnswerFormat<Buffer> = {
  shape: (results) => Buffer.from(results.map((result) => JSON.stringify(resultBody(result))).join(',')),
  parts: ({ origin, summary, shaped }) => {
    const head = { count: itemsOf(summary), summary, ...originBody(origin) };
    const comma = Buffer.from(',');
    return [
      Buffer.from(`${JSON.stringify(head).slice(0, -1)},"results":[`),
      ...shaped.flatMap((part, at) => (at === 0 ? [part] : [comma, part])),
      Buffer.from(']}'),
    ];
  },
};
