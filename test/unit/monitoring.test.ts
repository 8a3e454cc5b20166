import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { z } from 'zod';
import { stateGauges } from '../../src/http/admin.ts';
import { PUBLICATION_STATES } from '../../src/publications/steps.ts';
import { metrics } from '../../src/telemetry/metrics.ts';
import { OUTCOMES } from '../../src/telemetry/outcome.ts';
import { workerMetrics } from '../../workers/metrics.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFile(resolve(ROOT, file), 'utf8');

const OPERATIONS = 'docs/operations.md';

const rule = z.union([
  z.strictObject({ record: z.string(), expr: z.string() }),
  z.strictObject({
    alert: z.string(),
    expr: z.string(),
    for: z
      .string()
      .regex(/^\d+[mh]$/)
      .optional(),
    labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
    annotations: z.strictObject({ summary: z.string().min(10), runbook: z.string() }),
  }),
]);
const rules = z
  .strictObject({ groups: z.array(z.strictObject({ name: z.string(), rules: z.array(rule).min(1) })) })
  .parse(parse(await read('deploy/prometheus/rules.yml')))
  .groups.flatMap((group) => group.rules);
const alerts = rules.flatMap((each) => ('alert' in each ? [each] : []));

const ruleTests = z
  .object({
    rule_files: z.tuple([z.literal('rules.yml')]),
    tests: z.array(
      z.object({
        input_series: z.array(z.object({ series: z.string() })),
        alert_rule_test: z.array(
          z.object({
            alertname: z.string(),
            exp_alerts: z.array(
              z.object({
                exp_labels: z.object({ severity: z.string() }),
                exp_annotations: z.object({ runbook: z.string() }),
              }),
            ),
          }),
        ),
      }),
    ),
  })
  .parse(parse(await read('deploy/prometheus/rules.test.yml'))).tests;

const dataSource = z.strictObject({ type: z.literal('prometheus'), uid: z.string() });
const panel = z.looseObject({
  id: z.int().positive(),
  type: z.enum(['row', 'stat', 'timeseries']),
  title: z.string().min(1),
  datasource: dataSource.optional(),
  gridPos: z.strictObject({ x: z.int(), y: z.int(), w: z.int(), h: z.int() }),
  targets: z
    .array(z.looseObject({ refId: z.string(), expr: z.string(), datasource: dataSource }))
    .default([]),
});
const dashboard = z
  .looseObject({
    uid: z.string(),
    title: z.string(),
    templating: z.looseObject({ list: z.array(z.looseObject({ name: z.string(), type: z.string() })) }),
    panels: z.array(panel),
  })
  .parse(JSON.parse(await read('deploy/grafana/dashboard.json')));

/** The metrics that can be asked for, with their labels: those that the code registers, and those of the rules. */
const known = new Map<string, readonly string[]>([
  ['up', []],
  ...rules.flatMap((each) => ('record' in each ? [[each.record, []] as const] : [])),
  ...(await registered()),
]);

/** Labels that Prometheus adds to each series that it scrapes. */
const ADDED_LABELS = ['job', 'instance'];

/** The values of a label, where the code lists them. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  job: ['licenses'],
  interface: ['rest', 'mcp', 'web'],
  outcome: OUTCOMES,
  state: [...PUBLICATION_STATES, 'waiting', 'active', 'delayed'],
  reason: ['address', 'all', 'slow', 'memory'],
};

async function registered(): Promise<Map<string, readonly string[]>> {
  const nothing = { current: () => undefined, refresh: async () => undefined, stop: () => undefined };
  stateGauges(
    nothing,
    { inFlight: () => 0 },
    () => 0,
    () => true,
    () => 0,
  );
  const ofApi = z
    .array(z.looseObject({ name: z.string(), labelNames: z.array(z.string()) }))
    .parse(metrics.getMetricsAsArray());
  const worker = workerMetrics();
  worker.ended('live');
  const times = { lastEvents: new Map([['live', 0]]), live: { date: '2026-11-22', differences: 0 } };
  const text = [await metrics.metrics(), await worker.text(times, { waiting: 0 })].join('\n');
  const labelsOf = (name: string): string[] => {
    const [, labels = ''] = new RegExp(`^${name}\\{(.*)\\} `, 'm').exec(text) ?? [];
    const declared = ofApi.find((metric) => metric.name === name)?.labelNames ?? [];
    return [...declared, ...[...labels.matchAll(/(\w+)="/g)].flatMap(([, label]) => label ?? [])];
  };
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Map(
    types.flatMap(([, name = '', type]): [string, string[]][] => {
      const labels = labelsOf(name);
      if (type !== 'histogram') return [[name, labels]];
      return [
        [`${name}_bucket`, [...labels, 'le']],
        [`${name}_sum`, labels],
        [`${name}_count`, labels],
      ];
    }),
  );
}

/** What is wrong with an expression: its syntax, a metric or label that nothing has, or a value that no label has. */
function problemsOf(expression: string): string[] {
  const text = expression.replaceAll('$__rate_interval', '5m');
  const problems: string[] = [];
  const labels = new Set(ADDED_LABELS);
  const grouped: string[] = [];
  let ofMetric: readonly string[] = [];
  let label = '';
  parser.parse(text).iterate({
    enter: ({ name, from, to, type, node }) => {
      const written = text.slice(from, to);
      if (type.isError) problems.push(`syntax at ${from}: ${text.slice(from)}`);
      else if (name === 'VectorSelector') {
        const metric = node.getChild('Identifier');
        const metricName = metric === null ? '' : text.slice(metric.from, metric.to);
        ofMetric = [...(known.get(metricName) ?? []), ...ADDED_LABELS];
        for (const each of ofMetric) labels.add(each);
        if (!known.has(metricName)) problems.push(`no metric ${metricName}`);
      } else if (name === 'LabelName') {
        label = written;
        if (node.parent?.name === 'GroupingLabels') grouped.push(label);
        else if (!ofMetric.includes(label)) problems.push(`no label ${label}`);
      } else if (name === 'StringLiteral') {
        const asked = written.slice(1, -1).split('|');
        const values = VALUES[label];
        problems.push(
          ...asked.filter((value) => values?.includes(value) !== true).map((value) => `no ${label} ${value}`),
        );
      }
    },
  });
  return [
    ...problems,
    ...grouped.filter((name) => !labels.has(name)).map((name) => `nothing to group by ${name}`),
  ];
}

