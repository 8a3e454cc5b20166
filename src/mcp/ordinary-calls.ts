import type { IncomingHttpHeaders } from 'node:http';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isJsonContentType,
  isSpecType,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  RELATED_TASK_META_KEY,
  SERVER_INFO_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type CallTool, SERVER } from './tools.ts';

/** The revision of the protocol without sessions. The SDK supports exactly one such revision. */
const REVISION = '2026-07-28';

/** A tool call that uses no feature of the SDK. */
const ordinaryCall = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.int()]),
  method: z.literal('tools/call'),
  params: z.strictObject({
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()).optional(),
    _meta: z
      .looseObject({
        progressToken: z.union([z.string(), z.int()]).optional(),
        [RELATED_TASK_META_KEY]: z.undefined().optional(),
      })
      .optional(),
  }),
});

/**
 * Answers ordinary tool calls exactly as the SDK would. The SDK creates a server, a transport, a web request and a web
 * response for each call, which takes more CPU than the lookup (docs/decisions/012).
 *
 * @returns `undefined` for any other message, which the SDK must answer
 */
export async function answerOrdinary(
  callTool: CallTool,
  headers: IncomingHttpHeaders,
  message: unknown,
  clientGone: () => AbortSignal,
) {
  const call = ordinaryCall.safeParse(message).data;
  const era = call && eraOf(headers, call);
  if (call === undefined || era === undefined) return undefined;
  const { name, arguments: given = {} } = call.params;
  const result = await callTool(name, given, clientGone);
  if (result === undefined) return undefined;
  const { content, structuredContent, ...others } = result;
  const members = [
    `"content":${JSON.stringify(content)}`,
    // The text already is the structured content as JSON, so that is not serialized a second time.
    structuredContent && `"structuredContent":${content[0].text}`,
    JSON.stringify({ ...others, ...ADDED[era] }).slice(1, -1),
  ];
  return `{"result":{${members.filter(Boolean).join(',')}},"jsonrpc":"2.0","id":${JSON.stringify(call.id)}}`;
}

/** The fields that the SDK adds to a result for clients of each era. */
const ADDED = { legacy: {}, modern: { resultType: 'complete', _meta: { [SERVER_INFO_META_KEY]: SERVER } } };

/** The protocol era of a tool call, if the SDK's transports would accept its headers; `undefined` if they may not. */
function eraOf(
  headers: IncomingHttpHeaders,
  call: z.output<typeof ordinaryCall>,
): keyof typeof ADDED | undefined {
  if (!isJsonContentType(headers['content-type'])) return undefined;
  const { 'mcp-protocol-version': version, 'mcp-method': method, 'mcp-name': name } = headers;
  if (version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(String(version))) {
    const hasModernHeader = method !== undefined || name !== undefined;
    const hasModernMeta = Object.keys(call.params._meta ?? {}).some((key) => key !== 'progressToken');
    return hasModernHeader || hasModernMeta ? undefined : 'legacy';
  }
  const hasHeaders = version === REVISION && method === call.method && name === call.params.name;
  return hasHeaders && isEnvelope(call.params._meta ?? {}) ? 'modern' : undefined;
}

/** Whether the SDK would accept this as the envelope of a 2026-07-28 call. The SDK's own classifier takes 6 µs. */
function isEnvelope(meta: Readonly<Record<string, unknown>>): boolean {
  const { [CLIENT_INFO_META_KEY]: client, [LOG_LEVEL_META_KEY]: logLevel } = meta;
  return (
    meta[PROTOCOL_VERSION_META_KEY] === REVISION &&
    isSpecType.ClientCapabilities(meta[CLIENT_CAPABILITIES_META_KEY]) &&
    (client === undefined || isSpecType.Implementation(client)) &&
    (logLevel === undefined || isSpecType.LoggingLevel(logLevel))
  );
}
