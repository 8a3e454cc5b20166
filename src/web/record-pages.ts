import { plainAddress, type RateLimit } from '../access/rate-limit.ts';
import { changedFields } from '../changes/change.ts';
import { formBody } from '../http/body.ts';
import { withLimitHeaders } from '../http/limit.ts';
import type { Route } from '../http/route.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import { type Board, boardByLabel } from '../licenses/boards.ts';
import { daysBefore } from '../licenses/dates.ts';
import { type LicenseHistory, licenseHistory } from '../lookup/license-history.ts';
import {
  readRecordCode,
  SAVED_RECORD_DAYS,
  type SavedRecord,
  type SavedRecords,
  TooManyRecordsError,
  writtenRecordCode,
} from '../records/saved-records.ts';
import { boardByCode, licenseAddress, recordAddress } from './addresses.ts';
import { boardContact } from './board-contact.ts';
import { extraDataGroups } from './extra-data-groups.ts';
import { fieldLabel } from './field-labels.ts';
import { historyTimeline, withoutTwins } from './history-timeline.ts';
import { licenseFacts } from './license-facts.ts';
import { type LicensePageServices, shownHash } from './license-page.ts';
import { alert, type Html, html, NOTHING, type Origin } from './page.ts';
import { requireSameOrigin } from './same-origin.ts';
import { inWords, longDate, ohioTime } from './words.ts';

/** What the pages of saved records are made from. */
export interface RecordPageServices extends LicensePageServices {
  readonly records: SavedRecords;
  readonly origin: () => Origin | undefined;
  /** How many records an address may save, in a minute and in a day. */
  readonly saveLimits: readonly RateLimit[];
}

const FORM_LIMIT = { bytes: 4096, words: 'this form takes at most 4 KB' };
const FORM_BROKEN = 'This form can not be read. Go back to the license and press the button again.';

/** POST /records: saves exactly what the license's page showed, and leads to its own address. */
export function saveRecordPage(services: RecordPageServices): Route {
  const { page, today, records, saveLimits } = services;
  return {
    method: 'POST',
    path: '/records',
    handle: async (ctx) => {
      requireSameOrigin(ctx);
      for (const limit of saveLimits) {
        await withLimitHeaders(ctx, limit, () => limit.spend(plainAddress(ctx.ip)));
      }
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
        ctx.status = 503;
        // Lookups are answered; only this is not.
        ctx.state.outcome = 'limited';
        ctx.set('retry-after', '3600');
        await page.send(ctx, {
          title: 'No more records can be saved today',
          origin: { date, isSampleData },
          body: html`<p>So many records were saved in the last 24 hours that no more are taken now. To keep this check, <a href="${licenseAddress(record)}">go back to the license</a> and print the page, or save it again tomorrow.</p>`,
          isPrivate: true,
        });
        return;
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
export function recordPage(services: RecordPageServices): Route {
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
  return html`<dl class="facts"><div><dt>Checked</dt><dd>${ohioTime(at)}</dd></div><div><dt>Dataset</dt><dd>State of Ohio, ${longDate(date)} (publication ${saved.publication})</dd></div><div><dt>Code</dt><dd><code>${writtenRecordCode(code)}</code>, kept until ${kept}</dd></div></dl>
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
  return html`<section class="no-print since"><h2>Changed since</h2>
<table class="usa-table cards"><caption>Compared with the dataset of ${longDate(date)}</caption>
<thead><tr><th scope="col">What</th><th scope="col">In this record</th><th scope="col">Now</th></tr></thead>
<tbody>${changed.map(
    ([name, { before, after }]) =>
      html`<tr><th scope="row" data-label="What">${fieldLabel(name)}</th><td data-label="In this record">${before === null ? 'Not stated' : inWords(before)}</td><td data-label="Now">${after === null ? 'Not stated' : inWords(after)}</td></tr>`,
  )}</tbody></table></section>`;
}