describe('an expression', () => {
  test.each([
    ['sum by (le) (rate(licenses_request_seconds_bucket{interface="rest"}[5m]))', []],
    ['max(licenses_publications)', ['no metric licenses_publications']],
    ['licenses_request_seconds', ['no metric licenses_request_seconds']],
    ['licenses_queue_jobs{status="waiting"}', ['no label status', 'no status waiting']],
    ['licenses_tool_calls_total{outcome=~"failed|broken"}', ['no outcome broken']],
    ['sum by (interface) (licenses_tool_calls_total)', ['nothing to group by interface']],
  ])('%s is checked', (expression, problems) => {
    expect(problemsOf(expression)).toEqual(problems);
  });

  test('that is invalid is reported', () => {
    expect(problemsOf('sum(licenses_queue_jobs')).not.toEqual([]);
    expect(problemsOf('maximum(licenses_queue_jobs)')).not.toEqual([]);
  });
});

test('counters have every reason from the start, so that the first increase is seen', async () => {
  const text = await metrics.metrics();
  for (const reason of ['address', 'all'])
    expect(text).toContain(`licenses_connections_refused_total{reason="${reason}"} 0\n`);
  for (const reason of ['slow', 'memory'])
    expect(text).toContain(`licenses_responses_cut_total{reason="${reason}"} 0\n`);
});

describe('the rules for Prometheus', () => {
  test.each(rules.map((each) => ['alert' in each ? each.alert : each.record, each.expr]))(
    '%s uses only metrics that the code registers',
    (_, expression) => {
      expect(problemsOf(expression)).toEqual([]);
    },
  );

  test('have alerts with names of their own', () => {
    const names = alerts.map(({ alert }) => alert);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(0);
  });

  test('link each alert to a heading of the operations page', async () => {
    const headings = headingsOf(await read(OPERATIONS));
    const missing = alerts.filter(({ annotations: { runbook } }) => {
      const [page, heading = ''] = runbook.split('#');
      return page !== OPERATIONS || !headings.includes(heading);
    });
    expect(missing.map(({ alert, annotations }) => `${alert}: ${annotations.runbook}`)).toEqual([]);
  });

  test('are in the table of alerts of the operations page, and no other is', async () => {
    const named = [...(await read(OPERATIONS)).matchAll(/^\|.*$/gm)]
      .flatMap(([row]) => [...row.matchAll(/`([A-Z][a-z]+[A-Za-z]+)`/g)])
      .flatMap(([, name]) => name ?? []);
    expect(named.toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
  });
});

describe('the tests of the rules, for promtool', () => {
  test('expect each alert to fire, with its severity and its runbook', () => {
    const expected = ruleTests.flatMap(({ alert_rule_test }) =>
      alert_rule_test.flatMap(({ alertname, exp_alerts }) =>
        exp_alerts.map(({ exp_labels: { severity }, exp_annotations: { runbook } }) =>
          [alertname, severity, runbook].join(' '),
        ),
      ),
    );
    const defined = alerts.map(({ alert, labels: { severity }, annotations: { runbook } }) =>
      [alert, severity, runbook].join(' '),
    );
    expect([...new Set(expected)].toSorted()).toEqual(defined.toSorted());
  });

  test('have only series that the code registers', () => {
    const series = ruleTests.flatMap(({ input_series }) => input_series.map((each) => each.series));
    // The values of these labels are not in the code.
    const isElsewhere = (problem: string) => /^no (instance|le|tool) /.test(problem);
    expect(series.flatMap(problemsOf).filter((problem) => !isElsewhere(problem))).toEqual([]);
  });
});

/** The names by which a page's headings are linked. */
function headingsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

describe('the Grafana dashboard', () => {
  const { panels, templating } = dashboard;

  test('shows every metric of the service', () => {
    const shown = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join(' ');
    const names = [...known.keys()].filter(
      (name) => /^licenses_/.test(name) && !/_(bucket|sum|count)$/.test(name),
    );
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !shown.includes(name))).toEqual([]);
  });

  test('has panels with unique ids that do not overlap', () => {
    const ids = panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const places = panels.map(({ gridPos: { x, y } }) => `${x},${y}`);
    expect(new Set(places).size).toBe(places.length);
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
  });

  test('uses the data source of its variable', () => {
    const [variable] = templating.list.filter(({ type }) => type === 'datasource');
    expect(variable).toMatchObject({ query: 'prometheus' });
    const charts = panels.filter(({ type }) => type !== 'row');
    const uids = charts.flatMap(({ datasource, targets }) => [
      datasource?.uid,
      ...targets.map((target) => target.datasource.uid),
    ]);
    expect(new Set(uids)).toEqual(new Set([`\${${variable?.name}}`]));
    expect(charts.filter(({ targets }) => targets.length === 0)).toEqual([]);
  });

  test.each(panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)))(
    '%s uses only metrics that the code registers',
    (_, expression) => {
      expect(problemsOf(expression)).toEqual([]);
    },
  );
});
