import { z } from 'zod';
import { idsInName } from '../test/support/requirement-ids.ts';

/** What is read of Jest's report (`--json`). */
export const testReport = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  numTodoTests: z.number(),
  numRuntimeErrorTestSuites: z.number(),
  testResults: z.array(
    z.object({ assertionResults: z.array(z.object({ title: z.string(), status: z.string() })) }),
  ),
});

export type TestReport = z.output<typeof testReport>;

/** The entries of `requirements` that no test verified which ran and passed, as `id: sentence`. */
export function unverifiedRequirements(
  { testResults }: TestReport,
  requirements: Readonly<Record<string, string>>,
): string[] {
  const passed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'passed');
  const verified = new Set(passed.flatMap(({ title }) => idsInName(title)));
  return Object.entries(requirements).flatMap(([id, sentence]) =>
    verified.has(id) ? [] : [`${id}: ${sentence}`],
  );
}
