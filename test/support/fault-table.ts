import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { readConfig } from '../../src/config.ts';
import { TABLE_VARIABLE } from './fault-record.ts';

const recordedFault = z.object({
  fault: z.string(),
  hasPassed: z.boolean(),
  seconds: z.number().optional(),
  outcome: z.string(),
});

type Seen = z.output<typeof recordedFault>;

/**
 * A reporter of jest's that prints, at the end, a table of what was broken and how it ended; the same table is
 * left in STATE_DIR/faults.md. All random moments of the run are drawn from one seed.
 */
export default class FaultTable {
  private readonly seen: string;
  private readonly table: string;

  constructor() {
    const stateDir = resolve(readConfig().STATE_DIR);
    this.seen = join(stateDir, 'faults.jsonl');
    this.table = join(stateDir, 'faults.md');
    mkdirSync(stateDir, { recursive: true });
    writeFileSync(this.seen, '');
    process.env[TABLE_VARIABLE] = this.seen;
    process.env.FAULTS_SEED ??= String(Math.floor(Math.random() * 1_000_000));
  }

  onRunComplete(): void {
    const lines = readFileSync(this.seen, 'utf8').split('\n').slice(0, -1);
    rmSync(this.seen);
    const table = faultTable(lines.map((line) => recordedFault.parse(JSON.parse(line))));
    writeFileSync(this.table, table);
    process.stdout.write(`\nRandom moments from seed ${process.env.FAULTS_SEED}.\n\n${table}\n`);
  }
}

/** One line for each fault, in the order in which they were made. */
export function faultTable(seen: readonly Seen[]): string {
  const faults = Map.groupBy(seen, ({ fault }) => fault);
  const lines = [...faults].map(([fault, all]) => {
    const passed = all.filter(({ hasPassed }) => hasPassed);
    const times = passed.length === all.length ? String(all.length) : `${passed.length} of ${all.length}`;
    const outcomes = [...new Set(passed.map(({ outcome }) => outcome))];
    if (passed.length < all.length) outcomes.push('**failed**');
    return `| ${fault} | ${times} | ${rangeOf(passed)} | ${outcomes.join('; or ')} |`;
  });
  return ['| fault | times | seconds | outcome |', '| --- | ---: | ---: | --- |', ...lines, ''].join('\n');
}

function rangeOf(seen: readonly Seen[]): string {
  const seconds = seen.flatMap((each) => each.seconds ?? []);
  if (seconds.length === 0) return '';
  const [least, most] = [Math.min(...seconds), Math.max(...seconds)].map((each) => each.toFixed(1));
  return least === most ? `${least}` : `${least} to ${most}`;
}
