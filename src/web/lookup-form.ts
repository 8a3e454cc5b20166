import { raw } from 'hono/html';
import { z } from 'zod';
import { BOARDS, type Board } from '../licenses/boards.ts';
import { FILTER_NAMES, type FilterName, mapFilters } from '../licenses/filters.ts';
import { fold, visibleText } from '../licenses/fold.ts';
import { MAX_CHARACTERS } from '../licenses/lookup.ts';
import { readTypedPerson } from '../licenses/names.ts';
import { PRIMARY_STATUSES } from '../licenses/status.ts';
import { type ListingRequest, MAX_PAGES } from '../lookup/listing.ts';
import { boardByCode } from './addresses.ts';
import { type FieldProblem, formField, type Html, html, NOTHING } from './page.ts';

/** The fields that say exactly what a text is. */
const EXACT = ['number', 'last_name', 'first_name', 'business_name'] as const;

/** The fields of a search, in the order of its address. `by` says as what the text in the box is searched. */
const FIELDS = ['q', 'by', ...EXACT, 'board', ...FILTER_NAMES, 'page'] as const;

type FieldName = (typeof FIELDS)[number];

/** What a visitor typed and chose, without blanks around it; never empty. */
export type SearchFields = { readonly [Name in FieldName]?: string };

/** Nothing filled in. */
export const NO_FIELDS: SearchFields = {};

/** Every field may be absent. One that is there twice is a list. */
const query = z.partialRecord(z.enum(FIELDS), z.union([z.string(), z.array(z.string())]));

/** An address of a search. */
export interface TypedSearch {
  readonly fields: SearchFields;
  /** What is wrong with single fields. */
  readonly problems: readonly FieldProblem[];
  /** Whether the address has fields that are empty, as a browser sends them. */
  readonly hasEmptyFields: boolean;
  /** Whether the form was sent, and not a link followed to the empty form. */
  readonly isSent: boolean;
}

/** Reads the fields in the address of the form, whatever they are. */
export function readSearch(given: Readonly<Record<string, unknown>>): TypedSearch {
  const known = FIELDS.filter((name) => Object.hasOwn(given, name));
  const typed = query.parse(Object.fromEntries(known.map((name) => [name, given[name]])));
  const fields: { [Name in FieldName]?: string } = {};
  const problems: FieldProblem[] = [];
  for (const name of known) {
    const value = typed[name];
    const [first = '', another] = typeof value === 'string' ? [value] : (value ?? []);
    const text = visibleText(first).trim();
    if (text !== '') fields[name] = text;
    const words = another === undefined ? problemOfText(name, text) : 'Fill in this field once.';
    if (words !== undefined) problems.push({ field: name, words });
  }
  const hasEmptyFields = known.some((name) => fields[name] === undefined);
  return {
    fields,
    problems,
    hasEmptyFields,
    isSent: known.some((name) => name !== 'board' && name !== 'by'),
  };
}

function problemOfText(name: FieldName, text: string): string | undefined {
  if (text.length > MAX_CHARACTERS) return `Type at most ${MAX_CHARACTERS} characters.`;
  if (text === '' || name === 'by' || name === 'page' || name === 'number') return undefined;
  if (name === 'board') {
    return boardByCode(text) === undefined ? 'Choose a board from the list, or all boards.' : undefined;
  }
  return /[\p{L}\p{N}]/u.test(text) && fold(text) !== '' ? undefined : 'Type at least one letter or digit.';
}

/** As what the text in the box is searched; without a choice, as all of them. */
function kindOf({ by }: SearchFields): 'number' | 'person' | 'business' | undefined {
  return by === 'number' || by === 'person' || by === 'business' ? by : undefined;
}

/** Whether the fields hold a search; otherwise they are of the empty form. */
export function isSearch(fields: SearchFields): boolean {
  return fields.q !== undefined || EXACT.some((name) => fields[name] !== undefined);
}

/** What the fields ask for, or what is wrong with them. */
export function searchRequest(fields: SearchFields): ListingRequest | FieldProblem {
  const board = fields.board === undefined ? undefined : boardByCode(fields.board);
  const filters = mapFilters((_, name) => fields[name]);
  const asked = { board, filters, page: pageOf(fields) };
  const exact = EXACT.find((name) => fields[name] !== undefined);
  if (fields.q === undefined) return exactRequest(fields, asked);
  if (exact !== undefined) {
    return {
      field: exact,
      words: 'Clear this field, or the one box above: only one of them can be searched.',
    };
  }
  return boxRequest(fields.q, kindOf(fields), asked);
}

