import { writeFile } from 'node:fs/promises';
import refusals from '../../data/refusals.json' with { type: 'json' };
import type { Check, LedgerEvent } from '../publications/ledger.ts';
import { grouped, printable, table } from './output.ts';

/** Whether a guard refuses by this check. */
export function isRefusing({ passed, accepted }: Check): boolean {
  return !passed && accepted !== true;
}

const FINAL: ReadonlySet<string> = new Set(
  Object.entries(refusals).flatMap(([name, refusal]) => ('isFinal' in refusal ? [name] : [])),
);

/** Whether an operator may accept what a guard refuses. */
export function isAcceptable(check: string): boolean {
  return Object.hasOwn(refusals, check) && !FINAL.has(check);
}

const HEADINGS = ['GUARD', 'BOARD', 'COLUMN', 'BEFORE', 'NOW', 'MEASURED', 'LIMIT', 'EXAMPLES'] as const;

export function checkTable(checks: readonly Check[]): string[] {
  return table(HEADINGS, checks.map(cells));
}

function cells({ check, board, column, before, now, measured, limit, examples = [] }: Check): string[] {
  const count = (value: number | undefined) => (value === undefined ? '' : grouped(value));
  return [
    ...[check, board ?? '', column ?? ''],
    ...[before, now, measured, limit].map(count),
    examples.map(exampleText).join('; '),
  ];
}

/** `35.1 (Active > Inactive)`, or the number alone. */
export function exampleText({
  license_number: number,
  ...values
}: NonNullable<Check['examples']>[number]): string {
  if (values.before === undefined && values.now === undefined) return number;
  return `${number} (${values.before ?? 'blank'} > ${values.now ?? 'blank'})`;
}

const CAME_CLOSE = 0.5;

/** The checks that passed, but measured more than half of the limit; the closest first. */
export function closeChecks(checks: readonly Check[]): Check[] {
  const closeness = ({ measured, limit }: Check) => (limit === 0 ? 0 : measured / limit);
  return checks
    .filter((check) => !isRefusing(check) && closeness(check) > CAME_CLOSE)
    .toSorted((one, other) => closeness(other) - closeness(one));
}

interface Reported {
  readonly publication: string;
  readonly state: string;
  /** Why it was refused, or what was accepted or forced. */
  readonly reasons?: readonly string[] | undefined;
  readonly notes?: readonly string[] | undefined;
  readonly checks?: readonly Check[] | undefined;
  readonly values?: LedgerEvent['values'] | undefined;
}

/** Writes what the guards found, and the blank and unknown values, as Markdown. */
export async function writeReport(path: string, result: Reported): Promise<void> {
  const { publication, state, reasons = [], notes = [], checks = [], values = {} } = result;
  const rows = Object.entries(values).flatMap(([board, { licenses, ...counts }]) => {
    const blank = new Map(Object.entries(counts.blank));
    const unknown = new Map(Object.entries(counts.unknown));
    return [...new Set([...blank.keys(), ...unknown.keys()])].sort().map((column) => {
      const count = blank.get(column) ?? 0;
      const percent = licenses === 0 ? '' : `${((100 * count) / licenses).toFixed(1)} %`;
      return [board, column, grouped(licenses), grouped(count), percent, grouped(unknown.get(column) ?? 0)];
    });
  });
  const text = [
    `# Publication ${publication}: ${state.replaceAll('_', ' ')}`,
    ...list(reasons),
    ...list(notes),
    ...section('What the guards refuse', HEADINGS, checks.filter(isRefusing).map(cells)),
    ...section('What came close', HEADINGS, closeChecks(checks).map(cells)),
    ...section('All checks', HEADINGS, checks.map(cells)),
    ...section(
      'Blank and unknown values',
      ['BOARD', 'COLUMN', 'LICENSES', 'BLANK', 'BLANK %', 'UNKNOWN'],
      rows,
    ),
  ];
  await writeFile(path, `${text.join('\n')}\n`);
}

function list(sentences: readonly string[]): string[] {
  return sentences.length === 0 ? [] : ['', ...sentences.map((sentence) => `- ${cell(sentence)}`)];
}

function section(title: string, headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const line = (row: readonly string[]) => `| ${row.map(cell).join(' | ')} |`;
  return ['', `## ${title}`, '', line(headings), line(headings.map(() => '---')), ...rows.map(line)];
}

/** Text from the files: no character of it is Markdown or HTML. */
function cell(text: string): string {
  return printable(text).replace(/[\\`*_[\]<>|#]/g, '\\$&');
}
