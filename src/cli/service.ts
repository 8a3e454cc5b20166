import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { localServiceUrl } from '../config.ts';
import { parsedAs } from '../storage/parsed-as.ts';
import { interruption } from './interruption.ts';
import type { Options } from './options.ts';
import { showProgress, UNTRUSTED } from './output.ts';

const REQUEST_TIMEOUT_MS = 30_000;

/** How long to wait before the next try, unless the service says so. */
const NEXT_TRY_MS = 2000;

/** An outage that takes longer ends the command. */
const MAX_OUTAGE_MS = 10 * 60_000;

/** The parts of a request besides its path. */
type Sent = Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> };

/** A running service. */
export type Service = ReturnType<typeof openService>;

/** The service can't be reached, or refuses the request. The message says what to do. */
export class ServiceError extends Error {
  /** `undefined` when it could not be reached. */
  status: number | undefined;
  /** The time after which another try may succeed; `undefined` if none can. */
  retryAfterMs: number | undefined;
}

/**
 * A client of a running service. Redirects are not followed: the key must not go elsewhere.
 *
 * @param isPatient for a command that sends many requests: after a 429, a 5xx or a lost connection, the client waits and
 * tries again, for ten minutes; Ctrl-C ends this. If there was no answer yet, an unreachable service counts as a
 * mistake in the command, and there is no second try.
 * @throws {Error} when the URL can't be used
 */
export function openService({ url = localServiceUrl(), key }: Options, isPatient = false) {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new Error(`The service is at an http or https address, not at ${JSON.stringify(url)}.`);
  const address = url.replace(/(?<!\/)\/+$/, '');
  const signal = isPatient ? interruption().signal : undefined;
  let hasAnswered = false;

  /** One try: the body of a 2xx answer, or why there is none. */
  async function once(path: string, sent: Sent): Promise<string | ServiceError> {
    const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    try {
      const response = await fetch(address + path, {
        ...sent,
        headers: { ...sent.headers, ...(key && { 'x-api-key': key }) },
        redirect: 'manual',
        signal: AbortSignal.any([timeout, signal ?? timeout]),
      });
      const text = await response.text();
      hasAnswered = true;
      return response.ok ? text : refused(response, text);
    } catch (error) {
      signal?.throwIfAborted();
      return unreachable(address, error, hasAnswered);
    }
  }

  /**
   * @returns the body of a 2xx answer
   * @throws {ServiceError} when the service can't be reached, or answers anything else
   * @throws {Error} when the command is interrupted
   */
  async function text(path: string, sent: Sent = {}): Promise<string> {
    const deadline = Date.now() + MAX_OUTAGE_MS;
    for (;;) {
      const answer = await once(path, sent);
      if (typeof answer === 'string') return answer;
      const leftMs = deadline - Date.now();
      const { retryAfterMs: waitMs } = answer;
      if (!isPatient || waitMs === undefined || leftMs <= 0) throw answer;
      const [seconds, minutes] = [Math.ceil(waitMs / 1000), Math.ceil(leftMs / 60_000)];
      const next = `Next try in ${seconds} s, for ${minutes} more minutes.`;
      showProgress(`waiting: ${answer.message} ${next}`, next, process.stderr);
      // An interrupted wait is reported by the next try.
      await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Sends JSON, if there is a body, and reads JSON. @throws as `text`, and {Error} for the answer of another server */
  async function json<Answer>(shape: z.ZodType<Answer>, path: string, body?: object): Promise<Answer> {
    const headers = { 'content-type': 'application/json' };
    const sent = body && { method: 'POST', body: JSON.stringify(body), headers };
    const answer = parsedAs(shape, await text(path, sent));
    if (answer === undefined) throw new Error(OTHER_SERVICE);
    return answer;
  }

  return { url: address, text, json };
}

export const OTHER_SERVICE = 'The answer is not one of this service. Is its address right?';

const networkError = z.object({ cause: z.object({ code: z.string().default(''), message: z.string() }) });

function unreachable(address: string, error: unknown, hasAnswered: boolean): ServiceError {
  const { code, message } = networkError.safeParse(error).data?.cause ?? { code: '', message: String(error) };
  const advice = /CERT|SSL|TLS/.test(code) ? UNTRUSTED : 'Does it run, and is the address right?';
  const words = `The service at ${address} can't be reached (${message || code}). ${advice}`;
  return Object.assign(new ServiceError(words), hasAnswered && { retryAfterMs: NEXT_TRY_MS });
}

const ADVICE: ReadonlyMap<number, string> = new Map([
  [401, '. Set LICENSES_KEY, or send --key; "licenses keys list" shows operators its last characters.'],
  [404, ' Is the address of the service right?'],
]);

function refused({ status, headers }: Response, text: string): ServiceError {
  const detail = parsedAs(z.object({ detail: z.string() }), text)?.detail;
  const location = headers.get('location');
  const elsewhere = location === null ? '' : ` Is the service at ${location}?`;
  const words = detail ?? `The service answered with ${status}.${elsewhere}`;
  const waitMs = 1000 * Number(headers.get('retry-after')) || NEXT_TRY_MS;
  const retryAfterMs = status === 429 || status >= 500 ? waitMs : undefined;
  return Object.assign(new ServiceError(words + (ADVICE.get(status) ?? '')), { status, retryAfterMs });
}

/** An earlier service sends fewer fields. A later one may send more, and cautions that this version does not know. */
const record = z.looseObject({
  license_number: z.string(),
  board: z.string(),
  cautions: z.array(z.string()),
  notes: z.array(z.string()).default([]),
});

export type AnsweredRecord = z.output<typeof record>;

const result = z.object({
  outcome: z.string(),
  record: record.optional(),
  matches: z.array(record).default([]),
  detail: z.string().default(''),
  did_you_mean: z.array(z.string()).optional(),
});

/** The answer to an item of a list. */
export type Result = z.output<typeof result>;

/** The answer to a list. */
export const batchAnswer = z.object({ last_scraped: z.string(), results: z.tuple([result], result) });
