import { hash } from 'node:crypto';
import { lookupOutcome } from '../access/usage.ts';
import { changedFields } from '../changes/change.ts';
import { formBody, requireSameOrigin } from '../http/body.ts';
import { spend } from '../http/limits.ts';
import type { Route } from '../http/route.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import { type Board, boardByLabel } from '../licenses/boards.ts';
import { daysBefore } from '../licenses/dates.ts';
import { isMiss } from '../licenses/lookup.ts';
import { type LicenseHistory, licenseHistory } from '../lookup/service.ts';
import {
  readRecordCode,
  SAVED_RECORD_DAYS,
  type SavedRecord,
  TooManyRecordsError,
  writtenRecordCode,
} from '../records/saved-records.ts';
import { boardByCode, licenseAddress, recordAddress } from './addresses.ts';
import { historyTimeline, withoutTwins } from './history-timeline.ts';
import { boardContact, extraDataGroups, licenseFacts } from './license-facts.ts';
import { NO_FIELDS, type SearchFields } from './lookup-form.ts';
import { miss } from './lookup-page.ts';
import { alert, dataTable, factList, type Html, html, NOTHING, type PageServices } from './page.ts';
import { fieldLabel, inWords, longDate, ohioTime } from './words.ts';

/** GET /licenses/{board code}/{number}: everything that is known of a license. */
export function licensePage(services: PageServices): Route {
  const { page, today } = services;
  return {
    method: 'GET',
    path: '/licenses/:board/:number',
    handle: async (ctx) => {
      const { board: code = '', number = '' } = ctx.params;
      const board = boardByCode(code);
      if (board === undefined || number.length > MAX_NUMBER_LENGTH) return ctx.throw(404);
      const view = await licenseHistory(services, { board, number });
      const { record, date, isSampleData } = view;
      ctx.state.outcome = lookupOutcome(view.outcome);
      const origin = { date, isSampleData };
      if (record === undefined) {
        ctx.status = 404;
        const title =
          view.licenseNumber === undefined ? 'No license with this number' : `License ${view.licenseNumber}`;
        await page.send(ctx, { title, origin, body: withoutRecord(view, board, number), isPrivate: true });
        return;
      }
      if (code !== board.code || number !== record.license_number) {
        ctx.status = 301;
        ctx.redirect(licenseAddress(record));
        return;
      }
      const body = licenseBody(view, board, today());
      await page.send(ctx, { title: record.full_name, origin, body, isPrivate: true });
    },
  };
}

const MAX_NUMBER_LENGTH = 200;

/**
 * A hash of what a page shows. A record that is saved from the page is refused when it would show something else.
 *
 * @param today the date in Ohio: the days to the expiry date are shown, too
 */
function shownHash({ record, changes, publication }: LicenseHistory, today: string): string {
  return hash('sha256', JSON.stringify([record, changes, publication, today])).slice(0, 32);
}

function licenseBody(view: LicenseHistory, board: Board, today: string): Html {
  const { record, changes, since, gaps, date } = view;
  if (record === undefined) return NOTHING;
  return html`<p class="margin-top-0">${record.license_type ?? 'License'} ${record.license_number}, ${record.board}. As of the State’s dataset of <strong>${longDate(date)}</strong>.</p>
${licenseFacts(record, today)}
<form class="no-print margin-y-205" action="/records" method="post"><input type="hidden" name="board" value="${board.code}"><input type="hidden" name="number" value="${record.license_number}"><input type="hidden" name="shown" value="${shownHash(view, today)}"><button class="usa-button" type="submit">Save a record of this check</button> <span class="usa-hint display-block margin-top-05">Keeps this page as it is, under an address of its own, for 400 days.</span></form>
${extraDataGroups(record.extra_data)}
<section class="no-print"><h2>History</h2>
${historyTimeline(changes, since, gaps)}</section>
${boardContact(board)}`;
}

