import { beforeAll, describe, expect, test } from '@jest/globals';
import { Client, type ElicitResult, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { fixturesAnd, nurseRow, pharmacyRow, times } from '../support/fixtures.ts';
import { ERAS, toolCalls } from '../support/mcp-tools.ts';
import { startService, type TestService } from '../support/service.ts';

const NURSING = 'Nursing Board';
const BOWEN = { board: NURSING, last_name: 'Bowen' };
const SEARCH = 'search_licenses_by_name';
const ASKED = 'The user was asked which license is meant, and';

/** Twelve of one name: seven in Columbus, four in Dayton, one without a city. */
const BOWENS = times(12, (at) =>
  nurseRow(`BOWEN, GIVEN${String(at).padStart(2, '0')}`, `RN.${860_000 + at}`, {
    PARCEL_CITY: at < 8 ? (['COLUMBUS', 'Columbus'][at % 2] ?? '') : at < 12 ? 'DAYTON' : '',
    ...(at === 1 && { TYPE: 'Licensed Practical Nurse (LPN)' }),
    ...(at === 2 && { STATUS: 'Inactive', SUB_STATUS: 'Lapsed' }),
  }),
);

const QUESTION = {
  method: 'elicitation/create',
  params: {
    message:
      'The name "Bowen" matches 12 licenses of the Nursing Board in the State\'s dataset of 2026-11-20. Which one is meant? Leave empty what you do not know: licenses that do not fit an answer are left out.',
    requestedSchema: {
      type: 'object',
      properties: {
        city: { type: 'string', title: 'City', enum: ['Columbus', 'DAYTON'] },
        license_type: {
          type: 'string',
          title: 'License type',
          enum: ['Licensed Practical Nurse (LPN)', 'Registered Nurse (RN)'],
        },
        status: { type: 'string', title: 'Status', enum: ['ACTIVE', 'INACTIVE'] },
      },
    },
    mode: 'form',
  },
};

let service: TestService;

beforeAll(async () => {
  service = await startService({
    files: (folder) =>
      fixturesAnd(folder, {
        individual: [
          ...BOWENS,
          ...times(10, (at) =>
            nurseRow(`TENNER, GIVEN${at}`, `RN.${861_000 + at}`, { PARCEL_CITY: `C${at}` }),
          ),
          ...times(11, (at) => nurseRow(`ALIKE, GIVEN${at}`, `RN.${862_000 + at}`)),
          ...times(120, (at) =>
            nurseRow(`CROWD, GIVEN${String(at).padStart(3, '0')}`, `RN.${863_000 + at}`, {
              PARCEL_CITY: at === 119 ? 'AKRON' : 'LIMA',
            }),
          ),
          ...times(60, (at) =>
            nurseRow(`SPREAD, GIVEN${at}`, `RN.${864_000 + at}`, { PARCEL_CITY: `${'é'.repeat(60)}${at}` }),
          ),
        ],
        business: times(12, (at) =>
          pharmacyRow(`CHAIN ${at}`, `02${80_000_000 + at}`, { parcel_city: at < 7 ? 'TROY' : 'XENIA' }),
        ),
      }),
  });
});

/** A client whose user gives this answer to each question, and the questions. */
async function clientOf(answer: ElicitResult, [, versionNegotiation]: (typeof ERAS)[number] = ERAS[0]) {
  const client = new Client(
    { name: 'tests', version: '1' },
    { versionNegotiation, capabilities: { elicitation: { form: {} } } },
  );
  const questions: unknown[] = [];
  client.setRequestHandler('elicitation/create', (request) => {
    questions.push(request);
    return answer;
  });
  const url = new URL(`http://127.0.0.1:${service.environment.config.PORT}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url));
  return { client, questions, ...toolCalls(() => client) };
}

interface Sent {
  readonly name?: string;
  /** What the client says that it can do. */
  readonly capabilities?: unknown;
  readonly params?: object;
  readonly headers?: Record<string, string>;
  readonly meta?: object;
}

/** The text of the response to a call of revision 2026-07-28, as it is on the wire. */
async function posted(
  given: object,
  { name = SEARCH, capabilities = { elicitation: {} }, params, headers, meta }: Sent = {},
): Promise<string> {
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  const response = await fetch(`http://127.0.0.1:${service.environment.config.PORT}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(headers ?? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name }),
    },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name, arguments: given, _meta: meta ?? envelope, ...params },
    }),
  });
  return response.text();
}

const question = z.object({
  result: z.strictObject({
    resultType: z.literal('input_required'),
    inputRequests: z.strictObject({ which: z.unknown() }),
    _meta: z.object({}),
  }),
});

async function questionTo(given: object, sent: Sent = {}): Promise<unknown> {
  return question.parse(JSON.parse(await posted(given, sent))).result.inputRequests.which;
}

const found = z.object({
  result: z.object({
    structuredContent: z.object({
      message: z.string(),
      searched: z.record(z.string(), z.string()),
      licenses: z.array(z.object({ license_number: z.string() })),
    }),
  }),
});

