import { raw } from 'hono/html';
import { visibleText } from '../licenses/fold.ts';
import { BadRequestError } from '../licenses/lookup.ts';
import { MAX_NOTE_CHARACTERS, recordNote, SAVED_RECORD_DAYS } from '../records/saved-records.ts';
import { formField, type Html, html } from './page.ts';

/** The optional fields that a visitor may add to a record. */
const FIELDS = {
  checked_by: { label: 'Checked by', hint: 'Everyone who has the link can read this.' },
  reference: { label: 'Reference', hint: 'For example a case or an order number.' },
} as const;

/** The notes that a visitor adds to a record. */
export type RecordNotes = { readonly [Name in keyof typeof FIELDS]?: string | undefined };

const NAMES = ['checked_by', 'reference'] as const;

/** The form fields for the notes. */
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

/** Reads the notes from a form, without invisible characters, which copied text often contains. */
export function notesOf(form: FormData): RecordNotes {
  const typed = NAMES.map((name) => [name, visibleText(textOf(form, name)).trim()]);
  return Object.fromEntries(typed.filter(([, text]) => text !== ''));
}

/** @throws {BadRequestError} for notes with several lines or too many characters. No browser sends such notes. */
export function checkNotes(notes: RecordNotes): void {
  for (const name of NAMES) {
    if (notes[name] === undefined || recordNote.safeParse(notes[name]).success) continue;
    throw new BadRequestError(
      `${FIELDS[name].label} takes one line of at most ${MAX_NOTE_CHARACTERS} visible characters.`,
    );
  }
}

/** A form field as text; empty if the field is absent or a file. */
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
