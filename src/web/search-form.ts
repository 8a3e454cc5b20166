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

/** The pages of the first matches of a name, as many as a lookup returns. */
export const MAX_PAGES = MAX_MATCHES / PAGE_SIZE;

/** The fields of a search, in the order of its address. */
const FIELDS = ['q', 'board', 'kind', ...FILTER_NAMES, 'page'] as const;

type FieldName = (typeof FIELDS)[number];

/** What a visitor typed and chose, without blanks around it; never empty. */
export type SearchFields = { readonly [Name in FieldName]?: string };

/**
 * Reads the fields in the address of the form, whatever they are.
 *
 * @returns the fields, what is wrong with single ones, and whether some are empty, as a browser sends them
 */
export function readSearch(given: ParsedUrlQuery) {
  const known = FIELDS.filter((name) => Object.hasOwn(given, name));
  const fields: { [Name in FieldName]?: string } = {};
  const problems: FieldProblem[] = [];
  for (const name of known) {
    const [first = '', another] = [given[name] ?? ''].flat();
    const text = visibleText(first).trim();
    if (text !== '') fields[name] = text;
    const words = another === undefined ? problemOfText(name, text) : 'Fill in this field once.';
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

/** What the fields ask for. @param suggest whether to look for what may have been meant */
export function listRequest(fields: SearchFields & { readonly q: string }, suggest: boolean): ListRequest {
  const board = boardByCode(fields.board ?? '');
  const filters = mapFilters((_, name) => fields[name]);
  const kind = KINDS.find((each) => each === fields.kind);
  const numbers = numbersOf(fields.q).map((number) => ({ ...number, board }));
  return { numbers, name: fields.q, board, kind, filters, page: pageOf(fields), suggest };
}

const KINDS = ['person', 'business'] as const;

/** Words around a number that are neither of it nor a name. */
const NUMBER_WORDS = /(?<![\p{L}\p{N}])(?:licen[sc]es?|lic|numbers?|no|nr)(?![\p{L}\p{N}])[.:#]*|[#№:]/giu;

/** The numbers that a text with a digit may be: all of it; the one in it, with a name beside it where there is one. */
function numbersOf(typed: string): NumberRequest[] {
  if (!/\p{Nd}/u.test(typed)) return [];
  const number = (text: string): NumberRequest => ({ by: 'number', number: text, businessOnly: false });
  const text = typed.replace(NUMBER_WORDS, ' ').trim();
  const words = text.split(/[\s,;]+/);
  const [only = '', another] = words.filter(isLikeNumber);
  const whole = text === typed || text === '' ? [number(typed)] : [number(typed), number(text)];
  if (only === '' || another !== undefined || words.length < 2) return whole;
  // A comma before or after the number is none of the name's: `Smith,RN.987654321`.
  const name = text
    .replace(only, ' ')
    .replace(/(^|\s)[,;]+/g, '$1')
    .trim();
  // `MD 35.987654321` has a credential beside the number, and no name.
  const isName = /\p{L}/u.test(name) && readTypedPerson(name).readings.length > 0;
  return [...whole, isName ? { ...number(only), name: { wholeName: name } } : number(only)];
}

/** The number of the page asked for; the first where there is no such page. */
export function pageOf({ page }: SearchFields): number {
  const number = /^\d{1,4}$/.test(page ?? '') ? Number(page) : 1;
  return number >= 1 && number <= MAX_PAGES ? number : 1;
}

const BOX_HINT = 'For example RN.987654321 or Maria Garcia, but not a profession';

const TYPE_HINT = 'For example LPN, or Registered Nurse (RN)';

/** What the form shows beside what was typed. */
interface FormOptions {
  readonly problems?: readonly FieldProblem[];
  /** Those of the board that is chosen. */
  readonly licenseTypes?: readonly string[];
  /** Of the list below the form: how many licenses each choice leaves. */
  readonly counts?: Counts | undefined;
}

/** The form with what was typed, on every page of a search: one box, and filters. */
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

/** The choices that leave a license, with how many; all of them where one is chosen, or nothing was counted. */
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

/** The boards by name. */
export const BOARD_CHOICES: readonly Choice[] = BOARDS.map(({ code, name }) => ({
  value: code,
  words: name,
})).toSorted((one, other) => (one.words < other.words ? -1 : 1));
