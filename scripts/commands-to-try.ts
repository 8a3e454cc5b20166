import { z } from 'zod';

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
