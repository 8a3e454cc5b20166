import { summaryInWords } from '../answers/words.ts';
import { formBody, requireSameOrigin } from '../http/body.ts';
import type { Context } from '../http/app.ts';
import { type Route, spend, spendForItems } from '../http/guard.ts';
import { type ListRow, readRecordCode } from '../records/saved-records.ts';
import { recordAddress } from './addresses.ts';
import {
  type CheckedList,
  checkList,
  ITEMS_FOR_ONE_OVER_REST,
  listRecord,
  shownListHash,
} from './list-check.ts';
import { dataTable, type Html, html, NOTHING, type PageServices } from './page.ts';
import { NO_NOTES, noteFields, noteProblems, notesOf, type RecordNotes, saveRecord } from './record-pages.ts';
import { endCell, rowSections, sentCell, summaryOf } from './roster-results.ts';
import { counted, longDate } from './words.ts';

const FORM_LIMIT = { bytes: 4096, words: 'this form takes at most 4 KB' };

/** POST /records/{code}: checks the rows of a saved list again, and saves the new check if it is asked to. */
export function runAgainPage(services: PageServices): Route {
  const { page, records, limit, config } = services;
  return {
    method: 'POST',
    path: '/records/:code',
    handle: async (ctx) => {
      requireSameOrigin(ctx);
      const form = await formBody(ctx, FORM_LIMIT);
      const code = readRecordCode(ctx.params.code ?? '');
      const saved = code === undefined ? undefined : await records.read(code);
      if (code === undefined || saved?.kind !== 'list') return ctx.throw(404);
      const itemsPerRequest = config.ROSTER_ITEMS_PER_REQUEST * ITEMS_FOR_ONE_OVER_REST;
      await spendForItems(ctx, saved.rows.length, { limit, itemsPerRequest });
      const sent = saved.rows.map(({ row, fields }) => ({ number: row, fields }));
      const checked = await checkList(ctx, services, sent, saved.board);
      const back = html`<a href="${recordAddress(code)}">Go back to the saved check</a>, run it again and print the page.`;
      const isSaved = form.get('format') === 'save';
      const notes = isSaved ? notesOf(form) : NO_NOTES;
      const problems = noteProblems(notes);
      if (isSaved && problems.length === 0) {
        return saveList(ctx, services, checked, { shown: form.get('shown'), notes, instead: back });
      }
      if (isSaved) ctx.status = 400;
      const { date, isSampleData } = checked.origin;
      const changed = saved.rows.flatMap((then, at) => {
        const now = checked.rows[at];
        return now === undefined || endOf(then) === endOf(now) ? [] : [{ then, now }];
      });
      await page.send(ctx, {
        title:
          changed.length === 0
            ? 'No status, expiry date, name or board action has changed'
            : `${counted(changed.length, 'row')} changed since`,
        problems,
        origin: { date, isSampleData },
        body: html`<p>${counted(saved.rows.length, 'row')} saved from the dataset of <a href="${recordAddress(code)}">${longDate(saved.date)}</a>, checked again in that of <strong>${longDate(date)}</strong>: ${summaryInWords(summaryOf(checked.rows))}.</p>
<form class="no-print list-actions" action="${recordAddress(code)}" method="post"><input type="hidden" name="shown" value="${shownListHash(checked)}">${noteFields(notes, problems)}<button class="usa-button" type="submit" name="format" value="save">Save this check</button></form>
${changes(changed, saved.today, checked.origin.today)}
${rowSections(checked.rows, checked.origin.today)}`,
        isPrivate: true,
      });
    },
  };
}

/** What tells one end of a row from another. Notes name the day, and suggestions come and go. */
function endOf({ need, licenses, name_match }: ListRow): string {
  const standings = licenses.map(
    ({ board, license_number, full_name, raw_status, expiry_date, extra_data }) => [
      ...[board, license_number, full_name, raw_status, expiry_date],
      ...Object.entries(extra_data).toSorted(),
    ],
  );
  return JSON.stringify([need, name_match ?? null, standings]);
}

function changes(
  changed: readonly { readonly then: ListRow; readonly now: ListRow }[],
  thatDay: string,
  today: string,
): Html {
  if (changed.length === 0) return NOTHING;
  return html`<section class="since"><h2>What changed</h2>
${dataTable(
  'usa-table--borderless cards list-rows',
  html`<span class="usa-sr-only">What was found then beside what is found now</span>`,
  ['Row', 'You sent', 'Then', 'Now'],
  changed.map(({ then, now }) => [
    String(now.row),
    sentCell(now.fields),
    endCell(then, thatDay),
    endCell(now, today),
  ]),
)}</section>`;
}

interface ListToSave {
  /** The hash of what the page showed. */
  readonly shown: unknown;
  readonly notes: RecordNotes;
  /** How to keep the check without a record. */
  readonly instead: Html;
}

/** Saves a list that was checked, unless its page would show something else by now. */
export async function saveList(
  ctx: Context,
  services: PageServices,
  checked: CheckedList,
  { shown, notes, instead }: ListToSave,
): Promise<void> {
  const { page, saveLimits } = services;
  await spend(ctx, saveLimits.aMinute);
  await spend(ctx, saveLimits.aDay);
  if (shownListHash(checked) === shown) {
    const said = Object.fromEntries(Object.entries(notes).filter(([, text]) => text !== ''));
    return saveRecord(ctx, services, { ...listRecord(checked), ...said }, instead);
  }
  const { date, isSampleData } = checked.origin;
  ctx.status = 409;
  await page.send(ctx, {
    title: 'Not saved: the page was out of date',
    origin: { date, isSampleData },
    body: html`<p>New data was published after the list was checked, or another day has begun. ${instead}</p>`,
    isPrivate: true,
  });
}
