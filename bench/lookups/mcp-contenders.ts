import type { HolderKind } from '../../src/licenses/license-document.ts';
import type { Asked } from './asked.ts';
import {
  type Contender,
  FOUND,
  mcpLoad,
  mcpRequest,
  missedLoad,
  nameAsked,
  numberAsked,
  restLoad,
  type Servers,
  unknownNumber,
} from './contenders.ts';

/** A way of asking by REST or by MCP. */
export interface McpContender extends Contender {
  /** Whose licenses it is asked for. */
  readonly kind: HolderKind;
  /** The contender that asks REST the same. */
  readonly rest?: string;
}

/** What distinguishes the requests of a revision of the protocol. */
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

/** A question put to a tool, and to REST in the same words. */
interface Question {
  readonly name: string;
  readonly kind: HolderKind;
  readonly count: number;
  readonly tool: string;
  readonly ask: (asked: Asked) => object;
  /** What REST takes beside that. */
  readonly restOnly?: object;
  readonly isMiss?: boolean;
}

const NUMBER: Question = {
  name: 'number',
  kind: 'person',
  count: 12_000,
  tool: 'verify_license',
  ask: numberAsked,
};

const QUESTIONS: readonly Question[] = [
  NUMBER,
  { name: 'name', kind: 'person', count: 6000, tool: 'search_licenses_by_name', ask: nameAsked },
  {
    name: 'business',
    kind: 'business',
    count: 6000,
    tool: 'verify_business_license',
    ask: businessAsked,
    restOnly: { search_type: 'business' },
  },
  { ...NUMBER, name: 'number missed', count: 6000, ask: unknownNumber, isMiss: true },
];

/** As the tool's description has it; REST requires the board. */
const NUMBER_ALONE: Question = {
  ...NUMBER,
  name: 'number without its board',
  ask: ({ number }) => ({ license_number: number }),
};

const LISTS = 6000;

/** Every question by REST and by MCP in both eras of the protocol, and the list of tools. */
export function mcpContenders(servers: Pick<Servers, 'api' | 'key'>): McpContender[] {
  const rest = restLoad(servers);
  return [
    ...QUESTIONS.flatMap((question) => [
      byRest(rest, question),
      ...ERAS.map((era) => byMcp(rest, question, era, question)),
    ]),
    ...ERAS.map((era) => byMcp(rest, NUMBER_ALONE, era, NUMBER)),
    ...ERAS.map((era) => listOfTools(rest, era)),
  ];
}

function byRest(rest: Contender['load'], question: Question): McpContender {
  const { kind, count, ask, restOnly, isMiss = false } = question;
  return {
    ...{ name: restName(question), kind, count },
    load: isMiss ? missedLoad(rest) : rest,
    ask: (asked) => ({ ...ask(asked), ...restOnly }),
  };
}

function restName({ name }: Question): string {
  return `${name}, REST`;
}

function byMcp(
  rest: Contender['load'],
  { name, kind, count, tool, ask, isMiss = false }: Question,
  era: Era,
  sameByRest: Question,
): McpContender {
  const method = 'tools/call';
  return {
    ...{ name: `${name}, ${era.name}`, kind, count, rest: restName(sameByRest) },
    load: eraLoad(rest, era.headers(method, tool), isMiss ? '"outcome":"not_found"' : FOUND),
    ask: (asked) => mcpRequest(method, era.params({ name: tool, arguments: ask(asked) })),
  };
}

function listOfTools(rest: Contender['load'], era: Era): McpContender {
  const method = 'tools/list';
  const request = mcpRequest(method, era.params({}));
  return {
    ...{ name: `${method}, ${era.name}`, kind: 'person', count: LISTS },
    load: eraLoad(rest, era.headers(method), '"list_ohio_boards"'),
    ask: () => request,
  };
}

function eraLoad(
  rest: Contender['load'],
  headers: Record<string, string>,
  expected: string,
): Contender['load'] {
  const load = mcpLoad(rest, expected);
  return { ...load, headers: { ...load.headers, ...headers } };
}

/** A business by the first of its trade names. */
function businessAsked({ board, fullName }: Asked): object {
  const [tradeName] = fullName.split(/ D\.B\.A\b/);
  return { board, business_name: tradeName };
}
