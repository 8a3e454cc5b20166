import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { z } from 'zod';
import { originLine, readResult } from '../result.ts';
import { capacityText, lookupsChart, lookupsReport, lookupsText, mcpReport, mcpText } from './lookups.ts';
import { matchingCostText, matchingHabitsText, matchingMistakesText, matchingReport } from './matching.ts';
import { changesReport, changesText, publishReport, publishText } from './publish.ts';
import { rivalsReport, rivalsText } from './rivals.ts';
import { rostersReport, rostersSummary, rostersText } from './rosters.ts';
import { websiteReport, websiteText } from './website.ts';
import { zeroGapReport, zeroGapText } from './zero-gap.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PERFORMANCE = 'docs/performance.md';
const MATCHING = 'docs/matching.md';

/** A text made from a report whose shape is checked first. */
function of<Schema extends z.ZodType>(schema: Schema, text: (report: z.output<Schema>) => string) {
  return (report: unknown) => text(schema.parse(report));
}

/** A part of a document that is made from a raw result of docs/performance. */
interface Block {
  /** In its markers, `<!-- measured: NAME -->` and `<!-- end: NAME -->`. */
  readonly name: string;
  readonly document: string;
  readonly text: (report: unknown) => string;
  /** Another result than that of the block's name; when and on what it was measured is told elsewhere. */
  readonly partOf?: string;
}

const BLOCKS: readonly Block[] = [
  { name: 'lookups', document: PERFORMANCE, text: of(lookupsReport, lookupsText) },
  {
    name: 'rosters-summary',
    document: PERFORMANCE,
    text: of(rostersReport, rostersSummary),
    partOf: 'rosters',
  },
  { name: 'rivals', document: PERFORMANCE, text: of(rivalsReport, rivalsText) },
  { name: 'mcp', document: PERFORMANCE, text: of(mcpReport, mcpText) },
  { name: 'website', document: PERFORMANCE, text: of(websiteReport, websiteText) },
  { name: 'publish', document: PERFORMANCE, text: of(publishReport, publishText) },
  { name: 'zero-gap', document: PERFORMANCE, text: of(zeroGapReport, zeroGapText) },
  { name: 'changes', document: PERFORMANCE, text: of(changesReport, changesText) },
  { name: 'rosters', document: 'docs/performance/rosters.md', text: of(rostersReport, rostersText) },
  {
    ...{ name: 'capacity', document: 'docs/deployment.md', partOf: 'lookups' },
    text: of(lookupsReport, capacityText),
  },
  { name: 'matching', document: MATCHING, text: of(matchingReport, matchingHabitsText) },
  {
    ...{ name: 'matching-mistakes', document: MATCHING, partOf: 'matching' },
    text: of(matchingReport, matchingMistakesText),
  },
  {
    ...{ name: 'matching-cost', document: MATCHING, partOf: 'matching' },
    text: of(matchingReport, matchingCostText),
  },
];

/** A file that consists of a chart alone. */
const CHART = { path: 'docs/performance/lookups.svg', text: of(lookupsReport, lookupsChart) };

/** The documents and the chart as the raw results make them: their text by path. */
export async function generatedFiles(): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const { name, document, text, partOf } of BLOCKS) {
    const path = resolve(ROOT, document);
    const before = files.get(path) ?? (await readFile(path, 'utf8'));
    const { origin, report } = await readResult(partOf ?? name);
    const parts = partOf === undefined ? [originLine(origin), text(report)] : [text(report)];
    files.set(path, withBlock(before, name, parts.join('\n\n')));
  }
  files.set(resolve(ROOT, CHART.path), CHART.text((await readResult('lookups')).report));
  return files;
}

/** @throws {Error} when the document does not have both markers of the block */
function withBlock(document: string, name: string, text: string): string {
  const [start, end] = [`<!-- measured: ${name} -->`, `<!-- end: ${name} -->`];
  const [from, to] = [document.indexOf(start), document.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`A document does not have ${start} and ${end}.`);
  return `${document.slice(0, from + start.length)}\n\n${text}\n\n${document.slice(to)}`;
}
