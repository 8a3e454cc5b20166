import { z } from 'zod';

/** The SDK's code for a Host or Origin that is not allowed. */
const NOT_ALLOWED = -32000;

const errorMessage = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number(), z.null()]),
  error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }),
});

const requestId = z.union([z.string(), z.number()]);

const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;

/**
 * Removes the text of unexpected errors from a response. The SDK puts such text into the error's data as a string, and
 * the list of a schema's errors into the error's message. That list has several lines; messages for clients have one.
 */
export function withoutInternalErrors(text: string): string {
  if (!text.includes('"error":{"code":')) return text;
  const read = errorMessage.safeParse(parseJson(text));
  if (!read.success) return text;
  const { error, ...envelope } = read.data;
  const isSchemaError = error.message.includes('\n');
  if (!isSchemaError && typeof error.data !== 'string') return text;
  const code = isSchemaError && error.code === INTERNAL_ERROR ? INVALID_PARAMS : error.code;
  const message = isSchemaError ? 'Invalid params: they do not fit the method.' : error.message;
  return JSON.stringify({ ...envelope, error: { code, message } });
}

/** The error for a message that the SDK accepts but this server does not support. */
export function unsupportedMessage(message: unknown): Response | undefined {
  // The protocol dropped batches in 2025-06-18. A batch would count as one request however many calls it has, and a
  // call that is canceled by the same batch would never get a response.
  if (Array.isArray(message)) {
    return errorResponse(400, null, INVALID_REQUEST, 'Batches are not taken: send each request by itself.');
  }
  if (!isObject(message) || message.method !== 'subscriptions/listen') return undefined;
  const id = requestId.safeParse(message.id).data ?? null;
  return errorResponse(404, id, METHOD_NOT_FOUND, 'Method not found: there are no subscriptions.');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function errorResponse(status: number, id: string | number | null, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id, error: { code, message } }, { status });
}

/** The response to a Host or Origin that is not allowed. */
export function forbidden(message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code: NOT_ALLOWED, message }, id: null }, { status: 403 });
}

/** The response to any method but POST. */
export function methodNotAllowed(): Response {
  return Response.json(
    { detail: 'This is an MCP endpoint (Streamable HTTP, stateless): it takes POST only.' },
    { status: 405, headers: { Allow: 'POST' } },
  );
}

/** The parsed JSON; `undefined` for malformed JSON. */
export function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
