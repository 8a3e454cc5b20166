import { type CallToolResult, McpServer } from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import { z } from 'zod';
import { BadRequestError, failureOf } from '../failures.ts';
import { BOARDS, type Board, boardByName, nearestBoard } from '../licenses/boards.ts';
import { todayInOhio } from '../licenses/dates.ts';
import type { LookupRequest } from '../licenses/lookup.ts';
import type { Lookups } from '../lookups.ts';
import { toolCalls } from '../metrics.ts';
import { lookupOutcome, type Outcome, statusOutcome } from '../outcome.ts';
import { SERVICE_VERSION } from '../version.ts';
import { lookupResult, lookupToolResult } from './results.ts';
import { computedOnce, trusted } from './tool-schema.ts';

const MOST_CHARACTERS = 200;

const text = (description: string) => z.string().trim().min(1).max(MOST_CHARACTERS).describe(description);

const BOARD = `Exact name of an Ohio licensing board, one of: ${BOARDS.map(({ name }) => name).join('; ')}`;

const narrowing = {
  license_type: text('Only licenses of this type, as list_ohio_boards names it').optional(),
  status: text('Only licenses with this status, e.g. ACTIVE').optional(),
  city: text('Only holders in this city').optional(),
  county: text('Only holders in this county').optional(),
};

const numberInput = computedOnce(
  z.object({
    license_number: text('The license number as written, prefix included, e.g. RN.123456'),
    board: text(`${BOARD}. May be left out: numbers are unique in Ohio`).optional(),
    last_name: text('The surname that the holder should have; the license then says name_match').optional(),
    first_name: text('The given name that the holder should have, or its beginning').optional(),
  }),
);

const personInput = computedOnce(
  z.object({
    board: text(BOARD),
    last_name: text('Whole surname, e.g. Smith or de la Cruz'),
    first_name: text('Given name or the beginning of it').optional(),
    ...narrowing,
  }),
);

const businessFields = z.object({
  board: text(`${BOARD}. May be left out`).optional(),
  business_name: text('The beginning of the trade name, or of the name after "D.B.A."').optional(),
  license_number: text('The license number of the establishment').optional(),
  ...narrowing,
});

const businessInput = computedOnce(businessFields);

const noInput = computedOnce(z.object({}));

const lookupOutput = trusted(lookupResult);

const boardsOutput = trusted(
  z.object({
    data_as_of: z.string().describe('Run date of the dataset that answered, YYYY-MM-DD'),
    boards: z.array(z.object({ name: z.string(), code: z.string(), license_types: z.array(z.string()) })),
  }),
);

/** All tools read, and reading the same twice gives the same. */
const READ_ONLY = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;

const SERVER = { name: 'ohio-license-verification', version: SERVICE_VERSION };

