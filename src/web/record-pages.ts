import { hash } from 'node:crypto';
import { raw } from 'hono/html';
import { changedFields } from '../changes/change.ts';
import type { Context } from '../http/app.ts';
import { formBody, requireSameOrigin } from '../http/body.ts';
import { type Route, spend } from '../http/guard.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import { boardByLabel } from '../licenses/boards.ts';
import { daysBefore } from '../licenses/dates.ts';
import { mapFilters } from '../licenses/filters.ts';
import { licensePath } from '../licenses/license.ts';
import { nameParts } from '../licenses/names.ts';
import { type LicenseHistory, licenseHistory } from '../lookup/service.ts';
import {
  HIDDEN_CHARACTERS,
  MAX_CODE_CHARACTERS,
  MAX_NOTE_CHARACTERS,
  MAX_RECORD_BYTES,
  type NewRecord,
  RecordRefusedError,
  readRecordCode,
  recordNote,
  recordOfLicense,
  SAVED_RECORD_DAYS,
  type SavedRecord,
  type SavedRecordOf,
  type SavedRecords,
  savesOf,
  writtenRecordCode,
} from '../records/saved-records.ts';
import { boardByCode, publicOrigin, qrCode, recordAddress } from './addresses.ts';
import { historyTimeline, withoutTwins } from './history-timeline.ts';
import { boardContact, licenseFacts, licenseIdentity, licenseVerdict } from './license-facts.ts';
import {
  alert,
  dataTable,
  type FieldProblem,
  factList,
  formField,
  type Html,
  html,
  NOTHING,
  type PageServices,
  type PageWriter,
} from './page.ts';
import { savedListBody, savedListTitle } from './roster-results.ts';
import { counted, fieldLabel, inWords, longDate, ohioTime, properCase } from './words.ts';

/**
 * A hash of what a page shows. A record that is saved from the page is refused when it would show something else.
 *
 * @param today the date in Ohio: the days to the expiry date are shown, too
 */
function shownHash({ record, changes, publication }: LicenseHistory, today: string): string {
  return hash('sha256', JSON.stringify([record, changes, publication, today])).slice(0, 32);
}

/** What the form on a license's page sends. */
type RecordForm = Readonly<
  Record<'board' | 'number' | 'shown' | 'search' | 'checked_by' | 'reference', string>
>;

/** The form on a license's page that saves what the page shows. */
export function saveRecordForm(ctx: Context, view: LicenseHistory, today: string): Html {
  const { record } = view;
  const board = record === undefined ? undefined : boardByLabel(record.board);
  if (record === undefined || board === undefined) return NOTHING;
  const shown = { board: board.code, number: record.license_number, shown: shownHash(view, today) };
  return recordForm({ ...shown, search: searchBefore(ctx), checked_by: '', reference: '' }, []);
}

function recordForm(form: RecordForm, problems: readonly FieldProblem[]): Html {
  const hidden = (['board', 'number', 'shown', 'search'] as const).map(
    (name) => html`<input type="hidden" name="${name}" value="${form[name]}">`,
  );
  return html`<form class="save-record no-print margin-y-205" action="/records" method="post">${hidden}
${noteFields(form, problems)}
<button class="usa-button" type="submit">Save a record of this check</button> <span class="usa-hint display-block margin-top-05">Keeps this page as it is, under an address of its own, for ${SAVED_RECORD_DAYS} days.</span></form>`;
}

/** What a visitor may add to a record; empty where nothing is said. */
export type RecordNotes = Pick<RecordForm, 'checked_by' | 'reference'>;

export const NO_NOTES: RecordNotes = { checked_by: '', reference: '' };

/** The fields of what a visitor may add to a record. */
export function noteFields(notes: RecordNotes, problems: readonly FieldProblem[]): Html {
  const isOpen = notes.checked_by !== '' || notes.reference !== '';
  return html`<details class="record-notes"${isOpen ? raw(' open') : NOTHING}><summary>Add who checked, or a reference (optional)</summary>
${noteField('checked_by', notes, problems, 'Stands in the record for whoever has its address.')}${noteField('reference', notes, problems, 'For example a case or an order number.')}</details>`;
}

const NOTES = { checked_by: 'Checked by', reference: 'Reference' } as const;

function noteField(
  id: keyof typeof NOTES,
  form: RecordNotes,
  problems: readonly FieldProblem[],
  hint: string,
): Html {
  return formField(
    { id, label: NOTES[id], hint, problems },
    (attributes) =>
      html`<input class="usa-input" name="${id}" value="${form[id]}" maxlength="${MAX_NOTE_CHARACTERS}" autocomplete="off"${attributes}>`,
  );
}

