import { resolve } from 'node:path';
import { startScript } from '../scripts/licenses-processes.ts';
import { print } from '../scripts/processes.ts';
import { readConfig } from '../src/config.ts';
import { drawLicenses } from './load/asked.ts';
import { type Contender, rosterContenders } from './load/contenders.ts';
import { mcpContenders } from './load/mcp-contenders.ts';
import { inRounds, named } from './load/measure.ts';
import { ALL_ROWS, number, optionsOf, text } from './options.ts';
import { cpuOf } from './reports/lookups.ts';
import { medianOf, rateOf, ratio } from './rounds.ts';
import { ownPorts, type Service, withApi, withService } from './service.ts';

const { rows, pairs, other, only } = optionsOf({
  rows: number(ALL_ROWS),
  pairs: number(7),
  /** The checkout to compare this one with. */
  other: text,
  /** Measures only kinds of requests whose names contain this text. */
  only: text,
});

const DRAWN = 130_000;
const WARM_UP_SECONDS = 2;
/** The allowed ratio of the API's CPU per request to that in the other checkout. */
const MAX_RATIO = 1.1;

const contendersOf = (service: Service): Contender[] => [
  ...mcpContenders(service),
  ...rosterContenders(service),
];

/** Measures the API's CPU per item in two checkouts over the same index, in pairs. @returns what costs too much */
async function measurePairs(current: Service, compared: Service): Promise<string[]> {
  const { client, index } = current;
  const persons = await drawLicenses(client, index, { kind: 'person', count: DRAWN });
  const businesses = await drawLicenses(client, index, { kind: 'business', count: DRAWN });
  const [ours, theirs] = [contendersOf(current), contendersOf(compared)];
  const tooMuch: string[] = [];
  for (const { name } of ours.filter((each) => each.name.includes(only ?? ''))) {
    const contenders = [
      { ...named(ours, name), name: 'this' },
      { ...named(theirs, name), name: 'other' },
    ];
    const results = await inRounds(contenders, {
      ...{ rounds: pairs, warmUpSeconds: WARM_UP_SECONDS, more: { seconds: 1 } },
      drawnFor: () => (name.startsWith('business') ? businesses : persons),
    });
    const micros = (version: string) => medianOf(results, version, cpuOf('API'));
    print(
      `${name}, median of ${pairs}: API CPU for each item ${micros('this').toFixed(1)} µs, ` +
        `other ${micros('other').toFixed(1)} µs, ${ratio(results, ['this', 'other'], cpuOf('API'))}; ` +
        `rate ${ratio(results, ['this', 'other'], rateOf)}`,
    );
    if (micros('this') > MAX_RATIO * micros('other')) tooMuch.push(name);
  }
  return tooMuch;
}

if (other === undefined) {
  process.stderr.write('npm run bench guard -- --other CHECKOUT [--rows N] [--pairs N] [--only TEXT]\n');
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
    const measured = (compared: Service) => measurePairs(service, compared);
    const tooMuch = await withApi(installation, service.index, measured, start);
    if (tooMuch.length === 0) return;
    print(`More than ${MAX_RATIO} times the CPU: ${tooMuch.join('; ')}`);
    process.exitCode = 1;
  });
}
