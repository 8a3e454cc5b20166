import { raw } from 'hono/html';
import { MAX_NOTE_CHARACTERS, recordNote, SAVED_RECORD_DAYS } from '../records/saved-records.ts';
import { type FieldProblem, formField, type Html, html, NOTHING } from './page.ts';

/** What a visitor may add to a record. */
const FIELDS = {
  checked_by: { label: 'Checked by', hint: 'Everyone who has the link can read this.' },
  reference: { label: 'Reference', hint: 'For example a case or an order number.' },
} as const;

/** What a visitor adds to a record; empty where nothing is said. */
export type RecordNotes = Readonly<Record<keyof typeof FIELDS, string>>;

const NAMES = ['checked_by', 'reference'] as const;

/** The fields of what a visitor may add to a record. */
export function noteFields(notes: RecordNotes, problems: readonly FieldProblem[]): Html {
  const isOpen = NAMES.some((name) => notes[name] !== '');
  return html`<details${isOpen ? raw(' open') : NOTHING}><summary>Add who checked, or a reference (optional)</summary>
${NAMES.map((id) =>
  formField(
    { id, ...FIELDS[id], problems },
    (attributes) =>
      html`<input name="${id}" value="${notes[id]}" maxlength="${MAX_NOTE_CHARACTERS}" autocomplete="off"${attributes}>`,
  ),
)}</details>`;
}

/** What is wrong with the fields that a visitor fills in. */
export function noteProblems(notes: RecordNotes): FieldProblem[] {
  return NAMES.flatMap((field) => {
    if (notes[field] === '' || recordNote.safeParse(notes[field]).success) return [];
    const isTooLong = notes[field].length > MAX_NOTE_CHARACTERS;
    const words = isTooLong
      ? `takes at most ${MAX_NOTE_CHARACTERS} characters.`
      : 'takes one line of visible characters.';
    return [{ field, words: `${FIELDS[field].label} ${words}` }];
  });
}

/** What a visitor adds to a record. */
export function notesOf(form: FormData): RecordNotes {
  return { checked_by: textOf(form, 'checked_by').trim(), reference: textOf(form, 'reference').trim() };
}

/** A field of a form as text; empty if it is a file or absent. */
export function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
}

/** The form that saves a record of a license. */
export function recordForm(
  board: string,
  number: string,
  notes: RecordNotes = { checked_by: '', reference: '' },
  problems: readonly FieldProblem[] = [],
): Html {
  return html`<form class="no-print" action="/records" method="post"><input type="hidden" name="board" value="${board}"><input type="hidden" name="number" value="${number}">
${noteFields(notes, problems)}
<p class="hint">A record is online for ${SAVED_RECORD_DAYS} days; print it to keep it longer.</p>
<button class="plain" type="submit">Save a record of this check</button></form>`;
}