/** What is wrong with the fields that a visitor fills in. */
export function noteProblems(form: RecordNotes): FieldProblem[] {
  return (['checked_by', 'reference'] as const).flatMap((field) => {
    if (form[field] === '' || recordNote.safeParse(form[field]).success) return [];
    const words =
      form[field].length > MAX_NOTE_CHARACTERS
        ? `takes at most ${MAX_NOTE_CHARACTERS} characters.`
        : 'takes one line of visible characters.';
    return [{ field, words: `${NOTES[field]} ${words}` }];
  });
}

const MAX_SEARCH_CHARACTERS = 300;

/** The fields of a search, as a record says them. */
const SEARCH_FIELDS = new Map([
  ['q', 'Typed'],
  ['number', 'Number'],
  ['last_name', 'Last name'],
  ['first_name', 'First name'],
  ['business_name', 'Business'],
  ['board', 'Board'],
  ...Object.entries(mapFilters(({ label }) => label)),
]);

/** The search that led to a page, in words; empty where the browser does not say from which page it comes. */
function searchBefore(ctx: Context): string {
  const before = URL.parse(ctx.get('referer'));
  if (before?.host !== ctx.host || before.pathname !== '/') return '';
  const parts = [...before.searchParams].flatMap(([name, value]) => {
    const label = SEARCH_FIELDS.get(name);
    const text = name === 'board' ? (boardByCode(value)?.name ?? value) : value;
    return label === undefined || text.trim() === '' ? [] : [`${label}: ${text.trim()}`];
  });
  return plainText(parts.join('; '));
}

/** A text of a browser as a record may have it. */
function plainText(text: string): string {
  return text.slice(0, MAX_SEARCH_CHARACTERS).replace(HIDDEN_CHARACTERS, ' ').trim();
}

const FORM_LIMIT = { bytes: 8192, words: 'this form takes at most 8 KB' };
const FORM_BROKEN = 'This form can not be read. Go back to the license and press the button again.';

/** POST /records: saves exactly what the license's page showed, and leads to its own address. */
export function saveRecordPage(services: PageServices): Route {
  const { page, today, saveLimits } = services;
  return {
    method: 'POST',
    path: '/records',
    handle: async (ctx) => {
      requireSameOrigin(ctx);
      await spend(ctx, saveLimits.aMinute);
      await spend(ctx, saveLimits.aDay);
      const form = readForm(await formBody(ctx, FORM_LIMIT));
      const board = boardByCode(form.board);
      if (board === undefined || form.number === '') throw new BadRequestError(FORM_BROKEN);
      const view = await licenseHistory(services, { board, number: form.number });
      const { record, date, isSampleData } = view;
      const origin = { date, isSampleData };
      const license = licensePath({ board: board.name, license_number: form.number });
      if (record === undefined || shownHash(view, today()) !== form.shown) {
        ctx.status = 409;
        const body = html`<p>New data was published after you opened the page, or another day has begun. Look at the license again, then save.</p>
<p><a class="usa-button" href="${license}">Look at the license again</a></p>`;
        await page.send(ctx, { title: OUT_OF_DATE, origin, body, isPrivate: true });
        return;
      }
      const problems = noteProblems(form);
      if (problems.length > 0) {
        ctx.status = 400;
        const body = html`<p>${record.full_name}, ${record.license_number}, ${record.board}. <a href="${license}">Back to the license</a></p>
${recordForm(form, problems)}`;
        await page.send(ctx, { title: 'Save a check', origin, body, problems, isPrivate: true });
        return;
      }
      const { checked_by, reference, search } = form;
      const said = { checked_by, reference, search: plainText(search) };
      await saveRecord(
        ctx,
        services,
        recordOfLicense({ ...view, record }, today(), said),
        html`<a href="${license}">Go back to the license</a> and print the page.`,
      );
    },
  };
}

const OUT_OF_DATE = 'Not saved: the page was out of date';

function readForm(data: FormData): RecordForm {
  const text = (name: string) => textOf(data, name);
  return {
    ...{ board: text('board'), number: text('number'), shown: text('shown'), search: text('search') },
    ...notesOf(data),
  };
}

function textOf(data: FormData, name: string): string {
  const value = data.get(name);
  return typeof value === 'string' ? value.trim() : '';
}

/** What a visitor adds to a record. */
export function notesOf(data: FormData): RecordNotes {
  return { checked_by: textOf(data, 'checked_by'), reference: textOf(data, 'reference') };
}

