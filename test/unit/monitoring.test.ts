import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { apiMetrics } from '../../scripts/metrics-page.ts';
import { runProgram } from '../../scripts/processes.ts';
import { OUTCOMES } from '../../src/access/usage.ts';
import '../../src/mcp/tools.ts';
import { todayInOhio } from '../../src/licenses/dates.ts';
import { PUBLICATION_STATES } from '../../src/publications/ledger.ts';
import { workerMetrics } from '../../workers/admin.ts';
import { DELIVERY_OUTCOMES } from '../../workers/webhooks/delivery.ts';
import { describeUnless, missing } from '../support/describe-unless.ts';
import { anchorsIn, documentText } from '../support/documented.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const FOLDER = resolve(import.meta.dirname, '../../deploy/prometheus');
const OPERATIONS = 'docs/operations.md';
const RULES = documentText('deploy/prometheus/rules.yml');
const RULE_TESTS = ['rules.test.yml', 'rules-days.test.yml'];
const TESTED = RULE_TESTS.map((file) => documentText(`deploy/prometheus/${file}`)).join('\n');
const DASHBOARD = documentText('deploy/grafana/dashboard.json');

/** The alerts with their runbooks. */
const ALERTS = new Map(
  [...RULES.matchAll(/- alert: (\w+)$.*?runbook: (\S+)$/gms)].map(([, alert = '', runbook = '']) => [
    alert,
    runbook,
  ]),
);

const folder = temporaryFolder();

describeUnless(missing('promtool', 'prometheus'), 'promtool', () => {
  test.each([
    ['check', ['rules.yml']],
    ['test', RULE_TESTS],
  ])('finds nothing wrong: promtool %s rules %j', async (command, files) => {
    const { code, output } = await runProgram(['promtool', command, 'rules', ...files], { cwd: FOLDER });
    expect([code, output]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });

  test('can read the expressions of the dashboard', async () => {
    const expressions = [...DASHBOARD.matchAll(/"expr": (".*")/g)].map(([, expression = '']) =>
      expression.replaceAll('$__rate_interval', '5m'),
    );
    const rules = expressions.map((expression, at) => `{ record: "panel:${at}", expr: ${expression} }`);
    await writeFile(folder.path('panels.yml'), `groups: [{ name: panels, rules: [${rules.join()}] }]`);
    const { output } = await runProgram(['promtool', 'check', 'rules', folder.path('panels.yml')]);
    expect(output).toContain(`SUCCESS: ${expressions.length} rules found`);
  });
});

/** What `/metrics` of the API and of the worker show. */
const PUBLISHED = { lastEvents: new Map([['live', 0]]), live: { date: '2026-11-22', withheld: 0 } };
const ofWorker = await workerMetrics().text(PUBLISHED, { waiting: 0 }, { paused: 0, since: 0 });
const shown = `${await apiMetrics.metrics()}\n${ofWorker}`;

/** The series that can be asked for: those of the metrics, and those that the rules record. */
const SERIES = new Set([
  ...[...shown.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? ['bucket', 'sum', 'count'].map((suffix) => `${name}_${suffix}`) : [name],
  ),
  ...[...RULES.matchAll(/- record: (\S+)/g)].map(([, name]) => name),
]);

/** The values that a label can have, where the code lists them. */
const VALUES = new Map<string, readonly string[]>([
  ['interface', ['rest', 'mcp', 'web']],
  ['outcome', [...OUTCOMES, ...DELIVERY_OUTCOMES]],
  ['state', [...PUBLICATION_STATES, 'waiting', 'active', 'delayed']],
  ['reason', ['address', 'all', 'slow', 'memory']],
]);

/** Labels that Prometheus adds, and labels with free values. */
const OTHER_LABELS = ['job', 'instance', 'le', 'tool', 'board'];

describe.each([
  ['rules.yml', RULES],
  ['the tests of rules.yml', TESTED],
  ['dashboard.json', DASHBOARD.replaceAll('\\"', '"')],
])('%s names', (_, text) => {
  test('series that the code has', () => {
    const named = new Set(text.match(/\blicenses[_:][\w:]+/g));
    expect(named.size).toBeGreaterThan(10);
    expect([...named].filter((name) => !SERIES.has(name))).toEqual([]);
  });

  test('labels and values that the code has', () => {
    const wrong = [...text.matchAll(/[{,](\w+)=~?"([^"]*)"/g)].filter(([, label = '', values = '']) => {
      const known = VALUES.get(label);
      if (known === undefined) return !OTHER_LABELS.includes(label);
      return !values.split('|').every((value) => known.includes(value));
    });
    expect(wrong.map(([selector]) => selector)).toEqual([]);
  });
});

