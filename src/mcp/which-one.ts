import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  PROTOCOL_VERSION_META_KEY,
  type PrimitiveSchemaDefinition,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { BadRequestError } from '../licenses/bad-request.ts';
import { type Filters, mapFilters } from '../licenses/filters.ts';
import { fold } from '../licenses/fold.ts';
import { isMiss, type LookupOutcome, type LookupRequest, lookupFields } from '../licenses/lookup.ts';
import { filterWords, nameWords } from '../licenses/not-found.ts';
import type { DatedOutcome, Lookups } from '../lookup/service.ts';
import { type Origin, SAMPLE_DATA_NOTICE } from './results.ts';

/** Of so few licenses, a model sees which one is meant, or asks by itself. */
const MAX_WITHOUT_QUESTION = 10;

/** A field whose values together are longer as JSON is text to type. */
const MAX_CHOICES_CHARACTERS = 1000;

const QUESTION = 'which';

/** What tells licenses of the same name apart. */
const ASKED = ['city', 'license_type', 'status'] as const;

const FIELD_WORDS = mapFilters(({ label: title, hint }) => ({ title, hint }));

/** A user whose client can show a form, with the answers of a repeated call; `undefined` before anything was asked. */
export type User = { readonly responses?: Readonly<Record<string, unknown>> | undefined };

const takesForms = z.object({
  [PROTOCOL_VERSION_META_KEY]: z.string(),
  [CLIENT_CAPABILITIES_META_KEY]: z.object({
    elicitation: z.looseObject({}).refine(({ form, url }) => form !== undefined || url === undefined),
  }),
});

/** The user of a call, by its `_meta`; `undefined` if the client can't show a form or is of a revision before 2026. */
export function userOf(meta: unknown, responses?: User['responses']): User | undefined {
  return takesForms.safeParse(meta).success ? { responses } : undefined;
}

/** Asks which of many licenses is meant, where an answer can tell. The client repeats the call with the answer. */
export function whichOne(
  outcome: LookupOutcome,
  request: LookupRequest,
  { date, isSampleData }: Origin,
): InputRequiredResult | undefined {
  if (request.by === 'number' || outcome.outcome !== 'several') return undefined;
  const { records, truncated } = outcome;
  if (records.length <= MAX_WITHOUT_QUESTION) return undefined;
  const properties = Object.fromEntries(
    ASKED.flatMap((name): [string, PrimitiveSchemaDefinition][] => {
      const { title, hint } = FIELD_WORDS[name];
      const byKey = new Map(records.map((record) => [fold(record[name] ?? ''), record[name] ?? '']));
      byKey.delete('');
      if (request.filters[name] !== undefined || (byKey.size < 2 && !truncated)) return [];
      const values = [...byKey.values()].sort();
      return truncated || JSON.stringify(values).length > MAX_CHOICES_CHARACTERS
        ? [[name, { type: 'string', title, ...(hint && { description: hint }) }]]
        : [[name, { type: 'string', title, enum: values }]];
    }),
  );
  if (Object.keys(properties).length === 0) return undefined;
  const whose = request.board === undefined ? 'all boards' : `the ${request.board.name}`;
  const message = `${isSampleData ? `${SAMPLE_DATA_NOTICE} ` : ''}The ${nameWords(request)} matches ${truncated ? 'more than ' : ''}${records.length} licenses of ${whose} in the State's dataset of ${date}. Which one is meant? Leave empty what you do not know: licenses that do not fit an answer are left out.`;
  const form = inputRequired.elicit({ message, requestedSchema: { type: 'object', properties } });
  return inputRequired({ inputRequests: { [QUESTION]: form } });
}

const answerFields = lookupFields.pick({ city: true, license_type: true, status: true });

/**
 * Narrows a search by the user's answer, which only adds filters, each checked as the call's own.
 *
 * @returns what was answered, in words; without `narrowed`, it leaves nothing out. `undefined` without an answer
 */
export async function answered(
  lookups: Lookups,
  request: LookupRequest,
  responses: User['responses'],
): Promise<{ sentence: string; narrowed?: DatedOutcome; filters?: Filters } | undefined> {
  if (request.by === 'number' || responses === undefined) return undefined;
  const said: Filters = acceptedContent(responses, QUESTION, answerFields) ?? {};
  const added = mapFilters((_, name) => (request.filters[name] === undefined ? said[name] : undefined));
  const words = filterWords(added);
  const asked = 'The user was asked which license is meant, and';
  if (words === '') return { sentence: `${asked} gave no answer that narrows the search.` };
  const filters = mapFilters((_, name) => request.filters[name] ?? added[name]);
  const narrowed = await lookups.lookUp({ ...request, filters }).catch((error: unknown) => {
    if (error instanceof BadRequestError) return undefined;
    throw error;
  });
  if (narrowed === undefined || isMiss(narrowed.outcome)) {
    return { sentence: `${asked} answered ${words}. No license fits that, so none is left out.` };
  }
  return { sentence: `${asked} answered ${words}. Other licenses are left out.`, narrowed, filters };
}