/**
 * Saves a record and leads to its address, or says why it is not saved. What it costs more than one save is counted
 * against the address's day.
 *
 * @param instead how to keep the check without a record
 */
export async function saveRecord(
  ctx: Context,
  { page, records, saveLimits }: PageServices,
  record: NewRecord,
  instead: Html,
): Promise<void> {
  const saves = savesOf(record);
  if (saves > 1) await spend(ctx, saveLimits.aDay, saves - 1);
  try {
    const code = await records.save(record);
    ctx.status = 303;
    ctx.redirect(recordAddress(writtenRecordCode(code)));
  } catch (error) {
    if (!(error instanceof RecordRefusedError)) throw error;
    const { status, title, why } = REFUSED[error.reason];
    ctx.status = status;
    if (status === 503) {
      // Lookups are answered; only this is not.
      ctx.state.outcome = 'limited';
      ctx.set('retry-after', '3600');
    }
    const origin = { date: record.date, isSampleData: record.sample };
    await page.send(ctx, {
      title,
      origin,
      body: html`<p>${why} To keep this check: ${instead}</p>`,
      isPrivate: true,
    });
  }
}

const REFUSED: Readonly<
  Record<RecordRefusedError['reason'], { status: number; title: string; why: string }>
> = {
  day: {
    status: 503,
    title: 'No more records can be saved today',
    why: 'So many records were saved in the last 24 hours that no more are taken now. Try again tomorrow.',
  },
  full: {
    status: 503,
    title: 'No more records can be saved',
    why: 'There is no more room for saved records, until older ones expire or the operator makes room.',
  },
  size: {
    status: 413,
    title: 'This check is too large to be saved',
    why: `A record takes at most ${MAX_RECORD_BYTES / 1_000_000} MB.`,
  },
};

/** GET /records: a field for the code of a record, which leads to its address. */
export function recordCodePage({ page, records }: PageServices): Route {
  return {
    method: 'GET',
    path: '/records',
    handle: async (ctx) => {
      const { code: typed } = ctx.query;
      if (typed === undefined) {
        const body = html`<p>A saved record shows a check as it was on its day, and what has changed since.</p>
${codeForm('', [])}`;
        await page.send(ctx, { title: 'Find a saved record', origin: undefined, body });
        return;
      }
      const address = await addressOfRecord(records, String(typed));
      if (address === undefined) return noRecord(ctx, page, String(typed));
      ctx.status = 303;
      ctx.redirect(address);
    },
  };
}

/** The address of the record with a code, however it is typed; `undefined` where there is none. */
export async function addressOfRecord(records: SavedRecords, typed: string): Promise<string | undefined> {
  const code = readRecordCode(typed);
  if (code === undefined || (await records.read(code)) === undefined) return undefined;
  return recordAddress(writtenRecordCode(code));
}

function codeForm(typed: string, problems: readonly FieldProblem[]): Html {
  const field = formField(
    {
      id: 'code',
      label: 'Code of the record',
      hint: '16 letters and digits, as on the record. Capitals, blanks and hyphens do not matter.',
      problems,
    },
    (attributes) =>
      html`<input class="usa-input" name="code" value="${typed.slice(0, MAX_CODE_CHARACTERS)}" maxlength="${MAX_CODE_CHARACTERS}" autocomplete="off" autocapitalize="characters" spellcheck="false" required${attributes}>`,
  );
  return html`<form class="record-code" action="/records" method="get">
${field}<button class="usa-button" type="submit">Show the record</button></form>`;
}

/** Says that no record has the code that was typed, beside the field. */
async function noRecord(ctx: Context, page: PageWriter, typed: string): Promise<void> {
  const code = readRecordCode(typed);
  ctx.status = 404;
  ctx.state.outcome = 'none';
  const words =
    code === undefined
      ? 'A code has 16 letters and digits, and no U. Check whether one is missing.'
      : `No record has the code ${writtenRecordCode(code)}. Check each character. A record is kept for ${SAVED_RECORD_DAYS} days, then it is deleted.`;
  const problems = [{ field: 'code', words }];
  const body = codeForm(typed, problems);
  await page.send(ctx, {
    title: 'No record with this code',
    origin: undefined,
    body,
    problems,
    isPrivate: true,
  });
}

