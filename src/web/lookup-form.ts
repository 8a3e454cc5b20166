import { raw } from 'hono/html';
import { z } from 'zod';
import { BadRequestError } from '../licenses/bad-request.ts';
import { BOARDS } from '../licenses/boards.ts';
import { mapFilters } from '../licenses/filters.ts';
import {
  fieldError,
  type LookupRequest,
  type LookupWords,
  lookupFields,
  MAX_CHARACTERS,
  readLookup,
} from '../licenses/lookup.ts';
import { boardByCode, searchAddress } from './addresses.ts';
import { type FieldProblem, formField, type Html, html, NOTHING } from './page.ts';

/** The three ways to search. */
const MODES = ['number', 'person', 'business'] as const;
type Mode = (typeof MODES)[number];

const { license_number: number, search_type: _, ...sameFields } = lookupFields.shape;

/** The form: the fields of a lookup, with a board's code for its name. */
const searchQuery = z.object({ by: z.enum(MODES).optional(), number, ...sameFields });

/** What a visitor typed. */
export type SearchFields = Readonly<z.output<typeof searchQuery>>;

/** Nothing filled in. */
export const NO_FIELDS: SearchFields = searchQuery.parse({});

/** How the form says what is wrong. */
const FORM_WORDS: LookupWords = {
  notAnObject: 'Fill in the form.',
  notText: (field) => (field === 'by' ? 'Choose number, person or business.' : 'Fill in each field once.'),
  tooLong: () => `A field takes at most ${MAX_CHARACTERS} characters.`,
  unknownBoard: () => 'Choose a board from the list, or all boards.',
  noBoard: () => undefined,
  noName: 'Type a last name.',
  onlyFirstName: 'Type a last name.',
  noBusinessName: 'Type a business name.',
};

/**
 * Reads the form from the address.
 *
 * @throws {BadRequestError} in words for a person
 */
export function searchFields(query: unknown): SearchFields {
  const result = searchQuery.safeParse(query);
  if (!result.success) throw new BadRequestError(fieldError(result.error, FORM_WORDS));
  return result.data;
}

/** The mode chosen; without one, that of the fields that are filled in. */
export function modeOf(fields: SearchFields): Mode {
  if (fields.by !== undefined) return fields.by;
  if (fields.business_name !== undefined) return 'business';
  return fields.last_name !== undefined || fields.first_name !== undefined ? 'person' : 'number';
}

/** Whether the address holds a search; otherwise it is the empty form. */
export function isSearch(fields: SearchFields): boolean {
  return [fields.number, fields.last_name, fields.first_name, fields.business_name].some(
    (field) => field !== undefined,
  );
}

/**
 * The lookup that the fields ask for. Fields of the other modes are ignored.
 *
 * @throws {BadRequestError} in words for a person
 */
export function searchRequest(fields: SearchFields): LookupRequest {
  const { by: _, board: code, number, last_name, first_name, business_name, ...filters } = fields;
  const board = code === undefined ? undefined : (boardByCode(code)?.name ?? code);
  switch (modeOf(fields)) {
    case 'number':
      if (number === undefined) throw new BadRequestError('Type a license number.');
      return readLookup({ board, license_number: number }, FORM_WORDS);
    case 'person':
      return readLookup({ board, last_name, first_name, ...filters }, FORM_WORDS);
    case 'business':
      return readLookup({ board, business_name, search_type: 'business', ...filters }, FORM_WORDS);
  }
}

type FieldName = keyof SearchFields;

interface SearchField {
  readonly name: FieldName;
  readonly label: string;
  readonly hint?: string | undefined;
  readonly required?: true;
}

const MODE_NAMES: Readonly<Record<Mode, string>> = {
  number: 'License number',
  person: 'Person',
  business: 'Business',
};

const SEARCHED: Readonly<Record<Mode, readonly SearchField[]>> = {
  number: [
    {
      name: 'number',
      label: 'License number',
      hint: 'As on the license, for example RN.987654321. Capitals, dots and blanks do not matter.',
      required: true,
    },
  ],
  person: [
    { name: 'last_name', label: 'Last name', hint: 'The whole last name', required: true },
    { name: 'first_name', label: 'First name (optional)', hint: 'Or the beginning of it' },
  ],
  business: [
    {
      name: 'business_name',
      label: 'Business name',
      hint: 'The beginning of the name, or words of it',
      required: true,
    },
  ],
};

const FILTER_FIELDS: readonly SearchField[] = Object.values(
  mapFilters(({ label, hint }, name) => ({ name, label, hint })),
);

/** What is wrong with a search, at the field that it begins with. */
export function searchProblem(fields: SearchFields, words: string): FieldProblem {
  return { field: SEARCHED[modeOf(fields)][0]?.name ?? 'number', words };
}

/** The form of the mode chosen, with what was typed, and links to the other modes. */
export function lookupForm(fields: SearchFields, problems: readonly FieldProblem[] = []): Html {
  const mode = modeOf(fields);
  return html`<nav aria-label="Search by"><ul class="modes">${MODES.map(
    (each) =>
      html`<li><a href="${searchAddress({ by: each, board: fields.board })}"${
        each === mode ? raw(' aria-current="true"') : NOTHING
      }>${MODE_NAMES[each]}</a></li>`,
  )}</ul></nav>
<form class="lookup" action="/" method="get" aria-label="Look up a license">
<input type="hidden" name="by" value="${mode}">
${SEARCHED[mode].map((field) => textField(field, fields, problems))}
${boardField(fields.board)}
${mode === 'number' ? NOTHING : filters(fields)}
<button class="usa-button" type="submit">Look up</button>
</form>`;
}

function textField(
  { name, label, hint, required }: SearchField,
  fields: SearchFields,
  problems: readonly FieldProblem[] = [],
): Html {
  return formField(
    { id: name, label, hint, problems },
    (attributes) =>
      html`<input class="usa-input"${attributes} name="${name}" value="${fields[name] ?? ''}" maxlength="200" autocomplete="off" autocapitalize="off" spellcheck="false"${required === true ? raw(' required') : NOTHING}>`,
  );
}

function boardField(chosen = ''): Html {
  return html`<div class="field"><label class="usa-label" for="board">Board (optional)</label>
${boardSelect('All 24 boards', chosen)}</div>`;
}

/** A list of the boards, by name. */
export function boardSelect(nothingChosen: string, chosen: string): Html {
  const boards = BOARDS.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return html`<select class="usa-select" id="board" name="board"><option value="">${nothingChosen}</option>${boards.map(
    ({ code, name }) =>
      html`<option value="${code}"${code === chosen.toUpperCase() ? raw(' selected') : NOTHING}>${name}</option>`,
  )}</select>`;
}

function filters(fields: SearchFields): Html {
  const isOpen = FILTER_FIELDS.some(({ name }) => fields[name] !== undefined);
  return html`<details class="filters"${isOpen ? raw(' open') : NOTHING}><summary>More filters</summary>
<div class="filter-fields">${FILTER_FIELDS.map((field) => textField(field, fields))}</div></details>`;
}
