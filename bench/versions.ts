import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startScript } from '../scripts/licenses-processes.ts';
import { freePort } from '../scripts/ports.ts';
import { startServices } from '../scripts/services.ts';
import { print } from '../scripts/terminal.ts';
import { drawLicenses } from './lookups/asked.ts';
import { mcpContenders } from './lookups/mcp-contenders.ts';
import { measure, type Service, withService } from './lookups/measure.ts';
import { median } from './median.ts';
import type { Measured } from './reports/lookups.ts';
import { serviceVariables } from './service.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    /** The checkout that is measured beside this one. */
    other: { type: 'string' },
    rows: { type: 'string', default: '2600000' },
    pairs: { type: 'string', default: '7' },
  },
});

const WARM_UP_SECONDS = 20;
const MEASURED = ['number, REST', 'name, REST', 'number, MCP 2025', 'number, MCP 2026-07-28'];

type Version = 'this' | 'other';

/** One pair: the same requests to both versions, in changing order. */
type Pair = Readonly<Record<Version, Measured>>;

/** Measures the API's CPU per request in two checkouts over the same index. */
async function main(other: string): Promise<void> {
  const services = await startServices({}, (text) => process.stderr.write(`${text}\n`));
  try {
    await withService(services, Number(values.rows), async (service) => {
      const port = await freePort();
      const variables = {
        ...(await serviceVariables(services, service.indexPrefix)),
        PORT: `${port}`,
        ADMIN_PORT: `${await freePort()}`,
      };
      const api = startScript(resolve(other, 'src/server.ts'), variables);
      try {
        await api.printed('API ready');
        const otherService = { ...service, api: `http://127.0.0.1:${port}`, apiPid: api.child.pid ?? 0 };
        await measurePairs({ this: service, other: otherService });
      } finally {
        await api.stop();
      }
    });
  } finally {
    await services.stop();
  }
}

async function measurePairs(versions: Readonly<Record<Version, Service>>): Promise<void> {
  const { client, index } = versions.this;
  const asked = await drawLicenses(client, index, { kind: 'person', count: 130_000 });
  const both = { this: mcpContenders(versions.this), other: mcpContenders(versions.other) };
  for (const name of MEASURED) {
    const contender = (version: Version) => {
      const found = both[version].find((each) => each.name === name);
      if (found === undefined) throw new Error(`There is no contender ${name}.`);
      return found;
    };
    const run = (version: Version, seconds: number) => {
      const { count } = contender(version);
      return measure(versions[version], contender(version), asked.slice(0, count), { seconds });
    };
    for (const version of ['this', 'other'] as const) await run(version, WARM_UP_SECONDS);
    const pairs: Pair[] = [];
    for (let pair = 0; pair < Number(values.pairs); pair += 1) {
      const order: Version[] = pair % 2 === 0 ? ['this', 'other'] : ['other', 'this'];
      const measured = new Map<Version, Measured>();
      for (const version of order) measured.set(version, await run(version, 5));
      const [one, two] = [measured.get('this'), measured.get('other')];
      if (one === undefined || two === undefined) throw new Error('A version was not measured.');
      pairs.push({ this: one, other: two });
      print(`${name}: ${described({ this: one, other: two })}`);
    }
    print(`${name}, median of ${pairs.length}: ${medians(pairs)}`);
  }
}

function described(pair: Pair): string {
  const one = (version: Version) => {
    const { cpu, rate, wrong } = pair[version];
    return `${version} ${cpu.api.toFixed(0)} µs of API CPU, ${rate.toFixed(0)}/s${wrong > 0 ? `, ${wrong} WRONG` : ''}`;
  };
  return `${one('this')}; ${one('other')}`;
}

function medians(pairs: readonly Pair[]): string {
  const of = (read: (pair: Pair) => number) => median(pairs.map(read));
  return (
    `this ${of((pair) => pair.this.cpu.api).toFixed(0)} µs, other ${of((pair) => pair.other.cpu.api).toFixed(0)} µs, ` +
    `difference ${of((pair) => pair.this.cpu.api - pair.other.cpu.api).toFixed(0)} µs, ` +
    `rate ${of((pair) => pair.this.rate / pair.other.rate).toFixed(2)}`
  );
}

if (values.other === undefined) {
  process.stderr.write('npm run bench versions -- --other CHECKOUT [--rows N] [--pairs N]\n');
  process.exitCode = 1;
} else {
  await main(values.other);
}
