import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { markdownTable } from '../../scripts/markdown-table.ts';
import { readConfig } from '../../src/config.ts';

/** The environment variable that names the file in which the tests note what they saw of each fault. */
export const TABLE_VARIABLE = 'FAULTS_SEEN';

/** What one test saw of one fault: a line of JSON. */
const recordedFault = z.object({
  fault: z.string(),
  hasPassed: z.boolean(),
  /** What the fault hit: the step of a publication, or how many requests. */
  hit: z.string(),
  /** From the fault to the end of what it disturbed. */
  seconds: z.number().optional(),
  /** How it ended, beside what is checked after every fault. */
  outcome: z.string(),
});

export type RecordedFault = z.output<typeof recordedFault>;

/** Where a page that a run has left stands in the checkout, once somebody has copied it there. */
export const FAULTS_PAGE = 'docs/generated/faults.md';

/**
 * Prints what was broken and how it ended after the last test, and leaves the page in STATE_DIR/faults.md.
 */
export default class FaultTable {
  private readonly seen: string;
  private readonly page: string;

  constructor() {
    const stateDir = resolve(readConfig().STATE_DIR);
    this.seen = join(stateDir, 'faults.jsonl');
    this.page = join(stateDir, 'faults.md');
    mkdirSync(stateDir, { recursive: true });
    writeFileSync(this.seen, '');
    process.env[TABLE_VARIABLE] = this.seen;
  }

  onRunComplete(): void {
    const lines = readFileSync(this.seen, 'utf8').split('\n').slice(0, -1);
    rmSync(this.seen);
    const rows = faultRows(lines.map((line) => recordedFault.parse(JSON.parse(line))));
    const page = faultsPage(new Date().toISOString().slice(0, 10), String(availableParallelism()), rows);
    writeFileSync(this.page, page);
    process.stdout.write(`\n${page}\n`);
  }
}

/** The page as Markdown, with the day (`2026-11-22`) and the cores of the machine. */
export function faultsPage(day: string, cores: string, rows: readonly (readonly string[])[]): string {
  return `# What was broken on purpose

\`npm run test:long\` breaks the real OpenSearch, Redis, workers and API processes during publications, lookups, exports and webhook deliveries. It prints this page and leaves it in \`.local/faults.md\`; this one is of ${day}, on ${cores} cores. A test fails if its fault hit nothing. After each fault during a publication, the alias must have one complete publication. A row of several tests has ranges.

${markdownTable(['fault', 'times', 'what it hit', 'seconds', 'outcome'], rows)}
`;
}

/** The cells of one line for each fault, in the order in which they were made. */
export function faultRows(seen: readonly RecordedFault[]): string[][] {
  const faults = Map.groupBy(seen, ({ fault }) => fault);
  return [...faults].map(([fault, all]) => {
    const passed = all.filter(({ hasPassed }) => hasPassed);
    const times = passed.length === all.length ? String(all.length) : `${passed.length} of ${all.length}`;
    const outcomes = [summarized(passed.map(({ outcome }) => outcome))];
    if (passed.length < all.length) outcomes.push('**failed**');
    const seconds = summarized(passed.flatMap((each) => each.seconds?.toFixed(1) ?? []));
    const hits = summarized(passed.map(({ hit }) => hit));
    return [fault, times, hits, seconds, outcomes.filter((each) => each !== '').join('; or ')];
  });
}

const NUMBER = /\d[\d,]*(?:\.\d+)?/g;

/**
 * Texts that differ in their numbers alone become one text with ranges; where several remain, each says how often it
 * was seen.
 */
function summarized(texts: readonly string[]): string {
  const alike = [...Map.groupBy(texts, (text) => text.replace(NUMBER, '#')).values()];
  return alike
    .map((each) => (alike.length > 1 ? `${ranged(each)} (${each.length} of ${texts.length})` : ranged(each)))
    .join('; or ');
}

/** One text for texts that differ in their numbers alone. */
function ranged(texts: readonly string[]): string {
  const numbers = texts.map((text) => text.match(NUMBER) ?? []);
  let place = -1;
  return (texts[0] ?? '').replace(NUMBER, () => {
    place += 1;
    const seen = numbers
      .flatMap((each) => each[place] ?? [])
      .sort((one, other) => numberIn(one) - numberIn(other));
    const [least = '', most = ''] = [seen[0], seen.at(-1)];
    return least === most ? least : `${least} to ${most}`;
  });
}

function numberIn(number: string): number {
  return Number(number.replaceAll(',', ''));
}
