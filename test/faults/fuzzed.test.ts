/** @long @room clients */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { describeUnless } from '../support/describe-unless.ts';
import { installedRequirements, NO_PYTHON, runPython } from '../support/python.ts';
import { seriesAt } from '../support/series.ts';
import { startService, type TestService } from '../support/service.ts';

const SETTINGS = join(import.meta.dirname, 'fuzzed.toml');
const HOOKS = join(import.meta.dirname, 'fuzzed_hooks.py');
const REQUIREMENTS = join(import.meta.dirname, '../python/requirements.txt');
const SEED = 20_261_120;
const CASES_OF_EACH = 4000;
const CASES_AT_LEAST = 10_000;
/** Three times what all cases take on a machine with nothing beside them. */
const WITHIN_MS = 3_600_000;

/** The part of the report that this test reads. */
const report = z.object({
  complete: z.boolean(),
  test_cases: z.object({ generated: z.number() }),
  failures: z.array(z.object({ title: z.string(), operations: z.array(z.string()) })),
  errors: z.array(z.object({ title: z.string() })),
  /** The warnings of each kind. */
  warnings: z.record(z.string(), z.array(z.unknown())),
});

let service: TestService;

/** Sends requests that the OpenAPI document allows and others, in every phase, with every check of the responses. */
async function fuzz(): Promise<z.output<typeof report>> {
  const { environment, rest } = service;
  const reportFile = join(environment.folder, 'fuzzed.json');
  const { code, output } = await runPython(
    await installedRequirements(REQUIREMENTS),
    [
      ...['-m', 'schemathesis.cli', `--config-file=${SETTINGS}`, '--no-color', 'run'],
      ...[`http://127.0.0.1:${environment.config.PORT}/openapi.json`, `--header=X-API-Key: ${rest.key}`],
      ...[`--seed=${SEED}`, `--max-examples=${CASES_OF_EACH}`, '--phases=examples,coverage,fuzzing,stateful'],
      ...['--checks=all', '--continue-on-failure', '--generation-database=none'],
      ...['--report=json', `--report-json-path=${reportFile}`],
    ],
    {
      cwd: environment.folder,
      withinMs: WITHIN_MS,
      variables: { SCHEMATHESIS_HOOKS: HOOKS, PYTHONDONTWRITEBYTECODE: '1' },
    },
  );
  if (code !== 0) throw new Error(output);
  return report.parse(JSON.parse(await readFile(reportFile, 'utf8')));
}

/** The service's own counts of requests by outcome. */
async function outcomes(): Promise<Record<string, number>> {
  const series = [...(await seriesAt(service.environment.config.ADMIN_PORT))];
  const counts = series.map(([name, count]) => [OUTCOME.exec(name)?.[1] ?? '', count] as const);
  return Object.fromEntries(counts.filter(([outcome]) => outcome !== ''));
}

const OUTCOME = /^licenses_request_seconds_count\{interface="rest",outcome="(\w+)"\}$/;

describeUnless(NO_PYTHON, 'the REST API', () => {
  beforeAll(async () => {
    service = await startService({
      settings: {
        WEBHOOK_SECRET_KEY: 'a secret key of the tests, of 32 characters and more',
        WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8',
      },
    });
  });

  test(
    'requests generated from the OpenAPI document',
    async () => {
      const { complete, test_cases, failures, errors, warnings } = await fuzz();
      expect([complete, failures, errors, Object.values(warnings).flat()]).toEqual([true, [], [], []]);
      expect(test_cases.generated).toBeGreaterThanOrEqual(CASES_AT_LEAST);
      const ended = await outcomes();
      const outcomesSeen = ['found', 'several', 'none', 'answered', 'refused', 'unauthorized'];
      expect(Object.keys(ended)).toEqual(expect.arrayContaining(outcomesSeen));
      expect([ended.failed, ended.unavailable]).toEqual([0, 0]);
      // The other cases are requests to paths outside REST.
      const served = Object.values(ended).reduce((sum, count) => sum + count, 0);
      expect(served).toBeGreaterThanOrEqual(CASES_AT_LEAST / 2);
    },
    1.5 * WITHIN_MS,
  );
});
