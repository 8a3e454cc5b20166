import { raw } from 'hono/html';
import { visibleText } from '../licenses/fold.ts';
import { BadRequestError } from '../licenses/lookup.ts';
import { MAX_NOTE_CHARACTERS, recordNote, SAVED_RECORD_DAYS } from '../records/saved-records.ts';
import { formField, type Html, html } from './page.ts';

/** What a visitor may add to a record. */
const FIELDS = {
  checked_by: { label: 'Checked by', hint: 'Everyone who has the link can read this.' },
  reference: { label: 'Reference', hint: 'For example a case or an order number.' },
} as const;

/** What a visitor adds to a record. */
export type RecordNotes = { readonly [Name in keyof typeof FIELDS]?: string | undefined };

const NAMES = ['checked_by', 'reference'] as const;

/** The fields of what a visitor may add to a record. */
export function noteFields(notes: RecordNotes = {}): Html {
  const isOpen = NAMES.some((name) => notes[name] !== undefined);
  return html`<details${isOpen && raw(' open')}><summary>Add who checked, or a reference (optional)</summary>
${NAMES.map((id) =>
  formField(
    { id, ...FIELDS[id] },
    (attributes) =>
      html`<input name="${id}" value="${notes[id] ?? ''}" maxlength="${MAX_NOTE_CHARACTERS}" autocomplete="off"${attributes}>`,
  ),
)}</details>`;
}

/** What a visitor adds to a record, without characters that nobody sees: they come along when texts are copied. */
export function notesOf(form: FormData): RecordNotes {
  const typed = NAMES.map((name) => [name, visibleText(textOf(form, name)).trim()]);
  return Object.fromEntries(typed.filter(([, text]) => text !== ''));
}

/** @throws {BadRequestError} for notes that a browser does not send: it takes one line, up to a length */
export function checkNotes(notes: RecordNotes): void {
  for (const name of NAMES) {
    if (notes[name] === undefined || recordNote.safeParse(notes[name]).success) continue;
    throw new BadRequestError(
      `${FIELDS[name].label} takes one line of at most ${MAX_NOTE_CHARACTERS} visible characters.`,
    );
  }
}

/** A field of a form as text; empty if it is a file or absent. */
export function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
}

/** The form that saves a record of a license. */
export function recordForm(board: string, number: string): Html {
  return html`<form class="no-print" action="/records" method="post"><input type="hidden" name="board" value="${board}"><input type="hidden" name="number" value="${number}">
${noteFields()}
<p class="hint">A record is online for ${SAVED_RECORD_DAYS} days; print it to keep it longer.</p>
<button class="plain" type="submit">Save a record of this check</button></form>`;
}
