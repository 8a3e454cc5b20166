import { z } from 'zod';
import type { SampleDataOptions } from '../sample-data/write-sample-data.ts';
import { todayInOhio } from '../src/licenses/dates.ts';

const DAY_MS = 86_400_000;

/** What `npm start` publishes: always the same licenses, with yesterday's date. */
export function startSample(): Pick<SampleDataOptions, 'rows' | 'seed' | 'date'> {
  return { rows: 20_000, seed: 1, date: todayInOhio(new Date(Date.now() - DAY_MS)) };
}

/**
 * The lines that `npm start` ends with.
 *
 * @param key a new API key; `undefined` where there is one already, which is not shown again
 * @param commands to paste
 */
export function welcome(
  address: string,
  key: string | undefined,
  commands: readonly string[],
): readonly string[] {
  return [
    '',
    `Ohio license verification answers at ${address}`,
    `  Site  ${address}`,
    `  REST  ${address}/api/v1`,
    `  MCP   ${address}/mcp`,
    key === undefined
      ? '  Key   shown when it was made; for a new one: npx licenses keys create NAME --verified-by YOU'
      : `  Key   ${key} (shown this once)`,
    '',
    key === undefined ? 'To try (KEY=… first):' : 'To try:',
    ...commands.flatMap((command) => ['', command]),
    '',
    'Ctrl-C stops all of it.',
  ];
}

const BOARD = 'Nursing Board';
/** The example of the sample data, then what a real publication surely has. */
const SURNAMES = ['Example', 'Smith', 'Johnson', 'Williams', 'Brown', 'Jones', 'Miller', 'Davis'];
const ANSWER_MS = 10_000;

/** A license that the live publication has. */
interface Example {
  readonly number: string;
  readonly surname: string;
}

/**
 * Three commands that can be pasted: by number, by name, and the tool for assistants.
 *
 * @param address where the service answers
 * @param key an API key, or what the shell replaces by one
 */
export async function commandsToTry(address: string, key: string): Promise<readonly string[]> {
  const { number, surname } = (await findExample(address)) ?? { number: 'RN.987654321', surname: 'Example' };
  const verify = `curl -s ${address}/api/v1/lookup/verify -H "X-API-Key: ${key}" -H 'Content-Type: application/json'`;
  return [
    `${verify} -d '${JSON.stringify({ board: BOARD, license_number: number })}'`,
    `${verify} -d '${JSON.stringify({ board: BOARD, last_name: surname })}'`,
    `curl -s ${address}/mcp -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' -d '${JSON.stringify(toolCall('verify_license', { license_number: number }))}'`,
  ];
}

/** Asks the service itself, through MCP, which needs no key, for a nurse with one of the surnames. */
async function findExample(address: string): Promise<Example | undefined> {
  for (const surname of SURNAMES) {
    const number = await firstNumber(address, surname);
    if (number !== undefined) return { number, surname };
  }
  return undefined;
}

const searchAnswer = z.object({
  result: z.object({
    structuredContent: z.object({ licenses: z.array(z.object({ license_number: z.string() })) }),
  }),
});

async function firstNumber(address: string, surname: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${address}/mcp`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
      body: JSON.stringify(toolCall('search_licenses_by_name', { board: BOARD, last_name: surname })),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    return searchAnswer.parse(await response.json()).result.structuredContent.licenses[0]?.license_number;
  } catch {
    return undefined;
  }
}

function toolCall(name: string, args: Record<string, string>) {
  return { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
}
