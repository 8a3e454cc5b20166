import { type Command, Option } from 'commander';
import { z } from 'zod';
import { localServiceUrl } from '../config.ts';

const REQUEST_TIMEOUT_MS = 30_000;

/** What commands that ask a running service have in common. */
export interface ServiceOptions {
  readonly url?: string;
  readonly key?: string;
}

/** Adds the service and its key. */
export function withServiceOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--url <url>', 'the service (default: the one that runs on this machine)').env(
        'LICENSES_URL',
      ),
    )
    .addOption(
      new Option('--key <key>', 'the API key; lists of processes show it, unlike the variable').env(
        'LICENSES_KEY',
      ),
    );
}

/** A running service, for requests with a key or without. */
export interface Service {
  readonly url: string;
  readonly key: string | undefined;
  /** Ends the request under way. */
  readonly signal: AbortSignal | undefined;
  /** Whether it has answered anything yet. Before, what can't be reached is taken for a mistake. */
  hasAnswered: boolean;
}

/** @throws {Error} when the URL can't be used, or a key is needed and missing */
export function openService(
  { url = localServiceUrl(), key }: ServiceOptions,
  { needsKey = false, signal }: { readonly needsKey?: boolean; readonly signal?: AbortSignal } = {},
): Service {
  if (needsKey && !key) throw new Error('Give the API key: set LICENSES_KEY, or send --key.');
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new Error(`LICENSES_URL or --url is ${JSON.stringify(url)}, but must be an http or https address.`);
  const address = url.replace(/(?<!\/)\/+$/, '');
  return { url: address, key: needsKey ? key : undefined, signal, hasAnswered: false };
}

/** The service can't be reached or refuses the request. The message says what to do. */
export class ServiceError extends Error {
  /** `undefined` when it could not be reached. */
  readonly status: number | undefined;
  /** Whether the same request may be answered later. */
  readonly isTransient: boolean;
  /** How long it asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    about: Partial<Pick<ServiceError, 'status' | 'isTransient' | 'retryAfterMs'>> = {},
  ) {
    super(message);
    this.status = about.status;
    this.isTransient = about.isTransient ?? false;
    this.retryAfterMs = about.retryAfterMs;
  }
}

/** A request to a service: unless a method is given, GET without a body, else POST. */
export interface ServiceRequest {
  readonly path: string;
  readonly method?: 'DELETE';
  readonly contentType?: string;
  readonly accept?: string;
  readonly body?: string;
}

/**
 * Sends one request. Redirects are not followed: the key must not go elsewhere.
 *
 * @returns the body of a 2xx answer
 * @throws {ServiceError} when the service can't be reached, or answers anything else
 * @throws the signal's reason when it is aborted
 */
export async function ask(
  service: Service,
  { path, method, contentType, accept, body }: ServiceRequest,
): Promise<string> {
  const { url, key, signal } = service;
  const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  let answer: { response: Response; text: string };
  try {
    const response = await fetch(url + path, {
      ...(body !== undefined && { method: 'POST', body }),
      ...(method && { method }),
      headers: {
        ...(contentType && { 'content-type': contentType }),
        ...(accept && { accept }),
        ...(key && { 'x-api-key': key }),
      },
      redirect: 'manual',
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    answer = { response, text: await response.text() };
  } catch (error) {
    signal?.throwIfAborted();
    throw unreachable(service, error);
  }
  service.hasAnswered = true;
  const { response, text } = answer;
  if (response.ok) return text;
  throw refused(response, text);
}

const networkError = z.object({ cause: z.object({ code: z.string().optional(), message: z.string() }) });

/** What a mistyped address ends in, or a service that was never started. */
const NOBODY_THERE: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

function unreachable({ url, hasAnswered }: Service, error: unknown): ServiceError {
  const { code = '', message } = networkError.safeParse(error).data?.cause ?? { message: String(error) };
  const isTimeout = error instanceof Error && error.name === 'TimeoutError';
  if (code === 'ENOTFOUND')
    return new ServiceError(`There is no host "${new URL(url).hostname}". Is LICENSES_URL or --url right?`);
  if (/CERT|SSL|TLS/.test(code))
    return new ServiceError(
      `The certificate of ${url} is not trusted: ${message}. Set NODE_EXTRA_CA_CERTS to the PEM file of its authority.`,
    );
  if (NOBODY_THERE.has(code) && !hasAnswered)
    return new ServiceError(
      `Nothing answers at ${url}. Is the service running, and is LICENSES_URL or --url right?`,
    );
  return new ServiceError(`The service at ${url} can't be reached (${message}).`, {
    // A request with neither cannot be sent, as one to a port that no browser would use.
    isTransient: isTimeout || code !== '',
  });
}

const errorBody = z.object({ detail: z.string() });

function refused({ status, headers }: Response, text: string): ServiceError {
  const detail = detailOf(text) ?? `The service answered with ${status}.`;
  const location = headers.get('location');
  if (status === 401)
    return new ServiceError(
      `${detail}. Check LICENSES_KEY or --key: the operator's "licenses keys list" shows its last four characters.`,
      { status },
    );
  if (status === 404) return new ServiceError(`${detail} Is LICENSES_URL or --url right?`, { status });
  if (status < 400 && location !== null)
    return new ServiceError(
      `The address redirects to ${location}. Set LICENSES_URL or --url to where the service is.`,
      { status },
    );
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return new ServiceError(detail, {
    status,
    isTransient: status === 429 || status >= 500,
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : undefined,
  });
}

function detailOf(text: string): string | undefined {
  try {
    return errorBody.parse(JSON.parse(text)).detail;
  } catch {
    return undefined;
  }
}

/** Reads an answer. @throws {Error} where it is not one of this service */
export function answerAs<Answer>(shape: z.ZodType<Answer>, text: string): Answer {
  try {
    return shape.parse(JSON.parse(text));
  } catch {
    throw new Error('The answer is not one of this service. Is LICENSES_URL or --url right?');
  }
}
