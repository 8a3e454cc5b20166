import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { localServiceUrl } from '../config.ts';

const REQUEST_TIMEOUT_MS = 30_000;

const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 60_000;

/** An outage that takes longer ends the command. */
const MAX_OUTAGE_MS = 10 * 60_000;

/** What commands that ask a running service have in common. */
export interface ServiceOptions {
  readonly url?: string;
  readonly key?: string;
}

/** How a command waits for a service that is busy or away. */
export interface Waiting {
  /** Ends the request under way, and the waiting. */
  readonly signal: AbortSignal;
  /** Called before each wait, with its reason. */
  readonly onWait: (reason: string) => void;
}

/** A request: POST where it has a body, CSV or an object that is sent as JSON, else GET. */
export interface ServiceRequest {
  readonly path: string;
  readonly method?: 'DELETE';
  readonly accept?: string;
  readonly body?: string | object;
}

/** A running service. */
export type Service = ReturnType<typeof openService>;

/** The service can't be reached or refuses the request. The message says what to do. */
export class ServiceError extends Error {
  /** `undefined` when it could not be reached. */
  status: number | undefined;
  /** Whether the same request may be answered later. */
  isTransient = false;
  /** How long it asks to wait, in milliseconds. */
  retryAfterMs: number | undefined;
}

interface ServiceNeeds {
  readonly needsKey?: boolean;
  readonly waiting?: Waiting;
  /** What the address comes from, for messages. */
  readonly setting?: string;
}

const URL_SETTING = 'LICENSES_URL or --url';

/**
 * A client of a running service. Redirects are not followed: the key must not go elsewhere.
 *
 * @param waiting for a command that asks often: it waits as long as a 429 or 503 says, and tries again after a lost
 * connection, for ten minutes. Before the first answer, what can't be reached is taken for a mistake.
 * @throws {Error} when the URL can't be used, or a key is needed and missing
 */
export function openService(
  { url = localServiceUrl(), key }: ServiceOptions,
  { needsKey = false, waiting, setting = URL_SETTING }: ServiceNeeds = {},
) {
  if (needsKey && !key) throw new Error('Give the API key: set LICENSES_KEY, or send --key.');
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new Error(`${setting} is ${JSON.stringify(url)}, but must be an http or https address.`);
  const address = url.replace(/(?<!\/)\/+$/, '');
  let hasAnswered = false;

  async function once({ path, method, accept = '*/*', body }: ServiceRequest): Promise<string> {
    const isCsv = typeof body === 'string';
    const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const answer = await fetch(address + path, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      ...(body !== undefined && { body: isCsv ? body : JSON.stringify(body) }),
      headers: {
        accept,
        'content-type': isCsv ? 'text/csv' : 'application/json',
        ...(needsKey && key && { 'x-api-key': key }),
      },
      redirect: 'manual',
      signal: AbortSignal.any([timeout, waiting?.signal ?? timeout]),
    })
      .then(async (response) => ({ response, text: await response.text() }))
      .catch((error: unknown) => {
        waiting?.signal.throwIfAborted();
        throw unreachable(address, error, hasAnswered, setting);
      });
    hasAnswered = true;
    if (answer.response.ok) return answer.text;
    throw refused(answer.response, answer.text, setting);
  }

  /**
   * @returns the body of a 2xx answer
   * @throws {ServiceError} when the service can't be reached, or answers anything else
   * @throws the signal's reason when it is aborted
   */
  async function text(request: ServiceRequest): Promise<string> {
    const deadline = Date.now() + MAX_OUTAGE_MS;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await once(request);
      } catch (error) {
        const leftMs = deadline - Date.now();
        if (!(error instanceof ServiceError && error.isTransient && waiting && leftMs > 0)) throw error;
        const waitMs = error.retryAfterMs ?? Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt);
        const [seconds, minutes] = [Math.ceil(waitMs / 1000), Math.ceil(leftMs / 60_000)];
        waiting.onWait(`${error.message} Next try in ${seconds} s, for ${minutes} more minutes.`);
        await sleep(waitMs, undefined, { signal: waiting.signal });
      }
    }
  }

  /** Reads an answer, as `text` does. @throws {Error} where it is not one of this service */
  async function json<Answer>(shape: z.ZodType<Answer>, request: ServiceRequest): Promise<Answer> {
    const { data, success } = shape.safeParse(parsed(await text(request)));
    if (!success) throw new Error(otherService(setting));
    return data;
  }

  return { url: address, text, json };
}

export function otherService(setting = URL_SETTING): string {
  return `The answer is not one of this service. Is ${setting} right?`;
}

const networkError = z.object({ cause: z.object({ code: z.string().default(''), message: z.string() }) });

function unreachable(url: string, error: unknown, isTransient: boolean, setting: string): ServiceError {
  const { code, message } = networkError.safeParse(error).data?.cause ?? { code: '', message: String(error) };
  const advice = /CERT|SSL|TLS/.test(code)
    ? ' Set NODE_EXTRA_CA_CERTS to the PEM file of its authority.'
    : ` Does the service run, and is ${setting} right?`;
  const words = `The service at ${url} can't be reached (${message || code}).${isTransient ? '' : advice}`;
  return Object.assign(new ServiceError(words), { isTransient });
}

const KEY_ADVICE =
  '. Check LICENSES_KEY or --key: the operator\'s "licenses keys list" shows its last four characters.';

function refused({ status, headers }: Response, text: string, setting: string): ServiceError {
  const { data } = z.object({ detail: z.string() }).safeParse(parsed(text));
  const location = headers.get('location');
  const advice = status === 401 ? KEY_ADVICE : status === 404 ? ` Is ${setting} right?` : '';
  const words = `${data?.detail ?? `The service answered with ${status}.`}${advice}`;
  const elsewhere = `The address redirects to ${location}. Set ${setting} to where the service is.`;
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Object.assign(new ServiceError(status < 400 && location !== null ? elsewhere : words), {
    status,
    isTransient: status === 429 || status >= 500,
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : undefined,
  });
}

/** What JSON says; `undefined` for a text that is none. */
export function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
