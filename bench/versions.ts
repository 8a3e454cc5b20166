import { resolve } from 'node:path';
import { startScript } from '../scripts/licenses-processes.ts';
import { print } from '../scripts/processes.ts';
import { readConfig } from '../src/config.ts';
import { drawLicenses } from './load/asked.ts';
import { mcpContenders } from './load/mcp-contenders.ts';
import { inRounds, named } from './load/measure.ts';
import { ALL_ROWS, number, optionsOf, text } from './options.ts';
import { cpuOf } from './reports/lookups.ts';
import { medianOf, rateOf, ratio } from './rounds.ts';
import { ownPorts, type Service, withApi, withService } from './service.ts';

const { rows, pairs, other } = optionsOf({
  rows: number(ALL_ROWS),
  pairs: number(7),
  /** The checkout that is measured beside this one. */
  other: text,
});

const DRAWN = 130_000;
const WARM_UP_SECONDS = 1;
const MEASURED = ['number, REST', 'name, REST', 'number, MCP 2025', 'number, MCP 2026-07-28'];

/** Measures the API's CPU per request in two checkouts over the same index, in pairs. */
async function measurePairs(current: Service, compared: Service): Promise<void> {
  const asked = await drawLicenses(current.client, current.index, { kind: 'person', count: DRAWN });
  const [ours, theirs] = [mcpContenders(current), mcpContenders(compared)];
  for (const name of MEASURED) {
    const contenders = [
      { ...named(ours, name), name: 'this' },
      { ...named(theirs, name), name: 'other' },
    ];
    print(name);
    const results = await inRounds(contenders, {
      ...{ rounds: pairs, warmUpSeconds: WARM_UP_SECONDS, more: { seconds: 1 } },
      drawnFor: () => asked,
    });
    const micros = (version: string) => medianOf(results, version, cpuOf('API')).toFixed(0);
    print(
      `${name}, median of ${pairs}: this ${micros('this')} µs of API CPU, other ${micros('other')} µs, ` +
        `${ratio(results, ['this', 'other'], cpuOf('API'))}; rate ${ratio(results, ['this', 'other'], rateOf)}`,
    );
  }
}

if (other === undefined) {
  process.stderr.write('npm run bench versions -- --other CHECKOUT [--rows N] [--pairs N]\n');
  process.exitCode = 1;
} else {
  await withService(rows, async (service) => {
    const variables = await ownPorts(service.variables);
    const installation = { ...service, variables, config: readConfig(variables) };
    const start = async (settings: Record<string, string>) => {
      const api = startScript(resolve(other, 'src/server.ts'), settings);
      await api.printed('API ready');
      return api;
    };
    await withApi(installation, service.index, (compared) => measurePairs(service, compared), start);
  });
}
