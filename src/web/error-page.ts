import { type Context, logFailure, type Middleware } from '../http/app.ts';
import { type ErrorResponse, errorResponse } from '../http/errors.ts';
import type { routerOf } from '../http/guard.ts';
import { NothingPublishedError } from '../publications/live.ts';
import { alert, type Html, html, type PageServices } from './page.ts';
import { readSearch, searchForm } from './search-form.ts';
import { counted } from './words.ts';

type Router = ReturnType<typeof routerOf>;

const SEARCH = '/';

const LOOK_UP = html`<p><a class="button" href="/">Look up a license</a></p>`;

/**
 * Answers errors with a page if the request was for a page. Also logs the route instead of the path, because the path
 * shows what was searched.
 */
export function errorsAsPages(pages: Router, files: Router, { sendPage }: PageServices): Middleware {
  return async (ctx, next) => {
    const route = routeAt(pages, ctx);
    const isFile = route === undefined && routeAt(files, ctx) !== undefined;
    if (!isFile) ctx.state.path = route ?? '(none)';
    try {
      await next();
    } catch (error) {
      const response = errorResponse(error);
      const { status, retryAfter } = response;
      // Programs get errors as JSON. The Accept header may be long: parse it only after the request has been counted.
      const isPage =
        route !== undefined || (!isFile && status !== 429 && ctx.accepts('json', 'html') === 'html');
      if (!isPage) throw error;
      const [title, text] = errorText(error, response);
      // The form keeps what was typed, so that the visitor can send it again.
      const next = route === SEARCH ? searchForm(readSearch(ctx.query).fields) : LOOK_UP;
      const body = html`${text}${next}`;
      await sendPage(ctx, { title, body, hasSearch: route === SEARCH });
      ctx.status = status;
      if (retryAfter !== undefined) ctx.set('retry-after', String(retryAfter));
      if (status >= 500) logFailure(ctx, error);
    }
  };
}

function routeAt(router: Router, ctx: Context): string | undefined {
  const [matched] = router.match(ctx.path, ctx.method).path;
  return matched === undefined ? undefined : String(matched.path);
}

const UNPUBLISHED = html`<p>The first dataset has not been published yet. Try again later.</p>`;
const NO_SUCH_PAGE = html`<p>The address may be mistyped. Licenses are found by number, by name or by business.</p>`;
const SAVED_ENOUGH = html`<p>Your network has reached the daily limit of saved checks. Lookups still work: print the page, or download the file.</p>`;

/** The title and the text of an error page: what happened and what to do. */
function errorText(error: unknown, { status, detail, retryAfter }: ErrorResponse): readonly [string, Html] {
  if (error instanceof NothingPublishedError) return ['Nothing is published yet', UNPUBLISHED];
  switch (status) {
    case 404:
      return ['There is no such page', NO_SUCH_PAGE];
    case 429:
      // Only the daily limit of saved checks can ask for a wait of more than a minute.
      if (retryAfter !== undefined && retryAfter > 60) return ['No more can be saved today', SAVED_ENOUGH];
      return ['Too many requests', tooManyRequests(counted(retryAfter ?? 60, 'second'))];
    case 503:
      return ['Not available right now', notAvailable(counted(retryAfter ?? 5, 'second'))];
    case 500:
      return ['Something went wrong', html`<p>${detail}</p>`];
    default:
      return ['This cannot be answered', alert('bad', html`${detail}`)];
  }
}

function tooManyRequests(wait: string): Html {
  return html`<p>Your network has sent too many requests. Wait ${wait}, then try again. For many licenses, <a href="/roster">check a whole list</a> or <a href="/developers">use the REST API</a>.</p>`;
}

function notAvailable(wait: string): Html {
  return html`<p>Licenses cannot be looked up at the moment. This is not because of what you typed. Try again in ${wait}. If it is urgent, ask the issuing board.</p>`;
}
