import type { Context } from '../http/context.ts';

/** A form was sent from a page of another website, or by something that does not say where it is from. */
export class OtherOriginError extends Error {}

/**
 * Lets only forms of this website's own pages pass: browsers name the origin of a form that is posted.
 *
 * @throws {OtherOriginError}
 */
export function requireSameOrigin({ req, host }: Context): void {
  const { origin } = req.headers;
  if (origin === undefined || !URL.canParse(origin) || new URL(origin).host !== host)
    throw new OtherOriginError();
}
