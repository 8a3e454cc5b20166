import { type CallToolResult, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import { z } from 'zod';
import { SERVICE_VERSION } from '../config.ts';
import { errorResponse } from '../http/errors.ts';
import { BOARDS, type Board, boardByName } from '../licenses/boards.ts';
import { todayInOhio } from '../licenses/dates.ts';
import { FILTER_NAMES } from '../licenses/filters.ts';
import { MAX_MATCHES } from '../licenses/lookup-outcome.ts';
import { type LookupFields, lookupRequest } from '../licenses/lookup-request.ts';
import type { Lookups } from '../lookup/service.ts';
import { toolCalls } from '../telemetry/metrics.ts';
import { lookupOutcome, type Outcome, statusOutcome } from '../telemetry/outcome.ts';
import * as descriptions from './descriptions.ts';
import {
  businessParameters,
  noParameters,
  numberParameters,
  type Parameters,
  personParameters,
  readParameters,
} from './parameters.ts';
import { type Asked, lookupResult, lookupToolResult } from './results.ts';
import { type ObjectSchema, objectSchema } from './tool-schema.ts';

/** All tools read, and reading the same twice gives the same. */
const READ_ONLY = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;

const boardsResult = z.object({
  data_as_of: z.string().describe('Run date of the dataset that answered, YYYY-MM-DD'),
  boards: z.array(z.object({ name: z.string(), code: z.string(), license_types: z.array(z.string()) })),
});

/** What a tool answers, and how the operator counts it. */
interface ToolAnswer {
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
  readonly answer: (lookups: Lookups, given: Readonly<Record<string, unknown>>) => Promise<ToolAnswer>;
}

const lookupOutput = objectSchema(lookupResult, 'output');

const TOOLS: readonly Tool[] = [
  lookupTool(
    {
      name: 'verify_license',
      title: 'Verify a license by its number',
      description: descriptions.VERIFY_LICENSE,
      parameters: numberParameters,
    },
    'person',
  ),
  lookupTool(
    {
      name: 'search_licenses_by_name',
      title: 'Search licenses by the holder’s name',
      description: descriptions.SEARCH_LICENSES_BY_NAME,
      parameters: personParameters,
    },
    'person',
  ),
  lookupTool(
    {
      name: 'verify_business_license',
      title: 'Verify a business license',
      description: descriptions.VERIFY_BUSINESS_LICENSE,
      parameters: businessParameters,
    },
    'business',
  ),
  {
    name: 'list_ohio_boards',
    title: 'List the boards',
    description: descriptions.LIST_OHIO_BOARDS,
    inputSchema: objectSchema(noParameters, 'input'),
    outputSchema: objectSchema(boardsResult, 'output'),
    answer: boards,
  },
];

/** The list of tools changes with the service alone, so whoever has it may keep it for an hour. */
const KEPT_FOR_AN_HOUR = { ttlMs: 3_600_000, cacheScope: 'public' } as const;

const SERVER = {
  name: 'ohio-license-verification',
  title: 'Ohio License Verification',
  version: SERVICE_VERSION,
};

const byName = new Map(TOOLS.map((tool) => [tool.name, tool]));

/** The tools as clients are shown them. */
const LISTED = TOOLS.map(({ answer: _, ...described }) => ({ ...described, annotations: READ_ONLY }));

/**
 * A server with the four tools of specification 4.4. Each request gets one of its own, so it is the SDK's low-level
 * server: to register four tools with an `McpServer` costs 60 µs more, a tenth of a call.
 */
export function toolServer(lookups: Lookups, log: Logger): Server {
  const server = new Server(SERVER, {
    instructions: descriptions.INSTRUCTIONS,
    capabilities: { tools: { listChanged: false } },
    cacheHints: { 'tools/list': KEPT_FOR_AN_HOUR, 'server/discover': KEPT_FOR_AN_HOUR },
  });
  server.setRequestHandler('tools/list', () => ({ tools: LISTED }));
  server.setRequestHandler('tools/call', ({ params }) => {
    const tool = byName.get(params.name);
    if (tool === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${params.name} not found`);
    }
    return answered(tool.name, lookups, log, () => tool.answer(lookups, params.arguments ?? {}));
  });
  return server;
}

/** The parameters by which a search can be narrowed. */
const NARROWING: readonly string[] = ['first_name', ...FILTER_NAMES];

/** What a lookup tool takes: the fields of a lookup, the board by its name. */
type Values = Omit<LookupFields, 'board'> & {
  readonly board?: string | undefined;
  readonly limit?: number | undefined;
};

/** A tool that looks licenses up; what it takes but for `limit` are the criteria of its lookup. */
function lookupTool(
  {
    parameters,
    ...described
  }: Pick<Tool, 'name' | 'title' | 'description'> & { readonly parameters: Parameters<Values> },
  kind: 'person' | 'business',
): Tool {
  return {
    ...described,
    inputSchema: objectSchema(parameters, 'input'),
    outputSchema: lookupOutput,
    answer: async (lookups, given) => {
      const { values, note } = readParameters(parameters, given);
      const { limit, ...criteria } = values;
      const request = lookupRequest({ ...criteria, board: boardOf(criteria.board) }, kind);
      const { outcome, date, isSample } = await lookups.lookUp(request);
      const asked = askedFor(criteria, limit, request.by !== 'number', Object.keys(parameters.shape));
      const result = lookupToolResult(outcome, asked, { date, isSample, today: todayInOhio() });
      return {
        outcome: lookupOutcome(outcome),
        content: note === '' ? result : { ...result, message: `${note} ${result.message}` },
      };
    },
  };
}

function askedFor(
  criteria: Readonly<Record<string, string | undefined>>,
  limit: number | undefined,
  isByName: boolean,
  parameters: readonly string[],
): Asked {
  const given = Object.entries(criteria).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  const searched = Object.fromEntries(given);
  return {
    searched,
    narrowBy: NARROWING.filter((name) => parameters.includes(name) && !(name in searched)),
    limit: limit ?? MAX_MATCHES,
    isByName,
  };
}

function boardOf(name: string | undefined): Board | undefined {
  return name === undefined ? undefined : boardNamed(name);
}

function boardNamed(name: string): Board {
  const board = boardByName(name);
  if (board === undefined) throw new Error('The parameters take only the boards of the catalog.');
  return board;
}

async function boards(lookups: Lookups): Promise<ToolAnswer> {
  const { metadata, licenseTypes } = await lookups.livePublication();
  return {
    outcome: 'answered',
    content: {
      data_as_of: metadata.date,
      boards: BOARDS.map(({ name, code }) => ({ name, code, license_types: licenseTypes.get(name) ?? [] })),
    },
  };
}

/**
 * The result as structured content and as text; a failure as a tool error with a safe message, as text alone, since
 * clients hold structured content to the output schema, errors' too, and would show the misfit in place of it.
 */
async function answered(
  tool: string,
  lookups: Lookups,
  log: Logger,
  work: () => Promise<ToolAnswer>,
): Promise<CallToolResult> {
  try {
    const { outcome, content } = await work();
    toolCalls.inc({ tool, outcome });
    return { structuredContent: content, content: asText(content) };
  } catch (error) {
    const { status, detail } = errorResponse(error);
    toolCalls.inc({ tool, outcome: statusOutcome(status) });
    if (status >= 500)
      log.error({ error: error instanceof Error ? error.stack : String(error) }, 'tool failed');
    return { isError: true, content: asText({ error: detail, data_as_of: await dataAsOf(lookups) }) };
  }
}

function asText(content: Record<string, unknown>): CallToolResult['content'] {
  return [{ type: 'text', text: JSON.stringify(content) }];
}

/** The date of the live publication, where there is one and it is known. */
async function dataAsOf(lookups: Lookups): Promise<string | null> {
  return lookups.livePublication().then(
    ({ metadata }) => metadata.date,
    () => null,
  );
}