/** GET /records/{code}: a saved record as it was, beside what has changed since. */
export function recordPage(services: PageServices): Route {
  const { page, records } = services;
  return {
    method: 'GET',
    path: '/records/:code',
    handle: async (ctx) => {
      const { code: typed = '' } = ctx.params;
      const code = readRecordCode(typed);
      const saved = code === undefined ? undefined : await records.read(code);
      if (code === undefined || saved === undefined) return noRecord(ctx, page, typed);
      const address = `${publicOrigin(ctx, services.config)}${recordAddress(writtenRecordCode(code))}`;
      const about = aboutRecord(saved, code, address);
      const origin = { date: saved.date, isSampleData: saved.sample };
      if (saved.kind === 'list') {
        const body = html`${about}${savedListBody(code, saved)}`;
        await page.send(ctx, {
          title: `List of ${counted(saved.rows.length, 'row')} checked ${saved.today}`,
          heading: savedListTitle(saved),
          origin,
          body,
          isPrivate: true,
          isOfThePast: true,
        });
        return;
      }
      const { record, today } = saved;
      await page.send(ctx, {
        title: `${nameParts(record.full_name).last} ${record.license_number} checked ${today}`,
        heading: 'Record of a license check',
        origin,
        body: await licenseCheck(services, saved, about),
        isPrivate: true,
        isOfThePast: true,
      });
    },
  };
}

/** What every record says of itself: when it was saved, of what data, by whom, and where it is found again. */
function aboutRecord(saved: SavedRecord, code: string, address: string): Html {
  const { saved_at: at, date, publication, checked_by: checkedBy, reference, search } = saved;
  const facts = factList([
    ['Saved', ohioTime(at)],
    ['Checked by', checkedBy],
    ['Reference', reference],
    ['Search', search],
    ['Dataset', `State of Ohio, ${longDate(date)} (publication ${publication})`],
    ['Code', html`<code>${writtenRecordCode(code)}</code>`],
    ['Kept until', longDate(daysBefore(at.slice(0, 10), -SAVED_RECORD_DAYS))],
    [
      'Web address',
      html`<a class="record-address" href="${recordAddress(writtenRecordCode(code))}">${address}</a>`,
    ],
  ]);
  const areSaid = checkedBy !== undefined || reference !== undefined || search !== undefined;
  return html`<section><h2>This record</h2>
<div class="about-record">${facts}${qrCode(address)}</div>
${areSaid ? html`<p class="source">Who checked, the reference and the search are as the visitor’s browser sent them.</p>` : NOTHING}</section>`;
}

/** A license as it was when its record was saved. */
async function licenseCheck(
  services: PageServices,
  saved: SavedRecordOf<'license'>,
  about: Html,
): Promise<Html> {
  const { record, date, today, changes, since, gaps = [] } = saved;
  const board = boardByLabel(record.board);
  const comparison =
    board === undefined
      ? html`<div class="no-print">${alert('warning', html`The ${record.board} is no longer among the boards of this service, so the license is not compared with today’s.`)}</div>`
      : sinceThen(saved, await licenseHistory(services, { board, number: record.license_number }));
  return html`<p>As it stood on <strong>${longDate(today)}</strong> in the State’s dataset of <strong>${longDate(date)}</strong>.</p>
${comparison}
<h2>${properCase(record.full_name)}</h2>
${licenseIdentity(record)}
${licenseVerdict(record, today)}
${licenseFacts(record, today)}
${about}
<section class="no-print"><h2>History, as of then</h2>
${historyTimeline(changes, since, gaps)}</section>
<p class="no-print">To keep it on paper or as a file, print this page. <a href="${licensePath(record)}">The license as it is now</a></p>
${board === undefined ? NOTHING : boardContact(board)}`;
}

/** Whether anything has changed since the record was saved. It is not printed: it is of another day. */
function sinceThen({ record }: SavedRecordOf<'license'>, { record: now, date }: LicenseHistory): Html {
  if (now === undefined) {
    return html`<div class="no-print">${alert('warning', html`The license is not in the dataset of ${longDate(date)}.`)}</div>`;
  }
  const changed = Object.entries(withoutTwins(changedFields(record, now)));
  if (changed.length === 0) {
    return html`<div class="no-print">${alert('info', html`Nothing has changed since. Compared with the dataset of ${longDate(date)}.`)}</div>`;
  }
  const shown = (value: string | null) => (value === null ? 'Not stated' : inWords(value));
  return html`<section class="no-print since"><h2>Changed since</h2>
${dataTable(
  'cards',
  `Compared with the dataset of ${longDate(date)}`,
  ['What', 'In this record', 'Now'],
  changed.map(([name, { before, after }]) => [fieldLabel(name), shown(before), shown(after)]),
)}</section>`;
}
