import { parseArgs } from 'node:util';
import { startServices } from '../scripts/services.ts';
import { print } from '../scripts/terminal.ts';
import { type Asked, drawLicenses } from './lookups/asked.ts';
import { type McpContender, mcpContenders } from './lookups/mcp-contenders.ts';
import { inRounds, type Service, withService } from './lookups/measure.ts';
import type { Measured } from './reports/lookups.ts';
import { type McpReport, mcpText } from './reports/mcp.ts';
import { writeResult } from './results/result.ts';
import type { Rounds } from './results/rounds.ts';

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
async function compared(service: Service, contenders: readonly McpContender[]): Promise<Rounds<Measured>> {
  const { client, index } = service;
  const drawn = {
    person: await drawLicenses(client, index, { kind: 'person', count: DRAWN }),
    business: await drawLicenses(client, index, { kind: 'business', count: DRAWN }),
  };
  const drawnFor = ({ kind }: McpContender): readonly Asked[] => drawn[kind];
  return inRounds(service, contenders, { rounds, warmUpSeconds: WARM_UP_SECONDS, drawnFor });
}

async function main(): Promise<void> {
  const services = await startServices({}, (text) => process.stderr.write(`${text}\n`));
  try {
    await withService(services, Number(values.rows), async (service) => {
      const contenders = mcpContenders(service).filter(({ name }) => name.includes(values.only));
      const results = await compared(service, contenders);
      const comparedWith = Object.fromEntries(
        contenders.flatMap(({ name, rest }) => (rest === undefined ? [] : [[name, rest]])),
      );
      const report: McpReport = { rows: Number(values.rows), results, comparedWith };
      await writeResult('mcp', report, service.client);
      print(mcpText(report));
    });
  } finally {
    await services.stop();
  }
}

await main();
