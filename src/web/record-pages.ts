import { NOT_GIVEN } from '../answers/words.ts';
import { changedFields } from '../changes/change.ts';
import type { Context } from '../http/app.ts';
import { formBody } from '../http/body.ts';
import { ClientError, errorResponse } from '../http/errors.ts';
import { spend } from '../http/guard.ts';
import { boardByCode, boardByLabel } from '../licenses/boards.ts';
import { daysBefore, todayInOhio } from '../licenses/dates.ts';
import { licensePath } from '../licenses/license.ts';
import { BadRequestError } from '../licenses/lookup.ts';
import { cautionsOf } from '../licenses/standing.ts';
import { type LicenseHistory, licenseHistory } from '../lookup/service.ts';
import {
  MAX_RECORD_BYTES,
  type NewRecord,
  RecordRefusedError,
  readRecordCode,
  recordOfLicense,
  SAVED_RECORD_DAYS,
  type SavedRecord,
  type SavedRecordOf,
  type SavedRecords,
  savesOf,
  writtenRecordCode,
} from '../records/saved-records.ts';
import { JOSE } from '../signing/keys.ts';
import { recordAddress } from './addresses.ts';
import { history, withoutTwins } from './history.ts';
import { boardContact, licenseBody, MAX_NUMBER_LENGTH } from './license-pages.ts';
import { savedListBody } from './list-form.ts';
import { listTitle } from './list-rows.ts';
import {
  alert,
  dataTable,
  factList,
  type Html,
  html,
  type PageContext,
  type PageServices,
  publicOrigin,
  redirect,
} from './page.ts';
import { checkNotes, notesOf, textOf } from './record-notes.ts';
import { counted, fieldLabel, inWords, longDate, missInWords, ohioTime, properCase } from './words.ts';

/** POST /records: saves a record of the license as it is now, and redirects to it. */
export async function saveRecordPage(ctx: PageContext, services: PageServices): Promise<void> {
  const form = await formBody(ctx, { bytes: 8192, words: 'this form takes at most 8 KB' });
  await spend(ctx, services.saveLimits.aMinute);
  const board = boardByCode(textOf(form, 'board'));
  const number = textOf(form, 'number');
  if (board === undefined || number === '' || number.length > MAX_NUMBER_LENGTH)
    throw new BadRequestError('This form cannot be read. Go back and press the button again.');
  const view = await licenseHistory(services, { board, number });
  const asked = { board: board.name, license_number: number };
  // The page of the license explains that the dataset no longer has it.
  if (view.record === undefined) return ctx.redirect(licensePath(asked));
  const shown = recordOfLicense({ ...view, record: view.record, asked }, todayInOhio(), notesOf(form));
  return saveRecord(ctx, services, shown);
}

/**
 * Saves a record and redirects to it, or says why it is not saved. Only saved records count against the daily limit.
 */
export async function saveRecord(
  ctx: Context,
  { sendPage, records, saveLimits }: PageServices,
  record: NewRecord,
): Promise<void> {
  checkNotes(record);
  const saves = savesOf(record);
  await spend(ctx, saveLimits.aDay, saves);
  try {
    const code = await records.save(record);
    redirect(ctx, recordAddress(writtenRecordCode(code)));
  } catch (error) {
    await saveLimits.aDay.giveBack(ctx.ip, saves);
    if (!(error instanceof RecordRefusedError)) throw error;
    const { status, title, why } = REFUSED[error.reason];
    ctx.status = status;
    if (status === 503) {
      // Lookups still work, so this does not count as an outage.
      ctx.state.outcome = 'limited';
      ctx.set('retry-after', '3600');
    }
    const origin = { date: record.date, isSampleData: record.sample };
    const body = html`<p>${why} To keep this check, go back and print the page.</p>`;
    await sendPage(ctx, { title, origin, body });
  }
}

const TOO_LARGE = `A record takes at most ${MAX_RECORD_BYTES / 1_000_000} MB.`;
const REFUSED = {
  day: { status: 503, title: 'No more records can be saved today', why: 'Try again tomorrow.' },
  full: { status: 503, title: 'No more records can be saved', why: 'There is no room for more.' },
  size: { status: 413, title: 'This check is too large to be saved', why: TOO_LARGE },
} satisfies Record<RecordRefusedError['reason'], object>;

/** The address of the record with a code in any spelling; `undefined` if there is no such record. */
export async function addressOfRecord(records: SavedRecords, typed: string): Promise<string | undefined> {
  const code = readRecordCode(typed);
  if (code === undefined || (await records.read(code)) === undefined) return undefined;
  return recordAddress(writtenRecordCode(code));
}

/** The ending of a signed record's address. */
const FILE = '.jose';

