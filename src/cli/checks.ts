import { writeFile } from 'node:fs/promises';
import refusals from '../../data/refusals.json' with { type: 'json' };
import type { Check, LedgerEvent } from '../publications/ledger.ts';
import { markdownTable, markdownText } from './output.ts';

/** Whether a guard refuses by this check. */
export function isRefusing({ passed, accepted }: Check): boolean {
  return !passed && accepted !== true;
}

/** Whether an operator may accept what a guard refuses. */
export function isAcceptable(check: string): boolean {
  return Object.entries(refusals).some(([name, refusal]) => name === check && !('isFinal' in refusal));
}

/** What guards found, as rows of a table. */
export function checkRows(checks: readonly Check[]) {
  return checks.map(({ check: guard, board, column, before, now, measured, limit, examples = [] }) => {
    return { guard, board, column, before, now, measured, limit, examples: examples.map(exampleText) };
  });
}

/** `35.1 (Active > Inactive)`, or the number alone. */
export function exampleText({
  license_number: number,
  before,
  now,
}: NonNullable<Check['examples']>[number]): string {
  if (before === undefined && now === undefined) return number;
  return `${number} (${before ?? 'blank'} > ${now ?? 'blank'})`;
}

const CAME_CLOSE = 0.5;

/** The checks that passed, but measured more than half of the limit; the closest first. */
export function closeChecks(checks: readonly Check[]): Check[] {
  const closeness = ({ measured, limit }: Check) => (limit === 0 ? 0 : measured / limit);
  return checks
    .filter((check) => !isRefusing(check) && closeness(check) > CAME_CLOSE)
    .toSorted((one, other) => closeness(other) - closeness(one));
}

interface GuardReport extends Pick<LedgerEvent, 'publication' | 'checks' | 'values'> {
  readonly state: string;
  /** Why it was refused; or of a live one, what was accepted or forced. */
  readonly reasons?: readonly string[] | undefined;
  readonly overridden?: readonly string[];
  readonly notes?: readonly string[] | undefined;
}

/** Writes what the guards found, and the blank and unknown values, as Markdown. */
export async function writeReport(path: string, report: GuardReport): Promise<void> {
  const { publication, state, notes = [], checks = [], values = {} } = report;
  const { overridden = [], reasons = overridden } = report;
  const valueRows = Object.entries(values).flatMap(([board, { licenses, ...counts }]) => {
    const [blank, unknown] = [new Map(Object.entries(counts.blank)), new Map(Object.entries(counts.unknown))];
    return [...new Set([...blank.keys(), ...unknown.keys()])].sort().map((column) => {
      const count = blank.get(column) ?? 0;
      const percent = licenses === 0 ? '' : `${((100 * count) / licenses).toFixed(1)} %`;
      return { board, column, licenses, blank: count, 'blank %': percent, unknown: unknown.get(column) ?? 0 };
    });
  });
  const text = [
    `# Publication ${publication}: ${state.replaceAll('_', ' ')}`,
    '',
    ...[...reasons, ...notes].map((sentence) => `- ${markdownText(sentence)}`),
    ...markdownTable('What the guards refuse', checkRows(checks.filter(isRefusing))),
    ...markdownTable('What came close', checkRows(closeChecks(checks))),
    ...markdownTable('All checks', checkRows(checks)),
    ...markdownTable('Blank and unknown values', valueRows),
  ];
  await writeFile(path, `${text.join('\n')}\n`);
}