/** A server with the four tools of specification 4.4; each request gets one of its own. */
export function toolServer(lookups: Lookups, log: Logger): McpServer {
  const server = new McpServer(SERVER);

  server.registerTool(
    'verify_license',
    {
      title: 'Verify a license by its number',
      description:
        'Looks up one Ohio professional or business license by its number and returns its holder, status, expiry date and board actions. Use it whenever a license number is known. The board is found automatically.',
      inputSchema: numberInput,
      outputSchema: lookupOutput,
      annotations: READ_ONLY,
    },
    (input) =>
      answered('verify_license', lookups, log, () =>
        lookedUp(lookups, input, {
          by: 'number',
          number: input.license_number,
          board: boardGiven(input.board),
          businessOnly: false,
          holder:
            input.last_name === undefined && input.first_name === undefined
              ? undefined
              : { lastName: input.last_name, firstName: input.first_name },
        }),
      ),
  );

  server.registerTool(
    'search_licenses_by_name',
    {
      title: 'Search licenses by the holder’s name',
      description:
        'Finds the licenses of persons at one Ohio board by surname and, optionally, the beginning of the given name. Returns up to 100 matches, exact names first. Several people may share a name: compare city and license type before you answer about one of them. For establishments use verify_business_license.',
      inputSchema: personInput,
      outputSchema: lookupOutput,
      annotations: READ_ONLY,
    },
    (input) =>
      answered('search_licenses_by_name', lookups, log, () =>
        lookedUp(lookups, input, {
          by: 'person',
          board: boardNeeded(input.board),
          lastName: input.last_name,
          firstName: input.first_name,
          narrowing: input,
        }),
      ),
  );

  server.registerTool(
    'verify_business_license',
    {
      title: 'Verify a business license',
      description:
        'Finds Ohio establishments (pharmacies, salons, firms, funeral homes, repair shops) by license number or by the beginning of either trade name. Give license_number or business_name.',
      inputSchema: businessInput,
      outputSchema: lookupOutput,
      annotations: READ_ONLY,
    },
    (input) =>
      answered('verify_business_license', lookups, log, () =>
        lookedUp(lookups, input, businessRequest(input)),
      ),
  );

  server.registerTool(
    'list_ohio_boards',
    {
      title: 'List the boards',
      description: 'Lists the 24 Ohio licensing boards with their exact names and the license types of each.',
      inputSchema: noInput,
      outputSchema: boardsOutput,
      annotations: READ_ONLY,
    },
    () => answered('list_ohio_boards', lookups, log, () => boards(lookups)),
  );

  return server;
}

function businessRequest(input: z.output<typeof businessFields>): LookupRequest {
  const board = boardGiven(input.board);
  if (input.license_number !== undefined) {
    const holder = input.business_name === undefined ? undefined : { businessName: input.business_name };
    return { by: 'number', number: input.license_number, board, businessOnly: true, holder };
  }
  if (input.business_name === undefined) throw new BadRequestError('Give business_name or license_number.');
  return { by: 'business', board, name: input.business_name, narrowing: input };
}

function boardGiven(name: string | undefined): Board | undefined {
  return name === undefined ? undefined : boardNeeded(name);
}

function boardNeeded(name: string): Board {
  const board = boardByName(name);
  if (board !== undefined) return board;
  throw new BadRequestError(
    `There is no board of exactly this name; the nearest is "${nearestBoard(name).name}". list_ohio_boards lists all.`,
  );
}

/** What a tool answers, and how the operator counts it. */
interface ToolAnswer {
  readonly outcome: Outcome;
  readonly content: Record<string, unknown>;
}

async function lookedUp(
  lookups: Lookups,
  input: Readonly<Record<string, string | undefined>>,
  request: LookupRequest,
): Promise<ToolAnswer> {
  const { outcome, date } = await lookups.lookUp(request);
  const searched = Object.fromEntries(
    Object.entries(input).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  return {
    outcome: lookupOutcome(outcome),
    content: lookupToolResult(outcome, searched, date, todayInOhio()),
  };
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

/** The result as structured content and as text; a failure as a tool error with a safe message. */
async function answered(
  tool: string,
  lookups: Lookups,
  log: Logger,
  work: () => Promise<ToolAnswer>,
): Promise<CallToolResult> {
  try {
    const { outcome, content } = await work();
    toolCalls.inc({ tool, outcome });
    return toolResult(content);
  } catch (error) {
    const { status, detail } = failureOf(error);
    toolCalls.inc({ tool, outcome: statusOutcome(status) });
    if (status >= 500)
      log.error({ error: error instanceof Error ? error.stack : String(error) }, 'tool failed');
    return { isError: true, ...toolResult({ error: detail, data_as_of: await dataAsOf(lookups) }) };
  }
}

function toolResult(structuredContent: Record<string, unknown>): CallToolResult {
  return { structuredContent, content: [{ type: 'text', text: JSON.stringify(structuredContent) }] };
}

/** The date of the live publication, where there is one and it is known. */
async function dataAsOf(lookups: Lookups): Promise<string | null> {
  return lookups.livePublication().then(
    ({ metadata }) => metadata.date,
    () => null,
  );
}
