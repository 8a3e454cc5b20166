import { expect } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { NOT_FOUND_REASONS } from '../../src/licenses/lookup.ts';
import { recordAnswer } from './answers.ts';
import { fixturesAnd, nurseRow, pharmacyRow, times } from './fixtures.ts';
import { startService, type TestService } from './service.ts';

const MEDICAL = 'Medical Board';

const wholeLicense = recordAnswer
  .omit({ found: true, source: true, last_scraped: true, data_age_days: true })
  .extend({ board_action: z.string().nullable(), street: z.string().optional() });

/** A license in a roster or a history. */
export const compactLicense = wholeLicense.omit({
  ...{ days_until_expiry: true, issue_date: true, extra_data: true, name_match: true },
});

/** One of several licenses, without the fields that all of them have in common. */
const rowLicense = compactLicense.partial().required({ license_number: true, full_name: true });

/** The fields about the data in every result. */
export const dataOrigin = { data_as_of: z.literal('2026-11-20'), data_age_days: z.int().min(0) };

/** The fields of a result for an unknown number. */
export const missFacts = {
  reason: z.enum(NOT_FOUND_REASONS).optional(),
  did_you_mean_name_match: z.array(z.boolean()).optional(),
  last_in_dataset: z.string().nullable().optional(),
  last_raw_status: z.string().nullable().optional(),
};

const lookupResult = z.strictObject({
  outcome: z.enum(['found', 'not_found', 'ambiguous']),
  ...dataOrigin,
  ...missFacts,
  ...{ searched: z.record(z.string(), z.string()), count: z.int(), truncated: z.boolean() },
  ...{ total: z.int().optional(), by_status: z.record(z.string(), z.int()).optional() },
  in_common: compactLicense.partial().optional(),
  licenses: z.union([z.array(wholeLicense).max(1), z.array(rowLicense).max(100)]),
  ...{ did_you_mean: z.array(z.string()), message: z.string().min(1) },
});

const toolError = z.strictObject({ error: z.string().min(1), ...dataOrigin });

/** A tool result with one text block. */
const toolResult = z.object({
  isError: z.boolean().optional(),
  structuredContent: z.unknown().optional(),
  content: z.tuple([z.object({ type: z.literal('text'), text: z.string() })]),
});

/** An API process with the fixtures, many holders with the same name, and numbers that match two licenses. */
export const startMcpService = (): Promise<TestService> =>
  startService({
    files: (folder) =>
      fixturesAnd(folder, {
        individual: [
          ...times(120, (number) =>
            nurseRow(`CROWD, GIVEN${String(number).padStart(3, '0')}`, `RN.${810_000 + number}`),
          ),
          nurseRow('TWIN, DOT', 'RN.71.0001'),
          nurseRow('TWIN, NODOT', 'RN.710.001'),
          nurseRow('SHARED, NURSE', 'RN.72.0001'),
          nurseRow('SHARED, DOCTOR', 'RN.72.0001', { BOARD: MEDICAL, TYPE: 'Doctor of Medicine (MD)' }),
          nurseRow('NARROW, NED', 'RN.850001', { PARCEL_CITY: 'AKRON', PARCEL_COUNTY: 'Summit' }),
          nurseRow('NARROW, NORA', 'RN.850002', { STATUS: 'Inactive', SUB_STATUS: 'Lapsed' }),
        ],
        business: [
          ...times(101, (number) => pharmacyRow(`CHAIN ${number}`, `02${80_000_000 + number}`)),
          pharmacyRow('SMITH FUNERAL SUPPLIES', '0290000001'),
        ],
      }),
  });

/** The two eras of the protocol: revision 2026-07-28, and the earlier one with a handshake. */
export const ERAS = [
  ['modern', { mode: { pin: '2026-07-28' } }],
  ['legacy', { mode: 'legacy' }],
] as const;

/** A client of this era, connected to the service. */
export async function connected({ environment }: TestService, versionNegotiation: (typeof ERAS)[number][1]) {
  const client = new Client({ name: 'tests', version: '1' }, { versionNegotiation });
  const url = new URL(`http://127.0.0.1:${environment.config.PORT}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url));
  return client;
}

/** Functions that call a tool and check the form of its result. The client connects before the tests. */
export function toolCalls(client: () => Client) {
  const called = async (name: string, parameters: Record<string, unknown> = {}) =>
    toolResult.parse(await client().callTool({ name, arguments: parameters }));

  /** The structured content of a result. Its text must be the same content as JSON. */
  async function answered(name: string, parameters: Record<string, unknown> = {}): Promise<unknown> {
    const { isError, structuredContent, content } = await called(name, parameters);
    expect([isError ?? false, content[0].text]).toEqual([false, expect.any(String)]);
    expect(JSON.parse(content[0].text)).toEqual(structuredContent);
    return structuredContent;
  }

  const found = async (name: string, parameters: Record<string, unknown>) =>
    lookupResult.parse(await answered(name, parameters));

  const numbers = async (name: string, parameters: Record<string, unknown>): Promise<string[]> =>
    (await found(name, parameters)).licenses.map(({ license_number }) => license_number);

  /** The error message for an invalid call. */
  async function refused(name: string, parameters: Record<string, unknown>): Promise<string> {
    const { isError, structuredContent, content } = await called(name, parameters);
    expect(isError).toBe(true);
    expect(content[0].text).not.toMatch(/node_modules|\.ts:|\n\s+at /);
    // Many clients validate structured content against the output schema, and throw if it does not fit.
    expect(structuredContent).toBeUndefined();
    return toolError.parse(JSON.parse(content[0].text)).error;
  }

  return { answered, found, numbers, refused };
}
