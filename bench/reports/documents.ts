import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { z } from 'zod';
import { originLine, readResult } from '../result.ts';
import { capacityText, lookupsReport, lookupsText, mcpReport, mcpText } from './lookups.ts';
import { matchingCostText, matchingHabitsText, matchingMistakesText, matchingReport } from './matching.ts';
import { changesReport, changesText, publishReport, publishText } from './publish.ts';
import { withFigures } from './readme.ts';
import { rostersReport, rostersText } from './rosters.ts';

/** A text made from a report whose shape is checked first. */
function of<Schema extends z.ZodType>(schema: Schema, text: (report: z.output<Schema>) => string) {
  return (report: unknown) => text(schema.parse(report));
}

/** A part of a page. */
interface Section {
  readonly title: string;
  /** The raw result of docs/performance that it is made from. */
  readonly result: string;
  readonly text: (report: unknown) => string;
}

interface Page {
  readonly path: string;
  readonly title: string;
  /** The page that says what was measured, and how. */
  readonly explainedIn: string;
  readonly sections: readonly Section[];
}

const PAGES: readonly Page[] = [
  {
    path: 'docs/generated/performance.md',
    title: 'Measured performance',
    explainedIn: '[performance](../performance.md)',
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
    explainedIn: '[matching](../matching.md)',
    sections: [
      { title: 'Ways of writing', result: 'matching', text: of(matchingReport, matchingHabitsText) },
      { title: 'Mistakes', result: 'matching', text: of(matchingReport, matchingMistakesText) },
      { title: 'What a miss costs', result: 'matching', text: of(matchingReport, matchingCostText) },
    ],
  },
];

const README = 'README.md';

/** The README with the figures of the raw results. */
async function readmeText(): Promise<string> {
  const report = async (name: string) => (await readResult(name)).report;
  return withFigures(await readFile(resolve(import.meta.dirname, '../..', README), 'utf8'), {
    rosters: rostersReport.parse(await report('rosters')),
    mcp: mcpReport.parse(await report('mcp')),
    publish: publishReport.parse(await report('publish')),
  });
}

/** The pages and the README as the raw results make them: their text by their path in the checkout. */
export async function generatedFiles(): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const page of PAGES) files.set(page.path, await pageText(page));
  return files.set(README, await readmeText());
}

async function pageText({ title, explainedIn, sections }: Page): Promise<string> {
  const parts = [
    `# ${title}`,
    `\`npm run bench report\` makes this page from the raw results in [docs/performance](../performance). What is measured is explained in ${explainedIn}.`,
  ];
  let before = '';
  for (const { title, result, text } of sections) {
    const { origin, report } = await readResult(result);
    parts.push(`## ${title}`, ...(result === before ? [] : [originLine(origin)]), text(report));
    before = result;
  }
  return `${parts.join('\n\n')}\n`;
}
