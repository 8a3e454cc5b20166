import { writeFile } from 'node:fs/promises';
import type { z } from 'zod';
import type { example } from '../changes/compare.ts';
import type { Check, LedgerEvent } from '../publications/ledger.ts';
import { described } from './output.ts';

/** Whether the guard refuses the files because of this check. */
export const isRefusing = ({ passed, accepted }: Check): boolean => !passed && accepted !== true;

/** The checks as rows of a table. */
export function checkRows(checks: readonly Check[]) {
  return checks.map(({ check: guard, board, column, before, now, measured, limit, examples = [] }) => {
    return { guard, board, column, before, now, measured, limit, examples: examples.map(exampleText) };
  });
}

/** `35.1 (Active > Inactive)`, or the number alone. */
export function exampleText({ license_number, before, now }: z.output<typeof example>): string {
  return before === undefined
    ? license_number
    : `${license_number} (${before ?? 'blank'} > ${now ?? 'blank'})`;
}

const CAME_CLOSE = 0.5;

/**
 * The checks that refuse, and those that passed with more than half of the limit, the closest first. A check beyond its
 * limit that passed is neither: too few licenses are concerned.
 */
export function tellingChecks(checks: readonly Check[]) {
  const closeness = ({ passed, measured, limit }: Check) =>
    limit === 0 || (passed && measured > limit) ? 0 : measured / limit;
  const close = checks.filter((check) => !isRefusing(check) && closeness(check) > CAME_CLOSE);
  return {
    'what the guards refuse': checkRows(checks.filter(isRefusing)),
    'what came close': checkRows(close.toSorted((one, other) => closeness(other) - closeness(one))),
  };
}

type GuardReport = Pick<LedgerEvent, 'publication' | 'checks' | 'values'> & { readonly state: string };

/**
 * Writes the checks, and the counts of blank and unknown values, as Markdown. Every line is indented as code, so text
 * of the files cannot become Markdown.
 */
export async function writeReport(path: string, report: GuardReport): Promise<void> {
  const { publication, state, checks = [], values = {}, ...facts } = report;
  const valueRows = Object.entries(values).flatMap(([board, { licenses, ...kinds }]) =>
    Object.entries(kinds).flatMap(([values, counts]) => {
      const found = Object.entries(counts).filter(([, count]) => count > 0);
      const percent = (count: number) => `${((100 * count) / licenses).toFixed(1)} %`;
      return found.map(([column, count]) => {
        return { board, column, values, count, licenses, percent: percent(count) };
      });
    }),
  );
  const tables = { 'all checks': checkRows(checks), 'blank and unknown values': valueRows };
  const lines = described({ ...facts, ...tellingChecks(checks), ...tables }).map((line) => `    ${line}`);
  const title = `# Publication ${publication}: ${state.replaceAll('_', ' ')}`;
  await writeFile(path, `${[title, '', ...lines].join('\n')}\n`);
}
