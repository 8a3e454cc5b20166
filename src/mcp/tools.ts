import { type CallToolResult, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import { z } from 'zod';
import { type Outcome, statusOutcome } from '../access/usage.ts';
import { viewOf } from '../answers/view.ts';
import { REQUEST_WORDS } from '../answers/words.ts';
import type { Changes } from '../changes/service.ts';
import { SERVICE_VERSION } from '../config.ts';
import { errorResponse } from '../http/errors.ts';
import { BOARDS } from '../licenses/boards.ts';
import { todayInOhio } from '../licenses/dates.ts';
import { FILTER_NAMES } from '../licenses/filters.ts';
import { type LookupFields, lookupRequest, MAX_MATCHES } from '../licenses/lookup.ts';
import type { Lookups } from '../lookup/service.ts';
import type { Rosters } from '../rosters/service.ts';
import { toolCalls } from '../telemetry/metrics.ts';
import * as descriptions from './descriptions.ts';
import { historyForModel, historyResult } from './license-history.ts';
import {
  businessParameters,
  historyParameters,
  noParameters,
  numberParameters,
  type ObjectSchema,
  objectSchema,
  type Parameters,
  personParameters,
  readParameters,
  rosterParameters,
} from './parameters.ts';
import { lookupResult, lookupToolResult, originOf, resultOrigin } from './results.ts';
import { rosterResult, verifyRoster } from './roster.ts';

/** No tool changes anything, so a repeated call has the same result. */
const READ_ONLY = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;

const boardsResult = z.object({
  ...resultOrigin,
  boards: z.array(z.object({ name: z.string(), code: z.string(), license_types: z.array(z.string()) })),
});

/** What the tools answer from. */
export interface ToolServices {
  readonly lookups: Lookups;
  readonly rosters: Rosters;
  readonly changes: Changes;
}

/** A tool's result, and its outcome in the metrics. */
interface ToolResult {
  readonly outcome: Outcome;
  readonly content: Record<string, unknown>;
}

interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  /** @throws {BadRequestError} saying what to send instead */
  readonly call: (
    services: ToolServices,
    parameters: Readonly<Record<string, unknown>>,
    clientGone: () => AbortSignal,
  ) => Promise<ToolResult>;
}

const lookupOutput = objectSchema(lookupResult, 'output');

const TOOLS: readonly Tool[] = [
  lookupTool({
    name: 'verify_license',
    title: 'Verify a license by its number',
    description: descriptions.VERIFY_LICENSE,
    parameters: numberParameters,
  }),
  lookupTool({
    name: 'search_licenses_by_name',
    title: 'Search licenses by the holder’s name',
    description: descriptions.SEARCH_LICENSES_BY_NAME,
    parameters: personParameters,
  }),
  lookupTool({
    name: 'verify_business_license',
    title: 'Verify a business license',
    description: descriptions.VERIFY_BUSINESS_LICENSE,
    parameters: businessParameters,
    searchType: 'business',
  }),
  {
    name: 'verify_roster',
    title: 'Verify a list of licenses',
    description: descriptions.VERIFY_ROSTER,
    inputSchema: objectSchema(rosterParameters, 'input'),
    outputSchema: objectSchema(rosterResult, 'output'),
    call: async ({ rosters }, given, clientGone) => ({
      outcome: 'answered',
      content: await verifyRoster(rosters, given, clientGone()),
    }),
  },
  {
    name: 'license_history',
    title: 'What changed in a license',
    description: descriptions.LICENSE_HISTORY,
    inputSchema: objectSchema(historyParameters, 'input'),
    outputSchema: objectSchema(historyResult, 'output'),
    call: async (services, given) => {
      const { outcome, content } = await historyForModel(services, given);
      return { outcome: outcome.outcome, content };
    },
  },
  {
    name: 'list_ohio_boards',
    title: 'List the boards',
    description: descriptions.LIST_OHIO_BOARDS,
    inputSchema: objectSchema(noParameters, 'input'),
    outputSchema: objectSchema(boardsResult, 'output'),
    call: listBoards,
  },
];

/** Clients may cache the list of tools for an hour. It changes only with a release of the service. */
const CACHED_FOR_AN_HOUR = { ttlMs: 3_600_000, cacheScope: 'public' } as const;

/** How the server introduces itself to clients. */
export const SERVER = {
  name: 'ohio-license-verification',
  title: 'Ohio License Verification',
  version: SERVICE_VERSION,
};

const byName = new Map(TOOLS.map((tool) => [tool.name, tool]));

// An increase is seen only of a series that was there before.
for (const tool of byName.keys())
  for (const outcome of ['unavailable', 'failed']) toolCalls.inc({ tool, outcome }, 0);

/** The tools in the form that clients get. */
const LISTED = TOOLS.map(({ call: _, ...described }) => ({ ...described, annotations: READ_ONLY }));

/**
 * Calls a tool. A tool's errors are results; `undefined` says that there is no such tool.
 *
 * @param clientGone makes a signal that stops long work for a client that is gone
 */
