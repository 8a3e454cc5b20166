/** @long @room clients */
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { runProgram } from '../../scripts/processes.ts';
import scenariosJson from '../mcp-conformance/scenarios.json' with { type: 'json' };
import { installedPackages } from '../support/npm-packages.ts';
import { sharedService } from '../support/shared-service.ts';

const PACKAGES = resolve(import.meta.dirname, '../mcp-conformance');

const names = z.array(z.string()).min(1);

/** Which scenarios of the protocol's conformance suite apply to this server, and why the others do not. */
const scenarioLists = z.strictObject({
  runs: z.array(
    z.strictObject({
      ...{ name: z.string(), package: z.string(), apply: names },
      /** The parameters that run these scenarios, and those that list them. */
      ...{ select: z.array(z.string()), list: z.array(z.string()) },
    }),
  ),
  doNotApply: z.array(z.strictObject({ reason: z.string().min(1), scenarios: names })),
  /** Checks that fail in scenarios that apply. */
  exceptions: z.array(z.strictObject({ scenario: z.string(), reason: z.string().min(1), checks: names })),
});

type Run = z.output<typeof scenarioLists>['runs'][number];

const { runs, doNotApply, exceptions } = scenarioLists.parse(scenariosJson);
const NOT_APPLYING = doNotApply.flatMap(({ scenarios }) => scenarios);

/** A check that nearly all scenarios make of responses. */
const NEXT_LINE = 'conformance-alpha';
const WIRE_SCHEMA = 'wire-schema-valid';

const checksFile = z.array(
  z.object({
    id: z.string(),
    status: z.enum(['SUCCESS', 'FAILURE', 'WARNING', 'SKIPPED', 'INFO']),
    errorMessage: z.string().optional(),
  }),
);

type Check = z.output<typeof checksFile>[number];

const service = await sharedService();
const installed = await installedPackages(PACKAGES);

function conformanceProgram(run: Run, ...parameters: string[]) {
  const program = join(installed, 'node_modules', run.package, 'dist/index.js');
  return runProgram([process.execPath, program, ...parameters], { cwd: service.environment.folder });
}

/** The server scenarios that the suite lists. */
async function listed(run: Run): Promise<string[]> {
  const { stdout } = await conformanceProgram(run, 'list', '--server', ...run.list);
  const [, section = ''] = /^Server scenarios.*\n((?: {2}- .*\n)*)/m.exec(stdout) ?? [];
  return [...section.matchAll(/^ {2}- (\S+)/gm)].map(([, name = '']) => name);
}

/** Runs the scenarios and returns the checks of each. */
async function checked(run: Run): Promise<Map<string, Check[]>> {
  const url = `http://127.0.0.1:${service.environment.config.PORT}/mcp`;
  const folder = join(service.environment.folder, run.name);
  // It fails for the scenarios that do not apply.
  await conformanceProgram(run, 'server', '--url', url, ...run.select, '--output-dir', folder);
  const checks = new Map<string, Check[]>();
  for (const name of await readdir(folder)) {
    const [, scenario] = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(name) ?? [];
    if (scenario === undefined) throw new Error(`The suite made a folder of another name: ${name}`);
    const text = await readFile(join(folder, name, 'checks.json'), 'utf8');
    checks.set(scenario, checksFile.parse(JSON.parse(text)));
  }
  return checks;
}

const complaints = (checks: readonly Check[]): Check[] =>
  checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');

const exceptionsOf = (scenario: string): string[] =>
  exceptions.filter((exception) => exception.scenario === scenario).flatMap(({ checks }) => checks);

test('scenarios.json lists each scenario once, and has exceptions only for scenarios that apply', () => {
  expect(NOT_APPLYING.length).toBe(new Set(NOT_APPLYING).size);
  const applying = runs.flatMap(({ apply }) => apply);
  expect(applying).toEqual(expect.arrayContaining(exceptions.map(({ scenario }) => scenario)));
});

describe.each(runs)('the conformance suite: $name', (run) => {
  let suite: string[];
  let results: Map<string, Check[]>;

  beforeAll(async () => {
    suite = await listed(run);
    results = await checked(run);
  });

  test('has exactly the scenarios that scenarios.json lists', () => {
    expect(suite.length).toBeGreaterThan(run.apply.length);
    expect(suite).toEqual(expect.arrayContaining(run.apply));
    expect(suite.filter((name) => !run.apply.includes(name) && !NOT_APPLYING.includes(name))).toEqual([]);
    expect(suite.filter((name) => !results.has(name))).toEqual([]);
  });

  test.each(run.apply)('passes: %s', (scenario) => {
    const checks = results.get(scenario) ?? [];
    const excepted = exceptionsOf(scenario);
    expect(complaints(checks).filter(({ id }) => !excepted.includes(id))).toEqual([]);
    const ids = complaints(checks).map(({ id }) => id);
    expect(ids.toSorted()).toEqual(excepted.toSorted());
    const success = { status: 'SUCCESS', id: expect.not.stringMatching(WIRE_SCHEMA) };
    expect(checks).toContainEqual(expect.objectContaining(success));
  });

  if (run.package === NEXT_LINE) {
    test('every response, even to an invalid request, fits the protocol’s schema', () => {
      const ofAnswers = [...results].flatMap(([scenario, checks]) =>
        checks.filter(({ id }) => id === WIRE_SCHEMA).map((check) => ({ scenario, ...check })),
      );
      expect(ofAnswers.length).toBeGreaterThan(run.apply.length);
      expect(ofAnswers.filter(({ status }) => status !== 'SUCCESS')).toEqual([]);
    });
  }
});

test('every excluded scenario is still in one of the suites', async () => {
  const lists = await Promise.all(runs.map(listed));
  expect(lists.flat()).toEqual(expect.arrayContaining(NOT_APPLYING));
});