type Asked = Pick<ListingRequest, 'board' | 'filters' | 'page'>;

/** A text with a digit may be a number, and every text the name of a person or of a business. */
function boxRequest(q: string, kind: ReturnType<typeof kindOf>, asked: Asked): ListingRequest {
  const isNumber = kind === 'number' || (kind === undefined && /\p{Nd}/u.test(q));
  return {
    ...asked,
    ...(isNumber && { number: { by: 'number', number: q, board: asked.board, businessOnly: false } }),
    ...(kind !== 'number' && kind !== 'business' && { person: readTypedPerson(q) }),
    ...(kind !== 'number' && kind !== 'person' && { business: q }),
  };
}

const NOTHING_TYPED: FieldProblem = {
  field: 'q',
  words: 'Type a license number, or the name of a person or of a business.',
};

/** A number is compared with the name beside it. Fields of another kind than the one chosen are ignored. */
function exactRequest(fields: SearchFields, asked: Asked): ListingRequest | FieldProblem {
  const { number, last_name: lastName, first_name: firstName, business_name: businessName } = fields;
  const kind = kindOf(fields);
  if (kind === 'number' || (kind === undefined && number !== undefined)) {
    if (number === undefined) return { field: 'number', words: 'Type a license number.' };
    const byNumber = { by: 'number', number, board: asked.board, businessOnly: false } as const;
    const name = businessName === undefined ? { lastName, firstName } : { businessName };
    const hasName = kind === undefined && Object.values(name).some((part) => part !== undefined);
    return { ...asked, number: hasName ? { ...byNumber, name } : byNumber };
  }
  const isPerson = kind === 'person' || (kind === undefined && (lastName ?? firstName) !== undefined);
  if (isPerson && lastName === undefined) return { field: 'last_name', words: 'Type a last name.' };
  const isBusiness = kind === 'business' || (kind === undefined && businessName !== undefined);
  if (isBusiness && businessName === undefined) {
    return { field: 'business_name', words: 'Type a business name.' };
  }
  if (!isPerson && !isBusiness) return NOTHING_TYPED;
  return {
    ...asked,
    ...(isPerson &&
      lastName !== undefined && { person: { readings: [{ lastName, firstName }], others: [] } }),
    ...(isBusiness && { business: businessName }),
  };
}

/** The number of the page asked for; the first where there is no such page. */
export function pageOf({ page }: SearchFields): number {
  const number = /^\d{1,4}$/.test(page ?? '') ? Number(page) : 1;
  return number >= 1 && number <= MAX_PAGES ? number : 1;
}

/** What was searched for, in the words typed. */
export function searchedFor({ q, number, last_name, first_name, business_name }: SearchFields): string {
  const person = [first_name, last_name].filter((part) => part !== undefined).join(' ');
  return q ?? number ?? [person, business_name].filter((name) => name).join(' and ');
}

/** A field beside the name, and the words of the link that takes it away. */
export interface Narrowing {
  readonly name: 'by' | 'board' | FilterName;
  readonly removal: string;
}

/** What is chosen beside a name. */
export function narrowings(fields: SearchFields): readonly Narrowing[] {
  const kind = kindOf(fields);
  const isOfBoth =
    fields.q !== undefined || (fields.last_name !== undefined && fields.business_name !== undefined);
  const board = fields.board === undefined ? undefined : boardByCode(fields.board);
  const filters = mapFilters(({ label }, name): Narrowing[] => {
    const value = fields[name];
    return value === undefined ? [] : [{ name, removal: `Remove ${label.toLowerCase()}: ${value}` }];
  });
  return [
    ...(kind !== undefined && isOfBoth ? [{ name: 'by', removal: WITH_OTHERS[kind] } as const] : []),
    ...(board === undefined ? [] : [{ name: 'board', removal: `Remove board: ${board.name}` } as const]),
    ...Object.values(filters).flat(),
  ];
}

const WITH_OTHERS = {
  number: 'Search names, too',
  person: 'Show businesses, too',
  business: 'Show persons, too',
} as const;

const EXACT_LABELS: Readonly<Record<(typeof EXACT)[number], readonly [label: string, hint?: string]>> = {
  number: ['License number'],
  last_name: ['Last name', 'The whole last name'],
  first_name: ['First name', 'Or the beginning of it'],
  business_name: ['Business name', 'The beginning of the name, or words of it'],
};

