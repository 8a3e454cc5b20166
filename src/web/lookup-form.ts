import { raw } from 'hono/html';
import { BOARDS } from '../licenses/boards.ts';
import { searchAddress } from './addresses.ts';
import { type Html, html, NOTHING } from './page.ts';
import { MODES, type Mode, modeOf, type SearchFields } from './search.ts';

type FieldName = keyof SearchFields;

interface FormField {
  readonly name: FieldName;
  readonly label: string;
  readonly hint?: string;
  readonly required?: true;
}

const MODE_NAMES: Readonly<Record<Mode, string>> = {
  number: 'License number',
  person: 'Person',
  business: 'Business',
};

const SEARCHED: Readonly<Record<Mode, readonly FormField[]>> = {
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

const FILTER_FIELDS: readonly FormField[] = [
  { name: 'license_type', label: 'License type', hint: 'For example LPN, or Registered Nurse (RN)' },
  { name: 'status', label: 'Status', hint: 'For example Active' },
  { name: 'city', label: 'City' },
  { name: 'county', label: 'Ohio county' },
];

/** The form of the mode chosen, with what was typed, and links to the other modes. */
export function lookupForm(fields: SearchFields): Html {
  const mode = modeOf(fields);
  return html`<nav aria-label="Search by"><ul class="modes">${MODES.map(
    (each) =>
      html`<li><a href="${searchAddress({ by: each, board: fields.board })}"${
        each === mode ? raw(' aria-current="true"') : NOTHING
      }>${MODE_NAMES[each]}</a></li>`,
  )}</ul></nav>
<form class="lookup" action="/" method="get" aria-label="Look up a license">
<input type="hidden" name="by" value="${mode}">
${SEARCHED[mode].map((field) => textField(field, fields))}
${boardField(fields.board)}
${mode === 'number' ? NOTHING : filters(fields)}
<button class="usa-button" type="submit">Look up</button>
</form>`;
}

function textField({ name, label, hint, required }: FormField, fields: SearchFields): Html {
  return html`<div class="field"><label class="usa-label" for="${name}">${label}</label>
${hint === undefined ? NOTHING : html`<span class="usa-hint" id="${name}-hint">${hint}</span>`}
<input class="usa-input" id="${name}" name="${name}" value="${fields[name] ?? ''}" maxlength="200" autocomplete="off" autocapitalize="off" spellcheck="false"${
    hint === undefined ? NOTHING : html` aria-describedby="${name}-hint"`
  }${required === true ? raw(' required') : NOTHING}></div>
`;
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
