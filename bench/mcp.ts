import { parseArgs } from 'node:util';
import { startServices } from '../scripts/services.ts';
import { print } from '../scripts/terminal.ts';
import { type Asked, drawLicenses } from './lookups/asked.ts';
import { type McpContender, mcpContenders } from './lookups/mcp-contenders.ts';
import { inRounds, type Service, withService } from './lookups/measure.ts';
import { type Measured, medianOf, type Results, ratios, tableOf } from './lookups/report.ts';
import { median } from './median.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    rows: { type: 'string', default: '2600000' },
    rounds: { type: 'string', default: '3' },
    /** Measures only the contenders with this in their name. */
    only: { type: 'string', default: '' },
  },
});
const rounds = Number(values.rounds);

/** More than all rounds ask for, and a warm-up. */
const DRAWN = 60_000;
/** All contenders warm the same API. */
const WARM_UP_SECONDS = 10;

/** Each contender in turn; over few rows, of fewer licenses than it asks for otherwise. */
async function compared(service: Service, contenders: readonly McpContender[]): Promise<Results> {
  const { client, index } = service;
  const drawn = {
    person: await drawLicenses(client, index, { kind: 'person', count: DRAWN }),
    business: await drawLicenses(client, index, { kind: 'business', count: DRAWN }),
  };
  const drawnFor = ({ kind }: McpContender): readonly Asked[] => drawn[kind];
  const few = contenders.map((contender) => ({
    ...contender,
    count: Math.min(contender.count, Math.floor(drawnFor(contender).length / rounds)),
  }));
  return inRounds(service, few, { rounds, warmUpSeconds: WARM_UP_SECONDS, drawnFor });
}

/** The median of the rounds, and their range. */
function againstRest(results: Results, { name, rest = '' }: McpContender): string {
  if (!results.has(rest)) return '';
  const each = ratios(results, name, rest);
  const [least, most] = [Math.min(...each), Math.max(...each)];
  return `${median(each).toFixed(2)} × (${least.toFixed(2)} to ${most.toFixed(2)})`;
}

function tableRow(results: Results, contender: McpContender): string[] {
  const { name } = contender;
  const value = (of: (measured: Measured) => number, digits = 0) =>
    medianOf(results, name, of).toFixed(digits);
  const wrong = (results.get(name) ?? []).reduce((sum, measured) => sum + measured.wrong, 0);
  return [
    name,
    value(({ rate }) => rate),
    value(({ p50 }) => p50, 1),
    value(({ p99 }) => p99, 1),
    value(({ cpu }) => cpu.api),
    value(({ cpu }) => cpu.openSearch),
    value(({ bytes, answers }) => bytes / answers),
    againstRest(results, contender),
    String(wrong),
  ];
}

const HEAD = [
  'asked',
  'calls a second',
  'p50 ms',
  'p99 ms',
  'CPU µs API',
  'CPU µs OpenSearch',
  'bytes',
  'against REST',
  'wrong',
];

async function main(): Promise<void> {
  const services = await startServices({}, (text) => process.stderr.write(`${text}\n`));
  try {
    await withService(services, Number(values.rows), async (service) => {
      const contenders = mcpContenders(service).filter(({ name }) => name.includes(values.only));
      const results = await compared(service, contenders);
      const rows = contenders.map((contender) => tableRow(results, contender));
      print(`\n${tableOf(HEAD, rows)}`);
    });
  } finally {
    await services.stop();
  }
}

await main();