const BOX_HINT = 'For example RN.987654321, Maria Garcia or Maple Health';

/** What the form shows beside what was typed. */
interface FormOptions {
  readonly problems?: readonly FieldProblem[];
  /** Those of the board that is chosen. */
  readonly licenseTypes?: readonly string[];
  /** Whether a result follows: then the fields below the box stay folded away. */
  readonly isAboveResult?: boolean;
}

/** The form with what was typed, on every page of a search. */
export function lookupForm(
  fields: SearchFields,
  { problems = [], licenseTypes = [], isAboveResult = false }: FormOptions = {},
): Html {
  const filled = [...EXACT, ...FILTER_NAMES].filter((name) => fields[name] !== undefined);
  const isWrong = problems.some(({ field }) => field !== 'q' && field !== 'board');
  const isOpen = isWrong || (!isAboveResult && (filled.length > 0 || kindOf(fields) !== undefined));
  const text = (id: FieldName, label: string, hint?: string, list?: string) =>
    formField(
      { id, label, hint, problems },
      (attributes) =>
        html`<input class="usa-input"${attributes} name="${id}" value="${fields[id] ?? ''}" autocomplete="off" autocapitalize="off" spellcheck="false"${list === undefined ? NOTHING : html` list="${list}"`}>`,
    );
  const exact = EXACT.map((name) => text(name, ...EXACT_LABELS[name]));
  const filters = mapFilters(({ label, hint }, name) => {
    if (name === 'status') return statusField(fields.status, label);
    const isListed = name === 'license_type' && licenseTypes.length > 0;
    return text(
      name,
      label,
      isListed ? 'One of the board’s, or its abbreviation' : hint,
      isListed ? 'license-types' : undefined,
    );
  });
  return html`<form class="lookup" action="/" method="get" role="search" aria-label="Look up a license">
<div class="one-box">
${formField(
  { id: 'q', label: 'License number, person or business', hint: BOX_HINT, problems },
  (attributes) =>
    html`<input class="usa-input"${attributes} name="q" value="${fields.q ?? ''}" autocomplete="off" autocapitalize="off" spellcheck="false">`,
)}
${formField({ id: 'board', label: 'Board (optional)', problems }, (attributes) => boardList(attributes, 'All 24 boards', fields.board))}
<button class="usa-button" type="submit">Look up</button>
</div>
<details class="filters"${isOpen ? raw(' open') : NOTHING}><summary>More fields${filled.length === 0 ? '' : ` (${filled.length} filled in)`}</summary>
<p class="usa-hint">Instead of the one box: what you know exactly.</p>
<div class="filter-fields">${exact}</div>
<p class="usa-hint">To narrow a search by name.</p>
<div class="filter-fields">${Object.values(filters)}</div>
${licenseTypes.length === 0 ? NOTHING : html`<datalist id="license-types">${licenseTypes.map((type) => html`<option value="${type}"></option>`)}</datalist>`}
<button class="usa-button usa-button--outline" type="submit">Look up with these fields</button>
</details>
</form>`;
}

/** The statuses that there are, and the one in the address. */
function statusField(chosen: string | undefined, label: string): Html {
  const key = fold((chosen ?? '').slice(0, MAX_CHARACTERS));
  const known = PRIMARY_STATUSES.find((status) => fold(status) === key);
  const statuses = [...PRIMARY_STATUSES, ...(chosen === undefined || known !== undefined ? [] : [chosen])];
  return formField(
    { id: 'status', label },
    (attributes) =>
      html`<select class="usa-select"${attributes} name="status"><option value="">Any status</option>${statuses.map(
        (status) =>
          html`<option value="${status}"${status === (known ?? chosen) ? raw(' selected') : NOTHING}>${status}</option>`,
      )}</select>`,
  );
}

/** A list of the boards, by name. */
export function boardSelect(nothingChosen: string, chosen: string): Html {
  return boardList(raw(' id="board"'), nothingChosen, chosen);
}

function boardList(attributes: Html, nothingChosen: string, chosen = ''): Html {
  const boards: readonly Board[] = BOARDS.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return html`<select class="usa-select"${attributes} name="board"><option value="">${nothingChosen}</option>${boards.map(
    ({ code, name }) =>
      html`<option value="${code}"${code === chosen.toUpperCase() ? raw(' selected') : NOTHING}>${name}</option>`,
  )}</select>`;
}