test('counters have each reason from the start, or an increase would miss the first', () => {
  const requests = ['unavailable', 'failed'].flatMap((outcome) => [
    ...['rest', 'mcp', 'web'].map(
      (name) => `request_seconds_count{interface="${name}",outcome="${outcome}"}`,
    ),
    ...['verify_license', 'list_ohio_boards'].map(
      (tool) => `tool_calls_total{tool="${tool}",outcome="${outcome}"}`,
    ),
  ]);
  const each = [
    ...['address', 'all'].map((reason) => `connections_refused_total{reason="${reason}"}`),
    ...DELIVERY_OUTCOMES.map((outcome) => `webhook_deliveries_total{outcome="${outcome}"}`),
    ...['live', 'skipped', 'refused', 'failed'].map((state) => `publications_total{state="${state}"}`),
    ...['responses_cut_total', ...requests],
  ];
  expect(each.filter((name) => !shown.includes(`licenses_${name} 0\n`))).toEqual([]);
});

test.each([...ALERTS])('%s is in the section of the operations page that it links to', (alert, runbook) => {
  const sections = documentText(OPERATIONS).split(/^(?=#+ )/m);
  const at = anchorsIn(OPERATIONS).findIndex((anchor) => `${OPERATIONS}#${anchor}` === runbook);
  expect(sections[at]).toContain(`\`${alert}\``);
});

test('each alert fires in a test for promtool', () => {
  const fired = TESTED.matchAll(/alertname: (\w+)\s+exp_alerts:(?! \[\])|alertname: (\w+), exp_alerts: \*/g);
  expect([...new Set([...fired].map(([, name, other]) => name ?? other))].toSorted()).toEqual(
    [...ALERTS.keys()].toSorted(),
  );
});

test('the worker shows what it knows: events from 0 on, and nothing of what is away', async () => {
  const worker = workerMetrics();
  const series = async (...read: Parameters<typeof worker.text>) => {
    const text = await worker.text(...read);
    return Object.fromEntries(
      [...text.matchAll(/^(licenses_(?!process|build|bad|uncaught)\S+) (\S+)$/gm)].map(
        ([, name = '', value]) => [name, Number(value)],
      ),
    );
  };
  const events = (counts: Readonly<Record<string, number>>, prefix: string, label: string) =>
    Object.fromEntries(Object.entries(counts).map(([name, n]) => [`${prefix}{${label}="${name}"}`, n]));
  const ended = { live: 0, skipped: 0, refused: 0, failed: 0 };
  const sent = { delivered: 0, failed: 0, gone: 0, nothing: 0 };
  const none = {
    ...events(ended, 'licenses_publications_total', 'state'),
    ...events(sent, 'licenses_webhook_deliveries_total', 'outcome'),
    licenses_published_not_found: 0,
  };
  expect(await series(undefined, undefined, undefined)).toEqual(none);
  worker.ended('failed');
  worker.delivery('gone');
  worker.found(false);
  const live = { date: todayInOhio(), withheld: 2 };
  const times = { lastEvents: new Map([['refused', 5000]]), live };
  const known = {
    ...none,
    ...events({ ...ended, failed: 1 }, 'licenses_publications_total', 'state'),
    'licenses_webhook_deliveries_total{outcome="gone"}': 1,
    licenses_published_not_found: 1,
  };
  expect(await series(times, { waiting: 3 }, { paused: 4, since: Date.now() - 60_000 })).toEqual({
    ...known,
    'licenses_queue_jobs{state="waiting"}': 3,
    'licenses_last_publication_timestamp_seconds{state="refused"}': 5,
    licenses_publication_age_days: 0,
    licenses_withheld_columns: 2,
    licenses_webhooks_paused: 4,
    licenses_webhook_undelivered_seconds: expect.closeTo(60, 0),
  });
  worker.found(true);
  const later = await series(undefined, undefined, undefined);
  expect(later).toEqual({ ...known, licenses_published_not_found: 0 });
});