export type CallTool = (
  name: string,
  given: Record<string, unknown>,
  clientGone: () => AbortSignal,
) => Promise<CallToolResult | undefined>;

export function toolCaller(services: ToolServices, log: Logger): CallTool {
  return async (name, given, clientGone) => {
    const tool = byName.get(name);
    const call = tool && (() => tool.call(services, given, clientGone));
    return call && toolResponse(tool.name, services.lookups, log, call);
  };
}

/**
 * Creates a server with the tools. It is the SDK's low-level server, because some requests get their own: registering
 * the tools with an `McpServer` takes 60 µs more.
 */
export function toolServer(callTool: CallTool, clientGone: () => AbortSignal): Server {
  const server = new Server(SERVER, {
    instructions: descriptions.INSTRUCTIONS,
    capabilities: { tools: { listChanged: false } },
    cacheHints: { 'tools/list': CACHED_FOR_AN_HOUR, 'server/discover': CACHED_FOR_AN_HOUR },
  });
  server.setRequestHandler('tools/list', () => ({ tools: LISTED }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const result = await callTool(params.name, params.arguments ?? {}, clientGone);
    if (result !== undefined) return result;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${params.name} not found`);
  });
  return server;
}

/** They narrow a search by name, and are ignored in a lookup by number. */
const FILTERS: ReadonlySet<string> = new Set(FILTER_NAMES);

/** The parameters that restrict a search by name. */
const FILTER_PARAMETERS: readonly string[] = ['first_name', ...FILTER_NAMES];

/** The parameters of a lookup tool: fields of a lookup, and a limit. */
type LookupParameters = Omit<LookupFields, 'search_type'> & {
  readonly limit?: number | undefined;
};

interface LookupTool extends Pick<Tool, 'name' | 'title' | 'description'> {
  readonly parameters: Parameters<LookupParameters>;
  readonly searchType?: 'business';
}

/** A tool that looks licenses up. */
function lookupTool({ parameters, searchType, ...described }: LookupTool): Tool {
  return {
    ...described,
    inputSchema: objectSchema(parameters, 'input'),
    outputSchema: lookupOutput,
    call: async ({ lookups }, given) => {
      const { values, note } = readParameters(parameters, given);
      const { limit = MAX_MATCHES, ...criteria } = values;
      const request = lookupRequest({ ...criteria, search_type: searchType }, REQUEST_WORDS.tool);
      const { outcome, ...origin } = await lookups.lookUp(request);
      const isByNumber = request.by === 'number';
      const searched = Object.fromEntries(
        Object.entries(criteria).flatMap(([name, value]): [string, string][] =>
          value === undefined || (isByNumber && FILTERS.has(name)) ? [] : [[name, value]],
        ),
      );
      const unusedFilters = FILTER_PARAMETERS.filter(
        (name) => Object.hasOwn(parameters.shape, name) && !Object.hasOwn(searched, name),
      );
      const view = viewOf(outcome, origin, isByNumber ? 'number' : 'name');
      const result = lookupToolResult(view, { searched, unusedFilters, limit });
      const content = { ...result, message: `${note} ${result.message}`.trimStart() };
      return { outcome: outcome.outcome, content };
    },
  };
}

async function listBoards({ lookups }: ToolServices): Promise<ToolResult> {
  const { metadata, licenseTypes } = await lookups.livePublication();
  return {
    outcome: 'answered',
    content: {
      ...originOf({ date: metadata.date, today: todayInOhio() }),
      boards: BOARDS.map(({ name, code }) => ({ name, code, license_types: licenseTypes.get(name) ?? [] })),
    },
  };
}

/**
 * The response with a tool's result, as structured content and as text. An error is sent only as text, with a safe
 * message: clients check structured content against the output schema and would report the mismatch instead.
 */
async function toolResponse(
  tool: string,
  lookups: Lookups,
  log: Logger,
  call: () => Promise<ToolResult>,
): Promise<CallToolResult> {
  try {
    const { outcome, content } = await call();
    toolCalls.inc({ tool, outcome });
    return { content: asText(content), structuredContent: content };
  } catch (error) {
    const { status, detail } = errorResponse(error);
    toolCalls.inc({ tool, outcome: statusOutcome(status) });
    if (status >= 500)
      log.error({ error: error instanceof Error ? error.stack : String(error) }, 'tool failed');
    return { content: asText({ error: detail, ...(await dataOf(lookups)) }), isError: true };
  }
}

function asText(content: Record<string, unknown>): CallToolResult['content'] {
  return [{ type: 'text', text: JSON.stringify(content) }];
}

/** The date of the live publication and its age; null when there is none or it can't be read. */
async function dataOf(lookups: Lookups) {
  return lookups.livePublication().then(
    ({ metadata: { date } }) => originOf({ date, today: todayInOhio() }),
    () => ({ data_as_of: null, data_age_days: null }),
  );
}
