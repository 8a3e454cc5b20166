import { readFileSync } from 'node:fs';
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
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
import { todayInOhio } from '../licenses/dates.ts';
import { FILTER_NAMES } from '../licenses/filters.ts';
import { type LookupFields, lookupRequest, MAX_MATCHES } from '../licenses/lookup.ts';
import type { Lookups } from '../lookup/service.ts';
import type { Rosters } from '../rosters/service.ts';
import { toolCalls } from '../telemetry/metrics.ts';
import { DESCRIPTIONS, INSTRUCTIONS } from './descriptions.ts';
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
import { lookupResult, lookupToolResult, originOf, resultOrigin, type ToolResult } from './results.ts';
import { rosterResult, verifyRoster } from './roster.ts';

/** What the tools answer from. */
export interface ToolServices {
  readonly lookups: Lookups;
  readonly rosters: Rosters;
  readonly changes: Changes;
}

interface Tool {
  /** As clients get it. */
  readonly listed: {
    readonly name: string;
    readonly inputSchema: ObjectSchema;
    readonly [field: string]: unknown;
  };
  /** @throws {BadRequestError} saying what to send instead */
  readonly call: (
    services: ToolServices,
    given: Readonly<Record<string, unknown>>,
    clientGone: () => AbortSignal,
  ) => Promise<ToolResult>;
}

interface ToolParts<Values> {
  readonly name: keyof typeof DESCRIPTIONS;
  readonly title: string;
  readonly parameters: Parameters<Values>;
  readonly result: z.ZodType;
  readonly answer: (
    services: ToolServices,
    values: Values,
    clientGone: () => AbortSignal,
  ) => Promise<ToolResult>;
}

