import { readFileSync } from 'node:fs';
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type TextContent,
} from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import { z } from 'zod';
import { statusOutcome } from '../access/usage.ts';
import { viewOf } from '../answers/view.ts';
import { REQUEST_WORDS } from '../answers/words.ts';
import { boardActivity } from '../changes/board-activity.ts';
import type { Changes } from '../changes/service.ts';
import { SERVICE_VERSION } from '../config.ts';
import { errorResponse } from '../http/errors.ts';
import { BOARDS } from '../licenses/boards.ts';
import { FILTER_NAMES } from '../licenses/filters.ts';
import { type LookupFields, lookupRequest, MAX_MATCHES } from '../licenses/lookup.ts';
import type { Lookups } from '../lookup/service.ts';
import type { Rosters } from '../rosters/service.ts';
import { toolCalls } from '../telemetry/metrics.ts';
import { stackOf } from '../telemetry/process.ts';
import { DESCRIPTIONS, INSTRUCTIONS } from './descriptions.ts';
import { historyForModel, historyResult } from './license-history.ts';
import {
  businessParameters,
  historyParameters,
  joined,
  numberParameters,
  objectSchema,
  type Parameters,
  personParameters,
  readParameters,
  rosterParameters,
} from './parameters.ts';
import {
  lookupResult,
  lookupToolResult,
  messageOf,
  originOf,
  resultOrigin,
  type ToolResult,
} from './results.ts';
import { rosterResult, verifyRoster } from './roster.ts';

/** The services that the tools use. */
export interface ToolServices {
  readonly lookups: Lookups;
  readonly rosters: Rosters;
  readonly changes: Changes;
}

/** @throws {BadRequestError} whose message says what to send instead */
type Answer<Values> = (
  services: ToolServices,
  values: Values,
  clientGone: () => AbortSignal,
) => Promise<ToolResult>;

type ToolName = keyof typeof DESCRIPTIONS;

/** No tool changes anything, so a repeated call has the same result. */
const HINTS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

function tool<Values>(
  name: ToolName,
  title: string,
  parameters: Parameters<Values>,
  result: z.ZodType,
  answer: Answer<Values>,
) {
  const call: Answer<Readonly<Record<string, unknown>>> = async (services, given, clientGone) => {
    const { values, note } = readParameters(parameters, given);
    const { outcome, content } = await answer(services, values, clientGone);
    return { outcome, content: { ...content, message: joined(note, content.message) } };
  };
  return {
    name,
    call,
    /** The entry in the list of tools. */
    listed: {
      ...{ name, title, description: DESCRIPTIONS[name] },
      inputSchema: objectSchema(parameters, 'input'),
      outputSchema: objectSchema(result, 'output'),
      annotations: { title, ...HINTS },
    },
  };
}

const board = z.object({
  name: z.string(),
  code: z.string(),
  /** Each license type, with the number of a license of this type as an example. */
  license_types: z.record(z.string(), z.string().nullable()),
});
const boardsResult = z.object({
  ...resultOrigin,
  boards: z.array(board),
  board_activity: z.record(z.string(), boardActivity),
});

const TOOLS = [
  lookupTool('verify_license', 'Verify a license by its number', numberParameters),
  lookupTool('search_licenses_by_name', 'Search licenses by the holder’s name', personParameters),
  lookupTool('verify_business_license', 'Verify a business license', businessParameters, 'business'),
  tool('verify_roster', 'Verify a list of licenses', rosterParameters, rosterResult, verifyRoster),
  tool('license_history', 'What changed in a license', historyParameters, historyResult, historyForModel),
  tool('list_ohio_boards', 'List the boards', z.object({}), boardsResult, listBoards),
];

/** Clients may cache these results for an hour, because only a new release of the service changes them. */
const CACHED_FOR_AN_HOUR = { ttlMs: 3_600_000, cacheScope: 'public' } as const;
const CACHEABLE = ['tools/list', 'server/discover', 'resources/list', 'resources/read'];

export const SERVER = {
  name: 'ohio-license-verification',
  title: 'Ohio License Verification',
  version: SERVICE_VERSION,
};

const byName = new Map<string, (typeof TOOLS)[number]>(TOOLS.map((each) => [each.name, each]));

// Monitoring sees an increase only in a series that already existed, so start the series at 0.
for (const name of byName.keys())
  for (const outcome of ['unavailable', 'failed']) toolCalls.inc({ tool: name, outcome }, 0);

const GUIDE = readFileSync(new URL('../../docs/assistants.md', import.meta.url), 'utf8');

/** The guide, which hosts give to models as a skill. Its own first lines contain its name and description. */
const GUIDE_RESOURCE = {
  uri: 'skill://verify-ohio-license/SKILL.md',
  name: /^name: (.+)$/m.exec(GUIDE)?.[1] ?? '',
  description: /^description: (.+)$/m.exec(GUIDE)?.[1] ?? '',
  mimeType: 'text/markdown',
};

