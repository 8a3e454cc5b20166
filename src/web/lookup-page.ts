import type { Route } from '../http/route.ts';
import { BadRequestError } from '../licenses/bad-request.ts';
import { boardByName } from '../licenses/boards.ts';
import type { LicenseRecord } from '../licenses/license-record.ts';
import { MAX_MATCHES } from '../licenses/lookup.ts';
import type { DatedOutcome, Lookups } from '../lookup/service.ts';
import { lookupOutcome } from '../telemetry/outcome.ts';
import { licenseAddress } from './addresses.ts';
import { resultTables } from './license-facts.ts';
import {
  isSearch,
  lookupForm,
  modeOf,
  type SearchFields,
  searchFields,
  searchRequest,
} from './lookup-form.ts';
import { miss } from './miss.ts';
import { alert, type Html, html, type Origin, type PageWriter } from './page.ts';
import { counted } from './words.ts';

/** What the lookup page is made from. */
interface LookupPageServices {
  readonly lookups: Lookups;
  readonly page: PageWriter;
  /** The publication that answers now, as last known. */
  readonly origin: () => Origin | undefined;
  /** The date in Ohio. */
  readonly today: () => string;
}

/** GET /: the form, and the result of the search that the address holds. */
export function lookupPage({ lookups, page, origin, today }: LookupPageServices): Route {
  return {
    method: 'GET',
    path: '/',
    handle: async (ctx) => {
      const fields = searchFields(ctx.query);
      if (!isSearch(fields)) {
        await page.send(ctx, { title: 'Look up a license', origin: origin(), body: startPage(fields) });
        return;
      }
      const answer = await searched(lookups, fields);
      if (answer instanceof BadRequestError) {
        ctx.status = 400;
        const body = html`${alert('error', html`${answer.message}`)}${lookupForm(fields)}`;
        await page.send(ctx, { title: 'Look up a license', origin: origin(), body, isPrivate: true });
        return;
      }
      const { outcome, date, isSampleData } = answer;
      ctx.state.outcome = lookupOutcome(outcome);
      if (outcome.outcome === 'found' && modeOf(fields) === 'number' && hasPage(outcome.record)) {
        ctx.status = 303;
        ctx.redirect(licenseAddress(outcome.record));
        return;
      }
      const body = html`${resultOf(answer, fields, today())}
<h2>Search again</h2>
${lookupForm(fields)}`;
      await page.send(ctx, { title: 'Result', origin: { date, isSampleData }, body, isPrivate: true });
    },
  };
}

/** A license of a board that the catalog does not have is only listed. */
function hasPage({ board }: LicenseRecord): boolean {
  return boardByName(board) !== undefined;
}

/** @returns the answer, or what is wrong with what was typed */
async function searched(lookups: Lookups, fields: SearchFields): Promise<DatedOutcome | BadRequestError> {
  try {
    return await lookups.lookUp(searchRequest(fields));
  } catch (error) {
    if (error instanceof BadRequestError) return error;
    throw error;
  }
}

function startPage(fields: SearchFields): Html {
  return html`<p class="usa-intro">Is a person or a business licensed in Ohio, until when, and has the board acted on the license? Search all 24 licensing boards at once.</p>
${lookupForm(fields)}
<p>Twenty names or more? <a href="/roster">Check a whole list</a>. Writing a program? <a href="/developers">Use the REST API</a>.</p>`;
}

function resultOf({ outcome, date, isSampleData }: DatedOutcome, fields: SearchFields, today: string): Html {
  const origin = { date, isSampleData };
  const show = (records: readonly LicenseRecord[], summary: Html) =>
    html`${summary}${resultTables(records, origin, today)}`;
  switch (outcome.outcome) {
    case 'found':
      return show(
        [outcome.record],
        html`<p>One license fits ${searchedFor(fields)}. Compare the whole name, the place and the type before you take it for the one you mean.</p>`,
      );
    case 'several':
      return show(
        outcome.records,
        outcome.truncated
          ? html`<p>More than ${MAX_MATCHES} licenses fit ${searchedFor(fields)}. These are the first ${MAX_MATCHES}, exact names first. Choose a board, or fill in more fields.</p>`
          : html`<p>${counted(outcome.records.length, 'license')} fit ${searchedFor(fields)}, exact names first.</p>`,
      );
    default:
      return miss(outcome, fields, date);
  }
}

/** What was typed, in words. */
function searchedFor(fields: SearchFields): Html {
  const typed =
    modeOf(fields) === 'number'
      ? fields.number
      : modeOf(fields) === 'business'
        ? fields.business_name
        : [fields.first_name, fields.last_name].filter((part) => part !== undefined).join(' ');
  return html`<strong>${typed ?? ''}</strong>`;
}
