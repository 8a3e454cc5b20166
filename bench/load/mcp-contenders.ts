import type { HolderKind } from '../../src/licenses/license.ts';
import type { Service } from '../service.ts';
import type { Asked } from './asked.ts';
import {
  type Contender,
  mcpLoad,
  mcpRequest,
  nameAsked,
  numberAsked,
  rest,
  restMissed,
  single,
  unknownNumber,
} from './contenders.ts';

/** A contender that uses REST or MCP. */
export interface McpContender extends Contender {
  /** The kind of holders whose licenses it looks up. */
  readonly kind: HolderKind;
  /** The name of the contender that asks the same over REST. */
  readonly rest?: string;
}

/** The parts of requests that depend on the revision of the protocol. */
interface Era {
  readonly name: string;
  readonly headers: (method: string, tool?: string) => Record<string, string>;
  readonly params: (params: object) => object;
}

const REVISION = '2026-07-28';

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

const ERAS: readonly Era[] = [
  {
    name: 'MCP 2025',
    headers: () => ({ 'mcp-protocol-version': '2025-11-25' }),
    params: (params) => params,
  },
  {
    name: `MCP ${REVISION}`,
    headers: (method, tool) => ({
      'mcp-protocol-version': REVISION,
      'mcp-method': method,
      ...(tool === undefined ? {} : { 'mcp-name': tool }),
    }),
    params: (params) => ({ ...params, _meta: ENVELOPE }),
  },
];

/** A tool and the measured call. */
interface Question {
  readonly name: string;
  readonly tool: string;
  readonly ask: (asked: Asked) => object;
  /** The contender that asks the same over REST. */
  readonly rest: Contender;
  readonly kind?: HolderKind;
  /** A text that every correct response contains; by default `"outcome":"found"`. */
  readonly expected?: string;
}

const COUNT = 6000;

/** Every question over REST and over MCP in both eras of the protocol, and the list of tools. */
export function mcpContenders(service: Service): McpContender[] {
  const number = {
    name: 'number',
    tool: 'verify_license',
    ask: numberAsked,
    rest: rest(service, 'number, REST', 2 * COUNT, numberAsked),
  };
  const questions: Question[] = [
    number,
    {
      name: 'name',
      tool: 'search_licenses_by_name',
      ask: nameAsked,
      rest: rest(service, 'name, REST', COUNT, nameAsked),
    },
    {
      name: 'business',
      tool: 'verify_business_license',
      ask: businessAsked,
      rest: rest(service, 'business, REST', COUNT, (asked) => ({
        ...businessAsked(asked),
        search_type: 'business',
      })),
      kind: 'business',
    },
    {
      ...{ ...number, name: 'number missed', ask: unknownNumber },
      rest: restMissed(service, 'number missed, REST', COUNT),
      expected: '"outcome":"not_found"',
    },
  ];
  // The tool's description recommends to omit the board; REST requires it.
  const alone = {
    ...number,
    name: 'number without its board',
    ask: ({ number }: Asked) => ({ license_number: number }),
  };
  return [
    ...questions.flatMap((question): McpContender[] => [
      { ...question.rest, kind: question.kind ?? 'person' },
      ...ERAS.map((era) => byMcp(service, question, era)),
    ]),
    ...ERAS.map((era) => byMcp(service, alone, era)),
    ...ERAS.map((era) => listOfTools(service, era)),
  ];
}

function byMcp({ api }: Service, question: Question, era: Era): McpContender {
  const { name, tool, ask, rest, kind = 'person', expected } = question;
  const method = 'tools/call';
  const load = mcpLoad(api, era.headers(method, tool));
  return {
    ...{ ...rest, name: `${name}, ${era.name}`, kind, rest: rest.name },
    load: { ...load, expected: expected ?? load.expected },
    ...single((asked) => mcpRequest(method, era.params({ name: tool, arguments: ask(asked) }))),
  };
}

function listOfTools({ api, servers }: Service, era: Era): McpContender {
  const method = 'tools/list';
  const request = mcpRequest(method, era.params({}));
  return {
    ...{ name: `${method}, ${era.name}`, kind: 'person', itemsPerRound: COUNT, servers },
    load: { ...mcpLoad(api, era.headers(method)), expected: '"list_ohio_boards"' },
    ...single(() => request),
  };
}

/** Asks for a business by the first of its trade names. */
function businessAsked({ board, fullName }: Asked): object {
  const [tradeName] = fullName.split(/ D\.B\.A\b/);
  return { board, business_name: tradeName };
}
