import type { ParsedUrlQuery } from 'node:querystring';
import { raw } from 'hono/html';
import { BOARDS, boardByCode } from '../licenses/boards.ts';
import { FILTER_NAMES, mapFilters } from '../licenses/filters.ts';
import { fold, visibleText } from '../licenses/fold.ts';
import { MAX_CHARACTERS, MAX_MATCHES, type NumberRequest } from '../licenses/lookup.ts';
import { readTypedPerson } from '../licenses/names.ts';
import { isLikeNumber } from '../licenses/number-forms.ts';
import { PRIMARY_STATUSES } from '../licenses/standing.ts';
import type { Counts } from '../lookup/facets.ts';
import type { ListRequest } from '../lookup/lists.ts';
import { PAGE_SIZE } from '../lookup/search.ts';
import { type Choice, type FieldProblem, formField, type Html, html, selectField } from './page.ts';
import { count, fieldLabel } from './words.ts';

/** A lookup returns at most `MAX_MATCHES` licenses of a name, so there are no further pages. */
export const MAX_PAGES = MAX_MATCHES / PAGE_SIZE;

/** The fields of a search, in the order of the query string. */
const FIELDS = ['q', 'board', 'kind', ...FILTER_NAMES, 'page'] as const;

type FieldName = (typeof FIELDS)[number];

/** What a visitor typed and chose. Values are trimmed and never empty. */
export type SearchFields = { readonly [Name in FieldName]?: string };

/**
 * Reads the fields of a search from the query string, valid or not.
 *
 * @returns the fields, their errors, and whether some fields are empty (browsers also send empty fields)
 */
export function readSearch(given: ParsedUrlQuery) {
  const known = FIELDS.filter((name) => Object.hasOwn(given, name));
  const fields: { [Name in FieldName]?: string } = {};
  const problems: FieldProblem[] = [];
  for (const name of known) {
    const [first = '', another] = [given[name] ?? ''].flat();
    const text = visibleText(first).trim();
    if (text !== '') fields[name] = text;
    const words = another === undefined ? problemOfText(name, text) : 'Send this field once.';
    if (words !== undefined) problems.push({ field: name, words });
  }
  if (fields.q === undefined && problems.length === 0 && known.some((name) => name !== 'board')) {
    problems.push({ field: 'q', words: 'Type a license number, or the name of a person or of a business.' });
  }
  return { fields, problems, hasEmptyFields: known.some((name) => fields[name] === undefined) };
}

function problemOfText(name: FieldName, text: string): string | undefined {
  if (text.length > MAX_CHARACTERS) return `Type at most ${MAX_CHARACTERS} characters.`;
  if (text === '' || name === 'page' || name === 'kind') return undefined;
  if (name === 'board') {
    return boardByCode(text) === undefined ? 'Choose a board from the list, or all boards.' : undefined;
  }
  return /[\p{L}\p{N}]/u.test(text) && fold(text) !== '' ? undefined : 'Type at least one letter or digit.';
}

/** Turns the fields into a request to the lookup service. @param suggest whether to look for similar licenses */
export function listRequest(fields: SearchFields & { readonly q: string }, suggest: boolean): ListRequest {
  const board = boardByCode(fields.board ?? '');
  const filters = mapFilters((_, name) => fields[name]);
  const kind = KINDS.find((each) => each === fields.kind);
  const numbers = numbersOf(fields.q).map((number) => ({ ...number, board }));
  return { numbers, name: fields.q, board, kind, filters, page: pageOf(fields), suggest };
}

const KINDS = ['person', 'business'] as const;

