import { print } from '../scripts/processes.ts';
import { drawLicenses } from './load/asked.ts';
import { mcpContenders } from './load/mcp-contenders.ts';
import { inRounds } from './load/measure.ts';
import { ALL_ROWS, number, optionsOf, text } from './options.ts';
import { type McpReport, mcpText } from './reports/lookups.ts';
import { writeResult } from './result.ts';
import { withService } from './service.ts';

const {
  rows,
  rounds,
  only = '',
} = optionsOf({
  rows: number(ALL_ROWS),
  rounds: number(3),
  /** Measures only contenders whose names contain this text. */
  only: text,
});

/** Enough licenses for all rounds and a warm-up. */
const DRAWN = 60_000;
/** The warm-up can be short, because all contenders warm up the same API. */
const WARM_UP_SECONDS = 10;

await withService(rows, async (service) => {
  const { client, index } = service;
  const contenders = mcpContenders(service).filter(({ name }) => name.includes(only));
  const drawn = {
    person: await drawLicenses(client, index, { kind: 'person', count: DRAWN }),
    business: await drawLicenses(client, index, { kind: 'business', count: DRAWN }),
  };
  const results = await inRounds(contenders, {
    rounds,
    warmUpSeconds: WARM_UP_SECONDS,
    drawnFor: ({ kind }) => drawn[kind],
  });
  const comparedWith = Object.fromEntries(
    contenders.flatMap(({ name, rest }) => (rest === undefined ? [] : [[name, rest]])),
  );
  const report: McpReport = { rows, results, comparedWith };
  await writeResult('mcp', report, client);
  print(mcpText(report));
});