/** The response to a repeated call. */
async function repeated(given: object, inputResponses: unknown, sent: Sent = {}) {
  const text = await posted(given, { ...sent, params: { inputResponses, ...sent.params } });
  return found.parse(JSON.parse(text)).result.structuredContent;
}

function accepted(content: unknown) {
  return { which: { action: 'accept', content } };
}

describe('a name with many matches', () => {
  test('is asked about once, by a form with what tells the licenses apart; the answer narrows the search', async () => {
    const { client, questions, found } = await clientOf({ action: 'accept', content: { city: 'DAYTON' } });
    const result = await found(SEARCH, BOWEN);
    expect(questions).toEqual([QUESTION]);
    expect(result).toMatchObject({ count: 4, truncated: false, searched: { ...BOWEN, city: 'DAYTON' } });
    expect(result.licenses.map(({ city }) => city)).toEqual(times(4, () => 'DAYTON'));
    expect(result.message).toMatch(
      new RegExp(`^${ASKED} answered city "DAYTON"\\. Other licenses are left out\\. 4 licenses match`),
    );
    await client.close();
  });

  test('one license is left of two answers; the record is whole', async () => {
    const content = { city: 'Columbus', license_type: 'Licensed Practical Nurse (LPN)', status: '' };
    const { client, found } = await clientOf({ action: 'accept', content });
    const { count, licenses, message } = await found(SEARCH, BOWEN);
    expect([count, licenses]).toEqual([1, [expect.objectContaining({ license_number: 'RN.860001' })]]);
    expect(message).toContain('This is the only license that fits');
    await client.close();
  });

  test.each<[string, ElicitResult, string]>([
    ['declined', { action: 'decline' }, 'gave no answer that narrows'],
    ['cancelled', { action: 'cancel' }, 'gave no answer that narrows'],
    ['empty', { action: 'accept', content: {} }, 'gave no answer that narrows'],
    ['blank', { action: 'accept', content: { city: ' ', status: '' } }, 'gave no answer that narrows'],
    [
      'of an unknown field',
      { action: 'accept', content: { county: 'Allen' } },
      'gave no answer that narrows',
    ],
    [
      'that fits nothing',
      { action: 'accept', content: { city: 'Troy' } },
      'answered city "Troy". No license fits',
    ],
    ['of no letter', { action: 'accept', content: { city: '*' } }, 'answered city "*". No license fits'],
    [
      'of a type that the board lacks',
      { action: 'accept', content: { license_type: 'Dentist' } },
      'answered license_type "Dentist". No license fits',
    ],
  ])('an answer %s leaves nothing out, and the result says so', async (_, answer, says) => {
    const { client, questions, found } = await clientOf(answer);
    const result = await found(SEARCH, BOWEN);
    const plain = await repeated(BOWEN, undefined, { capabilities: {} });
    expect(questions).toHaveLength(1);
    expect(result).toMatchObject({ count: 12, searched: BOWEN, licenses: plain.licenses });
    expect(result.message.startsWith(`${ASKED} ${says}`)).toBe(true);
    expect(result.message.endsWith(plain.message)).toBe(true);
    await client.close();
  });

  test('has more than a hundred: the question says so, and the user types what can not all be listed', async () => {
    const crowd = { board: NURSING, last_name: 'Crowd' };
    expect(await questionTo(crowd)).toMatchObject({
      params: {
        message: expect.stringContaining('matches more than 100 licenses of the Nursing Board'),
        requestedSchema: {
          properties: {
            city: { type: 'string', title: 'City' },
            license_type: { type: 'string', description: expect.stringContaining('For example') },
            status: { type: 'string', description: 'For example Active' },
          },
        },
      },
    });
    const { licenses } = await repeated(crowd, accepted({ city: 'akron' }));
    expect(licenses).toEqual([expect.objectContaining({ license_number: 'RN.863119' })]);
  });

  test('has long values: the user types them, so the question stays small', async () => {
    const text = await posted({ board: NURSING, last_name: 'Spread' });
    expect(text.length).toBeLessThan(1500);
    expect(JSON.parse(text)).toMatchObject({
      result: {
        inputRequests: {
          which: { params: { requestedSchema: { properties: { city: { type: 'string', title: 'City' } } } } },
        },
      },
    });
  });

  test('of a business is asked about at all boards', async () => {
    const sent = { name: 'verify_business_license' };
    expect(await questionTo({ business_name: 'Chain' }, sent)).toMatchObject({
      params: {
        message: expect.stringContaining('The name "Chain" matches 12 licenses of all boards'),
        requestedSchema: { properties: { city: { enum: ['TROY', 'XENIA'] } } },
      },
    });
    const { licenses } = await repeated({ business_name: 'Chain' }, accepted({ city: 'Troy' }), sent);
    expect(licenses).toHaveLength(6);
  });
});

