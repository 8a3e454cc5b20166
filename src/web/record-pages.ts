import { hash } from 'node:crypto';
import { changedFields } from '../changes/change.ts';
import { formBody, requireSameOrigin } from '../http/body.ts';
import { spend } from '../http/limits.ts';
import type { Context, Route } from '../http/route.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import { type Board, boardByLabel } from '../licenses/boards.ts';
import { daysBefore } from '../licenses/dates.ts';
import { type LicenseHistory, licenseHistory } from '../lookup/service.ts';
import {
  MAX_RECORD_BYTES,
  type NewRecord,
  RecordRefusedError,
  readRecordCode,
  SAVED_RECORD_DAYS,
  type SavedRecord,
  type SavedRecordOf,
  writtenRecordCode,
} from '../records/saved-records.ts';
import { boardByCode, licenseAddress, recordAddress } from './addresses.ts';
import { historyTimeline, withoutTwins } from './history-timeline.ts';
import { boardContact, licenseFacts, licenseIdentity, licenseVerdict } from './license-facts.ts';
import { alert, dataTable, factList, type Html, html, NOTHING, type PageServices } from './page.ts';
import { savedListBody, savedListTitle } from './roster-results.ts';
import { fieldLabel, inWords, longDate, ohioTime, properCase } from './words.ts';

/**
 * A hash of what a page shows. A record that is saved from the page is refused when it would show something else.
 *
 * @param today the date in Ohio: the days to the expiry date are shown, too
 */
function shownHash({ record, changes, publication }: LicenseHistory, today: string): string {
  return hash('sha256', JSON.stringify([record, changes, publication, today])).slice(0, 32);
}

/** The form on a license's page that saves what the page shows. */
export function saveRecordForm(view: LicenseHistory, today: string): Html {
  const { record } = view;
  const board = record === undefined ? undefined : boardByLabel(record.board);
  if (record === undefined || board === undefined) return NOTHING;
  return html`<form class="no-print margin-y-205" action="/records" method="post"><input type="hidden" name="board" value="${board.code}"><input type="hidden" name="number" value="${record.license_number}"><input type="hidden" name="shown" value="${shownHash(view, today)}"><button class="usa-button" type="submit">Save a record of this check</button> <span class="usa-hint display-block margin-top-05">Keeps this page as it is, under an address of its own, for 400 days.</span></form>`;
}

const FORM_LIMIT = { bytes: 4096, words: 'this form takes at most 4 KB' };
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
      const form = await formBody(ctx, FORM_LIMIT);
      const board = boardByCode(textOf(form.get('board')));
      const number = textOf(form.get('number'));
      if (board === undefined || number === '') throw new BadRequestError(FORM_BROKEN);
      const view = await licenseHistory(services, { board, number });
      const { record, publication, date, isSampleData, since, gaps, changes } = view;
      if (record === undefined || shownHash(view, today()) !== textOf(form.get('shown'))) {
        ctx.status = 409;
        await page.send(ctx, {
          title: 'Not saved: the page was out of date',
          origin: { date, isSampleData },
          body: html`<p>New data was published after you opened the page, or another day has begun. Look at the license again, then save.</p>
<p><a class="usa-button" href="${licenseAddress({ board: board.name, license_number: number })}">Look at the license again</a></p>`,
          isPrivate: true,
        });
        return;
      }
      const instead = html`<a href="${licenseAddress(record)}">Go back to the license</a> and print the page.`;
      await saveRecord(
        ctx,
        services,
        {
          kind: 'license',
          ...{ publication, date, sample: isSampleData, today: today(), record, since },
          changes: [...changes],
          ...(gaps.length > 0 && { gaps: [...gaps] }),
        },
        instead,
      );
    },
  };
}

/** How many bytes of a record an address may save for the price of one: a list costs more than a license. */
const BYTES_A_SAVE = 25_000;

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
  const saves = Math.ceil(Buffer.byteLength(JSON.stringify(record)) / BYTES_A_SAVE);
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

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** GET /records/{code}: a saved record as it was, beside what has changed since. */
export function recordPage(services: PageServices): Route {
  const { page, records, origin } = services;
  return {
    method: 'GET',
    path: '/records/:code',
    handle: async (ctx) => {
      const code = readRecordCode(ctx.params.code ?? '');
      const saved = code === undefined ? undefined : await records.read(code);
      if (code === undefined || saved === undefined) {
        ctx.status = 404;
        ctx.state.outcome = 'none';
        await page.send(ctx, {
          title: 'No record with this code',
          origin: origin(),
          body: html`<p>Check the code: it has 16 letters and digits. A record is kept for ${SAVED_RECORD_DAYS} days.</p><p><a href="/">Look up a license</a></p>`,
          isPrivate: true,
        });
        return;
      }
      if (saved.kind === 'list') {
        await page.send(ctx, {
          title: savedListTitle(saved),
          origin: { date: saved.date, isSampleData: saved.sample },
          body: html`${checkFacts(code, saved)}${savedListBody(code, saved)}`,
          isPrivate: true,
          isOfThePast: true,
        });
        return;
      }
      const board = boardByLabel(saved.record.board);
      const comparison =
        board === undefined
          ? html`<div class="no-print">${alert('warning', html`The ${saved.record.board} is no longer among the boards of this service, so the license is not compared with today’s.`)}</div>`
          : sinceThen(saved, await licenseHistory(services, { board, number: saved.record.license_number }));
      await page.send(ctx, {
        title: 'Record of a license check',
        origin: { date: saved.date, isSampleData: saved.sample },
        body: savedBody(code, saved, board, comparison),
        isPrivate: true,
        isOfThePast: true,
      });
    },
  };
}

/** When it was checked, in which dataset, and under which code the record is found. */
function checkFacts(code: string, { saved_at: at, date, publication }: SavedRecord): Html {
  const kept = longDate(daysBefore(at.slice(0, 10), -SAVED_RECORD_DAYS));
  return factList([
    ['Checked', ohioTime(at)],
    ['Dataset', `State of Ohio, ${longDate(date)} (publication ${publication})`],
    ['Code', html`<code>${writtenRecordCode(code)}</code>, kept until ${kept}`],
  ]);
}

function savedBody(
  code: string,
  saved: SavedRecordOf<'license'>,
  board: Board | undefined,
  comparison: Html,
): Html {
  const { record, today, changes, since, gaps = [] } = saved;
  return html`${checkFacts(code, saved)}
${comparison}
<h2>${properCase(record.full_name)}</h2>
${licenseIdentity(record)}
${licenseVerdict(record, today)}
${licenseFacts(record, today)}
<section class="no-print"><h2>History, as of then</h2>
${historyTimeline(changes, since, gaps)}</section>
<p class="no-print">To keep it on paper or as a file, print this page. <a href="${licenseAddress(record)}">The license as it is now</a></p>
${board === undefined ? NOTHING : boardContact(board)}`;
}

/** Whether anything has changed since the record was saved. It is not printed: it is of another day. */
function sinceThen({ record }: SavedRecordOf<'license'>, { record: now, date }: LicenseHistory): Html {
  if (now === undefined) {
    return html`<div class="no-print">${alert('warning', html`The license is not in the dataset of ${longDate(date)}.`)}</div>`;
  }
  const changed = Object.entries(withoutTwins(changedFields(record, now)));
  if (changed.length === 0) {
    return html`<div class="no-print">${alert('success', html`Nothing has changed since. Compared with the dataset of ${longDate(date)}.`)}</div>`;
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