/** GET /records/{code}: a saved record as it was, and what has changed since. */
export async function recordPage(ctx: PageContext, services: PageServices): Promise<void> {
  const { sendPage, records, config } = services;
  const [typed = '', ending] = ctx.params.code?.split(FILE) ?? [];
  const isFile = ending === '' || ctx.accepts(['text/html', JOSE]) === JOSE;
  const saved = await records.read(typed);
  if (saved === undefined) {
    ctx.status = 404;
    ctx.state.outcome = 'none';
    const body = html`<p>A code has 16 letters and digits. Check each character, and type it into the box above. A record is kept for ${SAVED_RECORD_DAYS} days, then it is deleted.</p>`;
    return sendPage(ctx, { title: 'No record with this code', body });
  }
  const code = writtenRecordCode(readRecordCode(typed) ?? '');
  ctx.vary('Accept');
  if (isFile) {
    if (saved.jws === undefined) throw new ClientError(404, 'This record is not signed.');
    ctx.attachment(`record-${code}${FILE}`);
    ctx.set({ 'content-type': JOSE, 'x-robots-tag': 'noindex' });
    ctx.body = saved.jws;
    return;
  }
  const { today, date, sample: isSampleData } = saved;
  const about = aboutRecord(saved, code, publicOrigin(ctx, config) + recordAddress(code));
  await sendPage(ctx, {
    ...(saved.kind === 'list'
      ? {
          title: `List of ${counted(saved.rows.length, 'row')} checked ${today}`,
          heading: listTitle(saved.rows),
          body: html`${PRINT}${about}${savedListBody(saved)}`,
        }
      : {
          title: `${properCase(saved.record.full_name)} ${saved.record.license_number} checked ${today}`,
          heading: 'Record of a license check',
          body: await licenseCheck(services, saved, about),
        }),
    origin: { date, isSampleData },
    readOn: today,
  });
}

const PRINT = html`<p class="no-print"><button type="button" data-action="print" hidden>Print</button></p>
`;

/** The facts about a record: when it was saved, from which data, by whom, and its address. */
function aboutRecord(saved: SavedRecord, code: string, address: string): Html {
  const { saved_at: at, date, publication, account, checked_by: checkedBy, reference, search, jws } = saved;
  const file = html`<a href="${recordAddress(code)}${FILE}" type="${JOSE}">Download the record</a>`;
  return factList([
    ['Saved', ohioTime(at)],
    ['By the account', account],
    ['Checked by', checkedBy],
    ['Reference', reference],
    ['Search', search],
    ['State data', `${longDate(date)} (publication ${publication})`],
    ['Code', html`<code>${code}</code>`],
    ['Online until', longDate(daysBefore(at.slice(0, 10), -SAVED_RECORD_DAYS))],
    ['Web address', html`<a href="${recordAddress(code)}">${address}</a>`],
    ['Signed', jws && file],
  ]);
}

/** The license as it was when the record was saved, compared with the current data. */
async function licenseCheck(
  services: PageServices,
  saved: SavedRecordOf<'license'>,
  about: Html,
): Promise<Html> {
  const { record, date, today, changes, since, gaps = [] } = saved;
  const board = boardByLabel(record.board);
  const comparison =
    board === undefined
      ? alert('caution', html`The ${record.board} is no longer among the boards of this service.`)
      : sinceThen(
          saved,
          await licenseHistory(services, { board, number: record.license_number }).catch(unlessAway),
        );
  return html`${PRINT}${comparison}
<h2>${properCase(record.full_name)}</h2>
${licenseBody(record, changes, today)}
<h2>This record</h2>
${about}
${history(changes, { since, date, gaps })}
<p class="no-print"><a href="${licensePath(record)}">The license as it is now</a></p>
${board && boardContact(board)}`;
}

/** Ignores a 503, so that a saved record is shown even while lookups do not work. @throws any other error */
function unlessAway(error: unknown): undefined {
  if (errorResponse(error).status !== 503) throw error;
}

/** Says what has changed since the record was saved. If nothing has, the record is printed without it. */
function sinceThen(saved: SavedRecordOf<'license'>, history: LicenseHistory | undefined): Html {
  if (history === undefined)
    return alert('caution', html`Not compared with the current data, which cannot be read right now.`);
  const { record: now, date, outcome } = history;
  if (outcome.outcome === 'none' && outcome.reason === 'unreadable')
    return alert('caution', html`${missInWords(outcome, date)}`);
  if (now === undefined)
    return alert('caution', html`The license is not in the State’s data of ${longDate(date)}.`);
  const changed = Object.entries(withoutTwins(changedFields(saved.record, now)));
  const same = date > saved.date ? 'still says the same' : 'says the same';
  const later = date > saved.date ? '' : ' No later data is loaded.';
  const isPast = cautionsOf(now, todayInOhio()).includes('past_expiry');
  const wasPast = cautionsOf(saved.record, saved.today).includes('past_expiry');
  const passed = isPast && !wasPast ? 'Its expiry date has since passed.' : '';
  if (changed.length === 0) {
    const words = html`The State’s data of ${longDate(date)} ${same} as this record.${later}${passed && ` ${passed}`}`;
    return passed === ''
      ? html`<div class="no-print">${alert('neutral', words)}</div>`
      : alert('caution', words);
  }
  const shown = (value: string | null) => (value === null ? NOT_GIVEN : inWords(value));
  return html`<section class="since"><h2>Changed since this record</h2>${passed && html`<p>${passed}</p>`}
${dataTable(
  `Compared with the State’s data of ${longDate(date)}`,
  ['What', 'In this record', `Data of ${longDate(date)}`],
  changed.map(([name, { before, after }]) => [fieldLabel(name), shown(before), shown(after)]),
)}</section>`;
}