function tool<Values>({ name, title, parameters, result, answer }: ToolParts<Values>): Tool {
  return {
    listed: {
      ...{ name, title, description: DESCRIPTIONS[name] },
      inputSchema: objectSchema(parameters, 'input'),
      outputSchema: objectSchema(result, 'output'),
      // No tool changes anything, so a repeated call has the same result.
      annotations: {
        ...{ title, readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      },
    },
    call: async (services, given, clientGone) => {
      const { values, note } = readParameters(parameters, given);
      const { outcome, content } = await answer(services, values, clientGone);
      return { outcome, content: { ...content, message: `${note} ${content.message}`.trimStart() } };
    },
  };
}

const TOOLS: readonly Tool[] = [
  tool({
    name: 'verify_license',
    title: 'Verify a license by its number',
    parameters: numberParameters,
    result: lookupResult,
    answer: lookUp(numberParameters),
  }),
  tool({
    name: 'search_licenses_by_name',
    title: 'Search licenses by the holder’s name',
    parameters: personParameters,
    result: lookupResult,
    answer: lookUp(personParameters),
  }),
  tool({
    name: 'verify_business_license',
    title: 'Verify a business license',
    parameters: businessParameters,
    result: lookupResult,
    answer: lookUp(businessParameters, 'business'),
  }),
  tool({
    name: 'verify_roster',
    title: 'Verify a list of licenses',
    parameters: rosterParameters,
    result: rosterResult,
    answer: ({ rosters }, values, clientGone) => verifyRoster(rosters, values, clientGone()),
  }),
  tool({
    name: 'license_history',
    title: 'What changed in a license',
    parameters: historyParameters,
    result: historyResult,
    answer: historyForModel,
  }),
  tool({
    name: 'list_ohio_boards',
    title: 'List the boards',
    parameters: noParameters,
    result: z.object({
      ...resultOrigin,
      boards: z.array(
        z.object({
          name: z.string(),
          code: z.string(),
          license_types: z
            .record(z.string(), z.string().nullable())
            .describe('Each type with the number of a license that has it'),
        }),
      ),
      board_activity: z.record(z.string(), boardActivity),
    }),
    answer: listBoards,
  }),
];

/** Clients may cache what a release of the service alone changes for an hour. */
const CACHED_FOR_AN_HOUR = { ttlMs: 3_600_000, cacheScope: 'public' } as const;

/** How the server introduces itself to clients. */
export const SERVER = {
  name: 'ohio-license-verification',
  title: 'Ohio License Verification',
  version: SERVICE_VERSION,
};

const byName = new Map(TOOLS.map((each) => [each.listed.name, each]));

// An increase is seen only of a series that was there before.
for (const name of byName.keys())
  for (const outcome of ['unavailable', 'failed']) toolCalls.inc({ tool: name, outcome }, 0);

const GUIDE = readFileSync(new URL('../../docs/assistants.md', import.meta.url), 'utf8');

/** The guide as a host gives it to its model as a skill: its own first lines say what it is. */
const GUIDE_RESOURCE = {
  uri: 'skill://verify-ohio-license/SKILL.md',
  name: /^name: (.+)$/m.exec(GUIDE)?.[1] ?? '',
  description: /^description: (.+)$/m.exec(GUIDE)?.[1] ?? '',
  mimeType: 'text/markdown',
};

/** @returns the result of a call, or `undefined` where no tool has the name. Its signal stops work for a client that is gone */
export type CallTool = (
  name: string,
  given: Readonly<Record<string, unknown>>,
  clientGone: () => AbortSignal,
) => Promise<CallToolResult | undefined>;

export function toolCaller(services: ToolServices, log: Logger): CallTool {
  return async (name, given, clientGone) => {
    const called = byName.get(name);
    return (
      called && toolResponse(name, services.lookups, log, () => called.call(services, given, clientGone))
    );
  };
}

/**
 * Makes servers with the tools and the guide. They are the SDK's low-level servers, because each request gets its own:
 * registering the tools with an `McpServer` takes 60 µs more.
 */
export function toolServers(callTool: CallTool): (clientGone?: AbortSignal) => Server {
  return (clientGone = new AbortController().signal) => {
    const server = new Server(SERVER, {
      instructions: INSTRUCTIONS,
      capabilities: { tools: { listChanged: false }, resources: { listChanged: false } },
      cacheHints: {
        ...{ 'tools/list': CACHED_FOR_AN_HOUR, 'server/discover': CACHED_FOR_AN_HOUR },
        ...{ 'resources/list': CACHED_FOR_AN_HOUR, 'resources/read': CACHED_FOR_AN_HOUR },
      },
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

/** They narrow a search by name, and are ignored in a lookup by number. */
const FILTERS: ReadonlySet<string> = new Set(FILTER_NAMES);

/** The parameters that restrict a search by name. */
const FILTER_PARAMETERS: readonly string[] = ['first_name', ...FILTER_NAMES];

/** The parameters of a lookup tool: fields of a lookup, and a limit. */
type LookupParameters = Omit<LookupFields, 'search_type'> & {
  readonly limit?: number | undefined;
};

/** Looks licenses up. @param shape the fields that the tool has */
function lookUp(
  { shape }: Parameters<LookupParameters>,
  searchType?: 'business',
): ToolParts<LookupParameters>['answer'] {
  return async ({ lookups }, { limit = MAX_MATCHES, ...criteria }) => {
    const request = lookupRequest({ ...criteria, search_type: searchType }, REQUEST_WORDS.tool);
    const { outcome, counts, ...origin } = await lookups.lookUpCounted(request);
    const isByNumber = request.by === 'number';
    const searched = Object.fromEntries(
      Object.entries(criteria).flatMap(([name, value]): [string, string][] =>
        value === undefined || (isByNumber && FILTERS.has(name)) ? [] : [[name, value]],
      ),
    );
    const unusedFilters = FILTER_PARAMETERS.filter(
      (name) => Object.hasOwn(shape, name) && !Object.hasOwn(searched, name),
    );
    const view = viewOf(outcome, origin, isByNumber ? 'number' : 'name');
    const content = lookupToolResult(view, { searched, unusedFilters, limit, counts });
    return { outcome: outcome.outcome, content };
  };
}

async function listBoards({ lookups }: ToolServices): Promise<ToolResult> {
  const { live, examples } = await lookups.liveExamples();
  const typesOf = (board: string) =>
    (live.licenseTypes.get(board) ?? []).map((type) => [type, examples.get(board)?.get(type) ?? null]);
  return {
    outcome: 'answered',
    content: {
      ...originOf({ date: live.metadata.date, today: todayInOhio() }),
      message: 'The number beside each type is of some license: it shows what such numbers look like.',
      boards: BOARDS.map(({ name, code }) => ({
        ...{ name, code },
        license_types: Object.fromEntries(typesOf(name)),
      })),
      board_activity: Object.fromEntries(live.activity),
    },
  };
}

/**
 * The response with a tool's result, as structured content and as text. An error is sent only as text, with a safe
 * message: clients check structured content against the output schema and would report the mismatch instead.
 */
async function toolResponse(
  name: string,
  lookups: Lookups,
  log: Logger,
  call: () => Promise<ToolResult>,
): Promise<CallToolResult> {
  try {
    const { outcome, content } = await call();
    toolCalls.inc({ tool: name, outcome });
    return { ...textResult(content), structuredContent: content };
  } catch (error) {
    const { status, detail } = errorResponse(error);
    toolCalls.inc({ tool: name, outcome: statusOutcome(status) });
    if (status >= 500)
      log.error({ error: error instanceof Error ? error.stack : String(error) }, 'tool failed');
    return { ...textResult({ error: detail, ...(await dataOf(lookups)) }), isError: true };
  }
}

const textResult = (content: object): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(content) }],
});

/** The date of the live publication and its age; null when there is none or it can't be read. */
async function dataOf(lookups: Lookups) {
  return lookups.livePublication().then(
    ({ metadata: { date } }) => originOf({ date, today: todayInOhio() }),
    () => ({ data_as_of: null, data_age_days: null }),
  );
}
