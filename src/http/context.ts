import type Koa from 'koa';
import type { Outcome } from '../telemetry/outcome.ts';

/** What is known of a request while it is answered. */
export interface RequestState {
  /** The client's X-Request-Id if it is valid, else a new one. */
  requestId: string;
  /** The path, for the log. */
  path: string;
  /** What is done once the response has ended. An error in it is logged, and ends nothing else. */
  onClose: (() => void)[];
  /** When the request arrived, in the milliseconds of `performance.now()`. */
  arrivedAt: number;
  /** The id of the active API key that came with it. */
  keyId?: string;
  /** Milliseconds from its arrival until its key was checked. */
  keyCheckedMs?: number;
  /** The template of its route, such as `/licenses/:board/:number`, where the path says what was searched. */
  route?: string;
  /** Whether the response is a file that is in memory once for all. */
  isFile?: boolean;
  /** How the request ended, if its status code does not say it. */
  outcome?: Outcome;
}

export type Context = Koa.ParameterizedContext<RequestState>;

export type Middleware = Koa.Middleware<RequestState>;

/** Does this once the response has ended; at once where the client has left already. */
export function whenClosed(ctx: Context, work: () => void): void {
  if (ctx.res.closed) work();
  else ctx.state.onClose.push(work);
}