/** Words next to a number that belong neither to the number nor to a name. */
const NUMBER_WORDS = /(?<![\p{L}\p{N}])(?:licen[sc]es?|lic|numbers?|no|nr)(?![\p{L}\p{N}])[.:#]*|[#№:]/giu;

/** The numbers that a text may mean: the whole text, or the one number in it, with the name next to it if any. */
function numbersOf(typed: string): NumberRequest[] {
  if (!/\p{Nd}/u.test(typed)) return [];
  const number = (text: string): NumberRequest => ({ by: 'number', number: text, businessOnly: false });
  const text = typed.replace(NUMBER_WORDS, ' ').trim();
  const words = text.split(/[\s,;]+/);
  const [only = '', another] = words.filter(isLikeNumber);
  const whole = text === typed || text === '' ? [number(typed)] : [number(typed), number(text)];
  if (only === '' || another !== undefined || words.length < 2) return whole;
  // A comma next to the number does not belong to the name: `Smith,RN.987654321`.
  const name = text
    .replace(only, ' ')
    .replace(/(^|\s)[,;]+/g, '$1')
    .trim();
  // In `MD 35.987654321`, the letters are a credential and not a name.
  const isName = /\p{L}/u.test(name) && readTypedPerson(name).readings.length > 0;
  return [...whole, isName ? { ...number(only), name: { wholeName: name } } : number(only)];
}

/** The requested page number; 1 if it is not a valid one. */
export function pageOf({ page }: SearchFields): number {
  const number = /^\d{1,4}$/.test(page ?? '') ? Number(page) : 1;
  return number >= 1 && number <= MAX_PAGES ? number : 1;
}

const BOX_HINT = 'For example RN.987654321 or Maria Garcia, but not a profession';

const TYPE_HINT = 'For example LPN, or Registered Nurse (RN)';

/** What the form shows in addition to the typed values. */
interface FormOptions {
  readonly problems?: readonly FieldProblem[];
  /** The license types of the chosen board. */
  readonly licenseTypes?: readonly string[];
  /** For the list below the form: how many of its licenses each option matches. */
  readonly counts?: Counts | undefined;
}

/** The search form (one box and filters) with the typed values. Every search page has it. */
export function searchForm(
  fields: SearchFields,
  { problems = [], licenseTypes = [], counts }: FormOptions = {},
): Html {
  const chosen = FIELDS.filter((name) => name !== 'q' && name !== 'page' && fields[name] !== undefined);
  const isOpen = problems.some(({ field }) => field !== 'q');
  const text = (id: FieldName, label: string, hint?: string) =>
    formField(
      { id, label, hint, problems },
      (attributes) =>
        html`<input${attributes} name="${id}" value="${fields[id] ?? ''}" autocomplete="off" autocapitalize="off" spellcheck="false">`,
    );
  const choice = (id: keyof Counts, label: string, all: string, values: readonly Choice[]) => {
    const choices = counted(values, fields[id], counts?.[id]);
    return selectField({ id, label, problems }, all, choices, fields[id]);
  };
  const filters = mapFilters((_, name) => {
    const label = fieldLabel(name);
    if (name === 'status') return choice('status', label, 'Any status', PRIMARY_STATUSES.map(sameWords));
    const types = name === 'license_type' ? [...(counts?.license_type.keys() ?? licenseTypes)] : [];
    return types.length > 0
      ? choice('license_type', label, 'Any type', types.map(sameWords))
      : text(name, label, name === 'license_type' ? TYPE_HINT : undefined);
  });
  const kinds = KINDS.map((value) => ({ value, words: value === 'person' ? 'Persons' : 'Businesses' }));
  return html`<form class="no-print" action="/" method="get" role="search" aria-label="Look up a license">
<div class="box">${text('q', 'License number, person or business', BOX_HINT)}<button type="submit">Look up</button></div>
<details class="filters"${isOpen && raw(' open')}><summary>Filters: board, kind, type, status, city, county${chosen.length > 0 && ` (${chosen.length} chosen)`}</summary>
<div>${choice('board', 'Board', 'All 24 boards', BOARD_CHOICES)}${choice('kind', 'Kind', 'Persons and businesses', kinds)}${Object.values(filters)}<button class="plain" type="submit">Look up with these filters</button></div>
</details>
</form>`;
}

function sameWords(value: string): Choice {
  return { value, words: value };
}

/** Options with at least one license, with the number of licenses. All options if one is chosen or none is counted. */
function counted(
  choices: readonly Choice[],
  chosen: string | undefined,
  counts: ReadonlyMap<string, number> | undefined,
): readonly Choice[] {
  const isChoice = choices.some(({ value }) => value === chosen);
  if (chosen !== undefined) return isChoice ? choices : [...choices, sameWords(chosen)];
  if (counts === undefined) return choices;
  return choices.flatMap(({ value, words }) => {
    const licenses = counts.get(boardByCode(value)?.name ?? value);
    return licenses === undefined ? [] : [{ value, words: `${words} (${count(licenses)})` }];
  });
}

/** The boards as options. */
export const BOARD_CHOICES: readonly Choice[] = BOARDS.map(({ code, name }) => ({
  value: code,
  words: name,
})).toSorted((one, other) => (one.words < other.words ? -1 : 1));
