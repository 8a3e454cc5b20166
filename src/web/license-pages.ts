import { missMessage } from '../answers/words.ts';
import type { Route } from '../http/guard.ts';
import type { Board } from '../licenses/boards.ts';
import { licensePath } from '../licenses/license.ts';
import { type LicenseHistory, licenseHistory } from '../lookup/service.ts';
import { boardByCode, publicOrigin, qrCode } from './addresses.ts';
import { historyTimeline } from './history-timeline.ts';
import {
  boardContact,
  licenseButtons,
  licenseFacts,
  licenseIdentity,
  licenseVerdict,
} from './license-facts.ts';
import { NO_FIELDS, type SearchFields } from './lookup-form.ts';
import { miss } from './lookup-page.ts';
import { type Html, html, NOTHING, type PageServices } from './page.ts';
import { saveRecordForm } from './record-pages.ts';
import { longDate, properCase } from './words.ts';

/** GET /licenses/{board code}/{number}: everything that is known of a license. */
export function licensePage(services: PageServices): Route {
  const { page, today, config } = services;
  return {
    method: 'GET',
    path: '/licenses/:board/:number',
    handle: async (ctx) => {
      const { board: code = '', number = '' } = ctx.params;
      const board = boardByCode(code);
      if (board === undefined || number.length > MAX_NUMBER_LENGTH) return ctx.throw(404);
      const view = await licenseHistory(services, { board, number });
      const { record, date, isSampleData } = view;
      ctx.state.outcome = view.outcome.outcome;
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
        ctx.redirect(licensePath(record));
        return;
      }
      const name = properCase(record.full_name);
      const body = html`${licenseBody(view, board, today(), saveRecordForm(ctx, view, today()))}
${printedAddress(publicOrigin(ctx, config), licensePath(record))}`;
      await page.send(ctx, {
        title: `${name}, ${record.license_number}`,
        heading: name,
        origin,
        body,
        isPrivate: true,
      });
    },
  };
}

const MAX_NUMBER_LENGTH = 200;

/** Where paper leads back to. Browsers load a lazy image that is not shown only when they print. */
function printedAddress(origin: string, address: string): Html {
  return html`<div class="printed-address"><p>This page: ${origin}${address}</p><img src="${address}/qr.svg" alt="" width="120" height="120" loading="lazy"></div>`;
}

/** GET /licenses/{board code}/{number}/qr.svg: the address of the license's page. Drawing it takes as long as half a page. */
export function licenseQrCode({ config }: PageServices): Route {
  return {
    method: 'GET',
    path: '/licenses/:board/:number/qr.svg',
    handle: async (ctx) => {
      const { board: code = '', number = '' } = ctx.params;
      const board = boardByCode(code);
      if (board === undefined || number.length > MAX_NUMBER_LENGTH) return ctx.throw(404);
      const address = licensePath({ board: board.name, license_number: number });
      ctx.type = 'image/svg+xml';
      ctx.set('cache-control', 'public, max-age=86400');
      ctx.body = String(await qrCode(`${publicOrigin(ctx, config)}${address}`));
    },
  };
}

function licenseBody(view: LicenseHistory, board: Board, today: string, saveForm: Html): Html {
  const { record, changes, since, gaps, date } = view;
  if (record === undefined) return NOTHING;
  return html`${licenseIdentity(record)}
${licenseVerdict(record, today)}
<p class="source">As of the State’s dataset of <strong>${longDate(date)}</strong>.</p>
${licenseFacts(record, today)}
<div class="actions no-print">${licenseButtons(record, date, today)}</div>
${saveForm}
<section class="no-print"><h2>History</h2>
${historyTimeline(changes, since, gaps)}</section>
${boardContact(board)}`;
}

function withoutRecord(view: LicenseHistory, board: Board, number: string): Html {
  const { outcome, licenseNumber, changes, since, gaps, date } = view;
  const fields: SearchFields = { ...NO_FIELDS, by: 'number', board: board.code, number };
  if (outcome.outcome !== 'none') return NOTHING;
  if (licenseNumber === undefined) {
    return html`${miss(outcome, fields, date)}
<p><a href="/">Search again</a></p>
${boardContact(board)}`;
  }
  return html`<p>${missMessage(outcome, longDate(date), 'page')}</p>
<section><h2>History</h2>
${historyTimeline(changes, since, gaps)}</section>
${boardContact(board)}`;
}
