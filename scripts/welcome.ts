import type { SampleDataOptions } from '../sample-data/write-sample-data.ts';
import { todayInOhio } from '../src/licenses/dates.ts';

const DAY_MS = 86_400_000;

/** The sample data that `npm start` publishes: always the same licenses, with yesterday's date. */
export function startSample(): Pick<SampleDataOptions, 'rows' | 'seed' | 'date'> {
  return { rows: 20_000, seed: 1, date: todayInOhio(new Date(Date.now() - DAY_MS)) };
}

/**
 * The last lines that `npm start` prints.
 *
 * @param key a new API key; `undefined` if a key already exists, because it cannot be shown again
 */
export function welcome(address: string, key: string | undefined): readonly string[] {
  return [
    '',
    `Ohio license verification answers at ${address}`,
    `  Site  ${address}`,
    `  REST  ${address}/api/v1`,
    `  MCP   ${address}/mcp`,
    key === undefined
      ? '  Key   shown when it was made; for a new one: npx licenses keys create NAME --verified-by YOU'
      : `  Key   ${key} (shown only once)`,
    '',
    key === undefined ? 'To try (KEY=… first):' : 'To try:',
    ...commandsToTry(address, key ?? '$KEY').flatMap((command) => ['', command]),
    '',
    'Ctrl-C stops all of it.',
  ];
}

/**
 * Three commands to paste: a lookup by number, one by name, and a call of the tool for assistants. The number exists
 * only in the sample data; the surname also in the State's data.
 *
 * @param key an API key, or a shell expression that yields one
 */
export function commandsToTry(address: string, key: string): readonly string[] {
  const number = { license_number: 'RN.987654321' };
  const verify = `curl -s ${address}/api/v1/lookup/verify -H "X-API-Key: ${key}" -H 'Content-Type: application/json'`;
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'verify_license', arguments: number },
  };
  return [
    `${verify} -d '${JSON.stringify({ board: 'Nursing Board', ...number })}'`,
    `${verify} -d '${JSON.stringify({ board: 'Nursing Board', last_name: 'Smith' })}'`,
    `curl -s ${address}/mcp -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' -d '${JSON.stringify(call)}'`,
  ];
}
