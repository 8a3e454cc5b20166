import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { z } from 'zod';
import { machineLine, readResult } from '../result.ts';
import { capacityText, lookupsReport, lookupsText, mcpReport, mcpText } from './lookups.ts';
import { matchingCostText, matchingHabitsText, matchingMistakesText, matchingReport } from './matching.ts';
import { changesReport, changesText, publishReport, publishText } from './publish.ts';
import { withFigures } from './readme.ts';
import { rostersReport, rostersText } from './rosters.ts';

/** Returns a function that validates a report and makes a text from it. */
function of<Schema extends z.ZodType>(schema: Schema, text: (report: z.output<Schema>) => string) {
  return (report: unknown) => text(schema.parse(report));
}

/** A section of a page. */
interface Section {
  readonly title: string;
  /** The name of the raw result in docs/performance. */
  readonly result: string;
  readonly text: (report: unknown) => string;
}

interface Page {
  readonly path: string;
  readonly title: string;
  /** The text above the tables. */
  readonly introduction: string;
  readonly sections: readonly Section[];
}

const PERFORMANCE = `
\`npm run bench\` lists the measurements; \`npm run bench NAME -- --publish\` keeps a result. All servers and the load generator share one machine, whose speed varies; rate limits are off. So compare only figures of one table. Each is the median of several rounds in changing order; a ratio compares measurements of the same round, with the lowest and highest in brackets.

"Bare" requests go directly to OpenSearch; \`GET _doc/{id}\` and \`_mget\` need the exact number. "Tuned" is the best query that we know for a name. "Cores" is how many of the machine's were busy.

These miss their targets:

- **Numbers against \`_search\`**: a lookup costs the servers less CPU, but one API process cannot use both cores.
- **Names against the tuned query**: names share requests, which halves OpenSearch's CPU. The API spends more than that saves on comparing names, and on reading, checking and writing licenses.
- **p99 at half rate**: like that of bare \`_search\`. We found no cause in the API.
- **Misses without suggestions**: they search, while a hit is fetched by its id.
- **Rosters**, and single numbers beside them.

PostgreSQL 15 behind a thin API, with one statement for the lookups of a moment, answered about twice as many numbers a second and three times as many names (2026-11-26). An export of 1,020,729 records cost 21 µs of the API's CPU and 14 µs of OpenSearch's each; a lookup beside it waited 12 ms longer (by hand, 2026-11).

Decisions [7](../decisions/007-requests-are-shared.md), [13](../decisions/013-koa.md), [14](../decisions/014-rosters.md) and [18](../decisions/018-processor-time.md) list what was tried.
`.trim();

const MATCHING = `
4,000 licenses are looked up among 2.6 million generated rows, once for each habit of writing and each mistake. The license is **found**, **offered** in \`did_you_mean\` or **missed**. Or it is **somebody else's**, who has exactly what was typed; if a name was sent with the number, \`name_match\` is false. **Wrong** would be a license that does not have what was typed, or somebody else's with \`name_match\` true. [How lookups match](../matching.md) has the rules.

A mistyped number is often somebody else's: with two digits swapped, more than a fifth of the numbers exist. With the holder's name, almost every mistyped number leads to the right one or has \`name_match\` false.
`.trim();

const PAGES: readonly Page[] = [
  {
    path: 'docs/generated/performance.md',
    title: 'Measured performance',
    introduction: PERFORMANCE,
    sections: [
      { title: 'Lookups', result: 'lookups', text: of(lookupsReport, lookupsText) },
      { title: 'Capacity', result: 'lookups', text: of(lookupsReport, capacityText) },
      { title: 'Rosters', result: 'rosters', text: of(rostersReport, rostersText) },
      { title: 'MCP tools', result: 'mcp', text: of(mcpReport, mcpText) },
      { title: 'Publishing', result: 'publish', text: of(publishReport, publishText) },
      { title: 'Comparing with the day before', result: 'changes', text: of(changesReport, changesText) },
    ],
  },
  {
    path: 'docs/generated/matching.md',
    title: 'Measured matching',
    introduction: MATCHING,
    sections: [
      { title: 'Ways of writing', result: 'matching', text: of(matchingReport, matchingHabitsText) },
      { title: 'Mistakes', result: 'matching', text: of(matchingReport, matchingMistakesText) },
      { title: 'What a miss costs', result: 'matching', text: of(matchingReport, matchingCostText) },
    ],
  },
];

const README = 'README.md';

/** The README with the figures from the raw results. */
async function readmeText(): Promise<string> {
  const report = async (name: string) => (await readResult(name)).report;
  return withFigures(await readFile(resolve(import.meta.dirname, '../..', README), 'utf8'), {
    rosters: rostersReport.parse(await report('rosters')),
    mcp: mcpReport.parse(await report('mcp')),
    publish: publishReport.parse(await report('publish')),
  });
}

/** The texts of the pages and the README, made from the raw results, by their paths in the checkout. */
export async function generatedFiles(): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const page of PAGES) files.set(page.path, await pageText(page));
  return files.set(README, await readmeText());
}

async function pageText({ title, introduction, sections }: Page): Promise<string> {
  const parts = [
    `# ${title}`,
    `\`npm run bench report\` makes this page from the raw results in [docs/performance](../performance).`,
    introduction,
  ];
  let before = { result: '', machine: '' };
  for (const { title, result, text } of sections) {
    const { origin, report } = await readResult(result);
    const machine = machineLine(origin);
    parts.push(`## ${title}`);
    if (result !== before.result) parts.push(`\`${origin.command}\`, ${origin.measuredOn}.`);
    if (machine !== before.machine) parts.push(machine);
    parts.push(text(report));
    before = { result, machine };
  }
  return `${parts.join('\n\n')}\n`;
}