function withoutRecord(view: LicenseHistory, board: Board, number: string): Html {
  const { outcome, licenseNumber, changes, since, gaps, date } = view;
  const fields: SearchFields = { ...NO_FIELDS, by: 'number', board: board.code, number };
  if (licenseNumber === undefined && isMiss(outcome)) {
    return html`${miss(outcome, fields, date)}
<p><a href="/">Search again</a></p>
${boardContact(board)}`;
  }
  return html`<p>The ${board.name}’s license ${licenseNumber ?? number} is no longer in the State’s dataset of ${longDate(date)}. That does not say why; ask the board.</p>
<section><h2>History</h2>
${historyTimeline(changes, since, gaps)}</section>
${boardContact(board)}`;
}

const FORM_LIMIT = { bytes: 4096, words: 'this form takes at most 4 KB' };
const FORM_BROKEN = 'This form can not be read. Go back to the license and press the button again.';

/** POST /records: saves exactly what the license's page showed, and leads to its own address. */
export function saveRecordPage(services: PageServices): Route {
  const { page, today, records, saveLimits } = services;
  return {
    method: 'POST',
    path: '/records',
    handle: async (ctx) => {
      requireSameOrigin(ctx);
      for (const limit of saveLimits) await spend(ctx, limit);
      const form = await formBody(ctx, FORM_LIMIT);
      const board = boardByCode(textOf(form.get('board')));
      const number = textOf(form.get('number'));
      if (board === undefined || number === '') throw new BadRequestError(FORM_BROKEN);
      const view = await licenseHistory(services, { board, number });
      const { record, publication, date, isSampleData, since, gaps, changes } = view;
      const refused = (status: number, title: string, body: Html) => {
        ctx.status = status;
        return page.send(ctx, { title, origin: { date, isSampleData }, body, isPrivate: true });
      };
      if (record === undefined || shownHash(view, today()) !== textOf(form.get('shown'))) {
        return refused(
          409,
          'Not saved: the page was out of date',
          html`<p>New data was published after you opened the page, or another day has begun. Look at the license again, then save.</p>
<p><a class="usa-button" href="${licenseAddress({ board: board.name, license_number: number })}">Look at the license again</a></p>`,
        );
      }
      const shown = { publication, date, sample: isSampleData, today: today(), record, since };
      const saving = records.save({
        ...shown,
        changes: [...changes],
        ...(gaps.length > 0 && { gaps: [...gaps] }),
      });
      const code = await saving.catch((error: unknown) => {
        if (error instanceof TooManyRecordsError) return undefined;
        throw error;
      });
      if (code === undefined) {
        // Lookups are answered; only this is not.
        ctx.state.outcome = 'limited';
        ctx.set('retry-after', '3600');
        return refused(
          503,
          'No more records can be saved today',
          html`<p>So many records were saved in the last 24 hours that no more are taken now. To keep this check, <a href="${licenseAddress(record)}">go back to the license</a> and print the page, or save it again tomorrow.</p>`,
        );
      }
      ctx.status = 303;
      ctx.redirect(recordAddress(writtenRecordCode(code)));
    },
  };
}

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

function savedBody(code: string, saved: SavedRecord, board: Board | undefined, comparison: Html): Html {
  const { record, saved_at: at, date, today, changes, since, gaps = [] } = saved;
  const kept = longDate(daysBefore(at.slice(0, 10), -SAVED_RECORD_DAYS));
  return html`${factList([
    ['Checked', ohioTime(at)],
    ['Dataset', `State of Ohio, ${longDate(date)} (publication ${saved.publication})`],
    ['Code', html`<code>${writtenRecordCode(code)}</code>, kept until ${kept}`],
  ])}
${comparison}
<h2>${record.full_name}</h2>
${licenseFacts(record, today)}
${extraDataGroups(record.extra_data)}
<section class="no-print"><h2>History, as of then</h2>
${historyTimeline(changes, since, gaps)}</section>
<p class="no-print">To keep it on paper or as a file, print this page. <a href="${licenseAddress(record)}">The license as it is now</a></p>
${board === undefined ? NOTHING : boardContact(board)}`;
}

/** Whether anything has changed since the record was saved. It is not printed: it is of another day. */
function sinceThen({ record }: SavedRecord, { record: now, date }: LicenseHistory): Html {
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
