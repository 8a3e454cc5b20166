import type { Context } from '../http/context.ts';
import { errorResponse } from '../http/errors.ts';
import { NothingPublishedError } from '../publications/live.ts';
import { alert, type Html, html, NOTHING, type Origin, type PageWriter } from './page.ts';
import { OtherOriginError } from './same-origin.ts';
import { counted } from './words.ts';

/** Shows an error to a person: what happened and what to do. */
export type ErrorPage = (ctx: Context, error: unknown) => Promise<void>;

interface ErrorText {
  readonly title: string;
  readonly text: Html;
}

const LOOK_UP = html`<p><a class="usa-button" href="/">Look up a license</a></p>`;

/** @param origin the publication that answers now, as last known */
export function errorPage(page: PageWriter, origin: () => Origin | undefined): ErrorPage {
  return async (ctx, error) => {
    const { status, detail, retryAfter } = errorOf(error);
    const { title, text } = errorText(status, detail, retryAfter, error);
    await page.send(ctx, { title, origin: origin(), body: html`${text}${LOOK_UP}`, isPrivate: true });
    ctx.status = status;
    if (retryAfter !== undefined) ctx.set('retry-after', String(retryAfter));
  };
}

function errorOf(error: unknown) {
  return error instanceof OtherOriginError
    ? {
        status: 403,
        detail: 'This form was not sent from a page of this website. Go to the page and send it there.',
      }
    : errorResponse(error);
}

function errorText(
  status: number,
  detail: string,
  retryAfter: number | undefined,
  error: unknown,
): ErrorText {
  if (error instanceof NothingPublishedError) {
    return {
      title: 'Nothing is published yet',
      text: html`<p>The first dataset is still on its way. Try again in a few minutes.</p>`,
    };
  }
  switch (status) {
    case 404:
      return {
        title: 'There is no such page',
        text: html`<p>The address may be mistyped. Licenses are found by number, by name or by business.</p>`,
      };
    case 429:
      return {
        title: 'Too many requests',
        text: html`<p>Your address has sent more requests than this website allows. Wait ${counted(retryAfter ?? 60, 'second')}, then try again. For many licenses, <a href="/roster">check a whole list</a> or <a href="/developers">use the REST API</a>.</p>`,
      };
    case 503:
      return {
        title: 'Not available right now',
        text: html`<p>Licenses can not be looked up at the moment. Nothing is wrong with what you typed. Try again in ${counted(retryAfter ?? 5, 'second')}. If it is urgent, ask the issuing board.</p>`,
      };
    case 500:
      return { title: 'Something went wrong', text: html`<p>${detail}</p>` };
    default:
      return { title: 'This can not be answered', text: html`${alert('error', html`${detail}`)}${NOTHING}` };
  }
}