export type CallTool = ReturnType<typeof toolCaller>;

/**
 * Calls tools. A result has structured content and the same as text. An error has only text, with a safe message:
 * clients validate structured content against the output schema and would report a mismatch instead of the error.
 *
 * @returns the result, or `undefined` if no tool has the name. The signal stops the work when the client is gone
 */
export function toolCaller(services: ToolServices, log: Logger) {
  return async (name: string, given: Readonly<Record<string, unknown>>, clientGone: () => AbortSignal) => {
    const called = byName.get(name);
    if (called === undefined) return undefined;
    try {
      const { outcome, content } = await called.call(services, given, clientGone);
      toolCalls.inc({ tool: name, outcome });
      return { content: textOf(content), structuredContent: content };
    } catch (error) {
      const { status, detail } = errorResponse(error);
      toolCalls.inc({ tool: name, outcome: statusOutcome(status) });
      if (status >= 500) log.error({ error: stackOf(error) }, 'tool failed');
      return { content: textOf({ error: detail, ...(await dataOf(services.lookups)) }), isError: true };
    }
  };
}

const textOf = (content: object): [TextContent] => [{ type: 'text', text: JSON.stringify(content) }];

/** The date and the age of the live publication; null if there is none or it cannot be read. */
async function dataOf(lookups: Lookups) {
  return lookups.livePublication().then(originOf, () => ({ data_as_of: null, data_age_days: null }));
}

/**
 * Creates servers with the tools and the guide. Each request gets its own server, so they are the SDK's low-level
 * servers: registering the tools with an `McpServer` takes 60 µs more.
 */
export function toolServers(callTool: CallTool): (clientGone?: AbortSignal) => Server {
  return (clientGone = new AbortController().signal) => {
    const server = new Server(SERVER, {
      instructions: INSTRUCTIONS,
      capabilities: { tools: { listChanged: false }, resources: { listChanged: false } },
      cacheHints: Object.fromEntries(CACHEABLE.map((method) => [method, CACHED_FOR_AN_HOUR])),
    });
    server.setRequestHandler('tools/list', () => ({ tools: TOOLS.map(({ listed }) => listed) }));
    server.setRequestHandler('tools/call', async ({ params: { name, arguments: given = {} } }) => {
      const result = await callTool(name, given, () => clientGone);
      if (result !== undefined) return result;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${name} not found`);
    });
    server.setRequestHandler('resources/list', () => ({ resources: [GUIDE_RESOURCE] }));
    server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
    server.setRequestHandler('resources/read', ({ params: { uri } }) => {
      if (uri !== GUIDE_RESOURCE.uri) throw new ResourceNotFoundError(uri);
      return { contents: [{ uri, mimeType: GUIDE_RESOURCE.mimeType, text: GUIDE }] };
    });
    return server;
  };
}

/** The parameters of a lookup tool: the fields of a lookup, and a limit. */
type LookupParameters = Omit<LookupFields, 'search_type'> & {
  readonly limit?: number | undefined;
};

function lookupTool(
  name: ToolName,
  title: string,
  parameters: Parameters<LookupParameters>,
  searchType?: 'business',
) {
  const answer: Answer<LookupParameters> = async ({ lookups }, { limit = MAX_MATCHES, ...criteria }) => {
    const request = lookupRequest({ ...criteria, search_type: searchType }, REQUEST_WORDS.tool);
    const { outcome, counts, ...origin } = await lookups.lookUpCounted(request);
    // A lookup by number ignores filters.
    const ignored: readonly string[] = request.by === 'number' ? FILTER_NAMES : [];
    const searched = Object.fromEntries(
      Object.entries(criteria).filter(([name, value]) => value !== undefined && !ignored.includes(name)),
    );
    const unusedFilters = ['first_name', ...FILTER_NAMES].filter(
      (name) => Object.hasOwn(parameters.shape, name) && !Object.hasOwn(searched, name),
    );
    const view = viewOf(outcome, origin, request.by === 'number' ? 'number' : 'name');
    const content = lookupToolResult(view, { searched, unusedFilters, limit, counts });
    return { outcome: outcome.outcome, content };
  };
  return tool(name, title, parameters, lookupResult, answer);
}

async function listBoards({ lookups }: ToolServices): Promise<ToolResult> {
  const { live, ...origin } = await lookups.livePublication();
  const typesOf = (board: string) =>
    (live.licenseTypes.get(board) ?? []).map((type) => [type, live.examples.get(`${board}/${type}`) ?? null]);
  return {
    outcome: 'answered',
    content: {
      ...originOf(origin),
      message: messageOf(origin, 'The number beside each type shows what its numbers look like.'),
      boards: BOARDS.map(({ name, code }) => ({
        ...{ name, code },
        license_types: Object.fromEntries(typesOf(name)),
      })),
      board_activity: Object.fromEntries(live.activity),
    },
  };
}