describe('nothing is asked', () => {
  test.each<[string, object, Sent]>([
    ['of a client without the capability', BOWEN, { capabilities: {} }],
    ['of a client that only opens pages', BOWEN, { capabilities: { elicitation: { url: {} } } }],
    ['about ten licenses', { board: NURSING, last_name: 'Tenner' }, {}],
    ['about licenses that no answer tells apart', { board: NURSING, last_name: 'Alike' }, {}],
    ['about a name that nobody has', { board: NURSING, last_name: 'Bowenx' }, {}],
    ['about a number', { license_number: 'RN.860001' }, { name: 'verify_license' }],
    ['twice', BOWEN, { params: { inputResponses: {} } }],
    [
      'of a client of 2025, whatever it says',
      BOWEN,
      {
        headers: { 'mcp-protocol-version': '2025-11-25' },
        meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } },
      },
    ],
    ['of a client of 2025 that answers', BOWEN, { headers: {}, meta: {}, params: { inputResponses: {} } }],
  ])('%s', async (_, given, sent) => {
    expect(found.parse(JSON.parse(await posted(given, sent))).result).not.toHaveProperty(
      'resultType',
      'input_required',
    );
  });

  test('of a client that connected by a handshake, although it takes forms', async () => {
    const { client, questions, found } = await clientOf(
      { action: 'accept', content: { city: 'DAYTON' } },
      ERAS[1],
    );
    expect(await found(SEARCH, BOWEN)).toMatchObject({ count: 12, searched: BOWEN });
    expect(questions).toEqual([]);
    await client.close();
  });

  test('that the call itself says', async () => {
    const given = { ...BOWEN, status: 'Active' };
    expect(await questionTo(given)).toMatchObject({
      params: {
        message: expect.stringContaining('The name "Bowen" with status "Active" matches 11 licenses'),
        requestedSchema: { properties: { city: {}, license_type: {} } },
      },
    });
    expect(JSON.stringify(await questionTo(given))).not.toContain('"status":');
  });
});

describe('hostile and broken answers', () => {
  test('a question is the same with and without the SDK', async () => {
    const own = await posted(BOWEN);
    expect(await posted(BOWEN, { params: { other: true } })).toBe(own);
    expect(await questionTo(BOWEN)).toEqual(QUESTION);
  });

  test.each<[unknown]>([
    [{}],
    [[]],
    ['which'],
    [{ which: null }],
    [{ which: [] }],
    [{ which: { action: 'accept' } }],
    [{ which: { action: 'accept', content: [] } }],
    [{ which: { action: 'force', content: { city: 'DAYTON' } } }],
    [{ which: { method: 'elicitation/create', result: { action: 'accept', content: { city: 'DAYTON' } } } }],
    [{ other: { action: 'accept', content: { city: 'DAYTON' } } }],
    [accepted({ city: ['DAYTON'] })],
    [accepted({ city: { length: 6 } })],
    [accepted({ city: 'DAYTON', status: 1 })],
    [accepted({ city: 'x'.repeat(201) })],
    [accepted({ board: 'Medical Board', last_name: 'Crowd', limit: 1, license_number: 'RN.860001' })],
    [accepted(JSON.parse('{"__proto__": {"city": "DAYTON"}, "constructor": {"city": "DAYTON"}}'))],
    [JSON.parse('{"__proto__": {"which": {"action": "decline"}}}')],
  ])('%j is no answer', async (inputResponses) => {
    const { licenses, searched, message } = await repeated(BOWEN, inputResponses);
    expect([licenses.length, searched]).toEqual([12, BOWEN]);
    expect(message.startsWith(`${ASKED} gave no answer that narrows the search.`)).toBe(true);
  });

  test('an answer replaces nothing that the call says', async () => {
    const { licenses, searched } = await repeated(
      { ...BOWEN, city: 'Dayton' },
      accepted({ city: 'Columbus', status: 'ACTIVE' }),
    );
    expect([licenses.length, searched]).toEqual([4, { ...BOWEN, city: 'Dayton', status: 'ACTIVE' }]);
  });

  test('an answer means nothing to a lookup by number, or from a client without the capability', async () => {
    const answer = accepted({ city: 'DAYTON' });
    const byNumber = await repeated({ license_number: 'RN.860001' }, answer, { name: 'verify_license' });
    expect([byNumber.licenses.length, byNumber.message.includes(ASKED)]).toEqual([1, false]);
    const plain = await repeated(BOWEN, answer, { capabilities: {} });
    expect([plain.licenses.length, plain.message.includes(ASKED)]).toEqual([12, false]);
  });

  test('a state that the server never sent means nothing, and is refused if it is not text', async () => {
    const params = { requestState: '{"city": "DAYTON"}' };
    expect(await questionTo(BOWEN, { params })).toEqual(QUESTION);
    expect((await repeated(BOWEN, accepted({ city: 'DAYTON' }), { params })).licenses).toHaveLength(4);
    expect(JSON.parse(await posted(BOWEN, { params: { requestState: 1 } }))).toMatchObject({
      error: { code: -32602 },
    });
  });
});
