import { z } from 'zod';
import { boardProblem } from '../answers/words.ts';
import { BOARDS } from '../licenses/boards.ts';
import { type Filter, mapFilters } from '../licenses/filters.ts';
import { visibleText } from '../licenses/fold.ts';
import { BadRequestError, MAX_CHARACTERS, MAX_MATCHES } from '../licenses/lookup.ts';

/** The JSON Schema of a tool's parameters or result. */
export type ObjectSchema = { readonly type: 'object'; readonly [keyword: string]: unknown };

/**
 * Keywords that are left out of schemas, because some validators do not know them, or because the error messages of
 * parameters or the descriptions of tools already give the information.
 */
const LEFT_OUT = {
  input: ['propertyNames', 'minLength', 'maxLength'],
  output: ['propertyNames', 'format', 'minimum', 'maximum', 'additionalProperties', 'description'],
} as const;

/**
 * The JSON Schema that clients get. It is short, because models read it.
 * The SDK does not check parameters against it, because its errors would lack data_as_of; `readParameters` does.
 *
 * @param side whether the values come from clients or go to them, which differs when a schema transforms values
 */
export function objectSchema(schema: z.ZodType, side: 'input' | 'output'): ObjectSchema {
  const { $schema: _, ...shown } = z.toJSONSchema(schema, {
    io: side,
    override: ({ jsonSchema }) => {
      for (const keyword of LEFT_OUT[side]) delete jsonSchema[keyword];
    },
  });
  return { ...shown, type: 'object' };
}

/** A text parameter. `readParameters` has trimmed the text and dropped blank ones. */
function text(description: string, ...examples: readonly string[]) {
  const send = `Send: ${description}, e.g. ${JSON.stringify(examples[0])}`;
  return z
    .string({ error: ({ input }) => `${input === undefined ? 'is missing' : 'must be text'}. ${send}` })
    .max(MAX_CHARACTERS, `must have at most ${MAX_CHARACTERS} characters. ${send}`)
    .meta({ description, examples: [...examples] });
}

const boardName = z.enum(
  BOARDS.map(({ name }) => name),
  { error: ({ input }) => `${boardProblem(input)} list_ohio_boards lists all` },
);

/** An optional board that is rarely needed. Listing all boards would take a third of the schema's length. */
function rareBoard(description: string) {
  const meta = { description: `${description}, by its exact name in list_ohio_boards`, enum: undefined };
  return boardName.meta(meta).optional();
}

function upTo(most: number, meta: { readonly description: string; readonly examples?: number[] }) {
  const error = `must be a whole number from 1 to ${most}`;
  return z.int(error).min(1, error).max(most, error).meta(meta).optional();
}

const filters = (kind: keyof Filter['examples']) =>
  mapFilters(({ description, examples }) => text(description, ...examples[kind]).optional());

const filtersAndLimit = (kind: keyof Filter['examples']) => ({
  ...filters(kind),
  limit: upTo(MAX_MATCHES, { description: 'The most licenses to list; 100 unless given', examples: [10] }),
});

const number = text('The license number as given, prefix included', 'RN.987654321', '02987654321');

export const numberParameters = z.object({
  license_number: number,
  board: rareBoard('Only if the answer asks for it: the board that issued it'),
  last_name: text('The surname that the holder should have, to be compared', 'Smith').optional(),
  first_name: text('The given name that the holder should have, or its beginning', 'Mary').optional(),
});

export const historyParameters = z.object({
  license_number: number,
  board: rareBoard('For a license that is no longer in the dataset: the board that issued it'),
});

export const personParameters = z.object({
  board: boardName.describe('The board that licenses the profession, by its exact name'),
  last_name: text('The whole surname, without given names', 'Smith', 'de la Cruz'),
  first_name: text('The given name or its beginning', 'Mary', 'M').optional(),
  ...filtersAndLimit('person'),
});

const TRADE_NAME = 'The beginning of the trade name, or of the name after "D.B.A."';

export const businessParameters = z.object({
  business_name: text(TRADE_NAME, 'Example Pharmacy').optional(),
  license_number: text('The license number of the establishment', '02987654321').optional(),
  board: boardName.describe('The board that licenses it, by its exact name; may be left out').optional(),
  ...filtersAndLimit('business'),
});

/** The maximum number of items per call. More would fill a model's context. */
export const MAX_ROSTER_ITEMS = 50;
export const DEFAULT_ROSTER_MATCHES = 3;
const MAX_ROSTER_MATCHES = 10;
const ITEMS_ERROR = `must be a list of 1 to ${MAX_ROSTER_ITEMS} objects`;

/** The parameters of one item of a roster. */
export const rosterItemParameters = z.object({
  reference: text('Your own name for the item, which its result repeats', 'row 7').optional(),
  license_number: number.optional(),
  last_name: text('The whole surname; with a number it is compared with the holder', 'Smith').optional(),
  first_name: text('The given name or its beginning', 'Mary').optional(),
  business_name: text('The beginning of the trade name, for an establishment', 'Example Pharmacy').optional(),
  board: boardName
    .describe('Its board by its exact name: needed for a person without a number, else best left out')
    .optional(),
  ...filters('person'),
});

/** The parameters of verify_roster. The schema shows the fields of an item; each item is validated separately. */
export const rosterParameters = z.object({
  items: z
    .array(
      z.record(z.string(), z.unknown(), ITEMS_ERROR).meta(objectSchema(rosterItemParameters, 'input')),
      ITEMS_ERROR,
    )
    .min(1, ITEMS_ERROR)
    .max(MAX_ROSTER_ITEMS, ITEMS_ERROR)
    .meta({ description: 'What to look up' }),
  max_matches: upTo(MAX_ROSTER_MATCHES, {
    description: `The most licenses to list for each item; ${DEFAULT_ROSTER_MATCHES} unless given`,
  }),
});

/** The schema of a tool's parameters. */
export type Parameters<Values> = z.ZodType<Values> & { readonly shape: Readonly<Record<string, z.ZodType>> };

/**
 * Validates a tool's parameters. Removes invisible characters. Blank texts and nulls count as absent, because many
 * clients fill in every parameter.
 *
 * @returns the values, and a note if unknown parameters were ignored, else an empty text
 * @throws {BadRequestError} whose message says what to send for each wrong or missing parameter
 */
export function readParameters<Values>(
  parameters: Parameters<Values>,
  given: Readonly<Record<string, unknown>>,
) {
  const present = Object.fromEntries(
    Object.entries(given)
      .map(([name, value]) => [name, typeof value === 'string' ? visibleText(value).trim() : value])
      .filter(([, value]) => value !== null && value !== ''),
  );
  const known = Object.keys(parameters.shape);
  const note = Object.keys(present).every((name) => known.includes(name))
    ? ''
    : `Unknown parameters are ignored. This tool has: ${known.join(', ')}.`;
  const result = parameters.safeParse(present);
  if (result.success) return { values: result.data, note };
  const errors = result.error.issues.map(({ path, message }) => `${String(path[0])} ${message}.`);
  throw new BadRequestError(joined(...errors, note));
}

/** Joins the sentences that are not empty. */
export function joined(...sentences: readonly string[]): string {
  return sentences.filter((sentence) => sentence !== '').join(' ');
}
