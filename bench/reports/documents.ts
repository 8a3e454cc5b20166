import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { z } from 'zod';
import { originLine, readResult } from '../results/result.ts';
import { changesReport, changesText } from './changes.ts';
import { capacityText, lookupsChart, lookupsReport, lookupsText } from './lookups.ts';
import { matchingCostText, matchingHabitsText, matchingMistakesText, matchingReport } from './matching.ts';
import { mcpReport, mcpText } from './mcp.ts';
import { publishReport, publishText } from './publish.ts';
import { rivalsReport, rivalsText } from './rivals.ts';
import { rostersReport, rostersSummary, rostersText } from './rosters.ts';
import { websiteReport, websiteText } from './website.ts';
import { zeroGapReport, zeroGapText } from './zero-gap.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PERFORMANCE = 'docs/performance.md';
const MATCHING = 'docs/matching.md';

/** A part of a document that is made from a raw result. */
interface Block {
  readonly document: string;
  /** The name of the result in docs/performance. */
  readonly result: string;
  /** Whether the text begins with when and on what it was measured. */
  readonly hasOrigin: boolean;
  readonly text: (report: unknown) => string;
}

/** A text made from a report whose shape is checked first. */
function of<Schema extends z.ZodType>(schema: Schema, text: (report: z.output<Schema>) => string) {
  return (report: unknown) => text(schema.parse(report));
}

/** The blocks by the name in their markers, `<!-- measured: NAME -->` and `<!-- end: NAME -->`. */
const BLOCKS: Readonly<Record<string, Block>> = {
  lookups: {
    document: PERFORMANCE,
    result: 'lookups',
    hasOrigin: true,
    text: of(lookupsReport, lookupsText),
  },
  capacity: {
    document: 'docs/deployment.md',
    result: 'lookups',
    hasOrigin: false,
    text: of(lookupsReport, capacityText),
  },
  'rosters-summary': {
    document: PERFORMANCE,
    result: 'rosters',
    hasOrigin: false,
    text: of(rostersReport, rostersSummary),
  },
  rosters: {
    document: 'docs/performance/rosters.md',
    result: 'rosters',
    hasOrigin: true,
    text: of(rostersReport, rostersText),
  },
  rivals: {
    document: PERFORMANCE,
    result: 'rivals',
    hasOrigin: true,
    text: of(rivalsReport, rivalsText),
  },
  mcp: { document: PERFORMANCE, result: 'mcp', hasOrigin: true, text: of(mcpReport, mcpText) },
  website: {
    document: PERFORMANCE,
    result: 'website',
    hasOrigin: true,
    text: of(websiteReport, websiteText),
  },
  publish: {
    document: PERFORMANCE,
    result: 'publish',
    hasOrigin: true,
    text: of(publishReport, publishText),
  },
  'zero-gap': {
    document: PERFORMANCE,
    result: 'zero-gap',
    hasOrigin: true,
    text: of(zeroGapReport, zeroGapText),
  },
  changes: {
    document: PERFORMANCE,
    result: 'changes',
    hasOrigin: true,
    text: of(changesReport, changesText),
  },
  'matching-habits': {
    document: MATCHING,
    result: 'matching',
    hasOrigin: true,
    text: of(matchingReport, matchingHabitsText),
  },
  'matching-mistakes': {
    document: MATCHING,
    result: 'matching',
    hasOrigin: false,
    text: of(matchingReport, matchingMistakesText),
  },
  'matching-cost': {
    document: MATCHING,
    result: 'matching',
    hasOrigin: false,
    text: of(matchingReport, matchingCostText),
  },
};

/** Files that consist of a chart alone. */
const CHARTS: Readonly<Record<string, Pick<Block, 'result' | 'text'>>> = {
  'docs/performance/lookups.svg': { result: 'lookups', text: of(lookupsReport, lookupsChart) },
};

/** The documents and charts as the raw results make them: their text by path. */
export async function generatedFiles(): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const [name, block] of Object.entries(BLOCKS)) {
    const path = resolve(ROOT, block.document);
    const before = files.get(path) ?? (await readFile(path, 'utf8'));
    const { origin, report } = await readResult(block.result);
    const parts = [...(block.hasOrigin ? [originLine(origin)] : []), block.text(report)];
    files.set(path, withBlock(before, name, parts.join('\n\n')));
  }
  for (const [path, { result, text }] of Object.entries(CHARTS)) {
    files.set(resolve(ROOT, path), text((await readResult(result)).report));
  }
  return files;
}

/** @throws {Error} when the document does not have both markers of the block */
function withBlock(document: string, name: string, text: string): string {
  const [start, end] = [`<!-- measured: ${name} -->`, `<!-- end: ${name} -->`];
  const [from, to] = [document.indexOf(start), document.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`A document does not have ${start} and ${end}.`);
  return `${document.slice(0, from + start.length)}\n\n${text}\n\n${document.slice(to)}`;
}
