import type Koa from 'koa';
import type { Outcome } from '../telemetry/outcome.ts';

/** What is known of a request while it is answered. */
export interface RequestState {
  /** The client's X-Request-Id if it is valid, else a new one. */
  requestId: string;
  /** When the request arrived, in the milliseconds of `performance.now()`. */
  arrivedAt: number;
  /** The id of the active API key that came with it. */
  keyId?: string;
  /** Milliseconds from its arrival until its key was checked. */
  keyCheckedMs?: number;
  /** The template of its route, such as `/licenses/:board/:number`, where the path says what was searched. */
  route?: string;
  /** How the request ended, if its status code does not say it. */
  outcome?: Outcome;
}

export type Context = Koa.ParameterizedContext<RequestState>;

export type Middleware = Koa.Middleware<RequestState>;
