import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Registry } from 'prom-client';
import { parse } from 'yaml';
import { z } from 'zod';
import { stateGauges } from '../src/service-status/admin.ts';
import { metrics } from '../src/telemetry/metrics.ts';
import { workerMetrics } from '../workers/admin.ts';
import { markdownTable } from './markdown-table.ts';

const RULES = resolve(import.meta.dirname, '../deploy/prometheus/rules.yml');

/** The fields of a prom-client metric. The library's types lack the labels. */
const described = z.array(
  z.object({ name: z.string(), help: z.string(), type: z.string(), labelNames: z.array(z.string()) }),
);

const rules = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          alert: z.string().optional(),
          for: z.string().default(''),
          labels: z.object({ severity: z.string() }).optional(),
          annotations: z.object({ summary: z.string(), runbook: z.string() }).optional(),
        }),
      ),
    }),
  ),
});

const nothing = {
  current: () => undefined,
  problem: () => undefined,
  refresh: async () => undefined,
  stop: () => undefined,
};
const zero = () => 0;
stateGauges(nothing, { inFlight: zero }, zero, () => true, { usedRatio: zero, storedRatio: zero });

/** All metrics of the API. */
export const apiMetrics = metrics;

/** The page as Markdown: the metrics of each process, and the alerts in the rules for Prometheus. */
export function metricsPage(): string {
  return `# Metrics and alerts

\`npm run generated-pages\` writes this page from the metrics that the processes register and from \`deploy/prometheus/rules.yml\`. Both processes also have Node's own metrics. [Monitoring](../operations.md#monitoring) says where to read them.

## API

${metricsTable(apiMetrics)}

## Worker

${metricsTable(workerMetrics().registry)}

## Alerts

\`critical\` is for now, \`warning\` for the morning.

${alertsTable()}
`;
}

function metricsTable(registry: Registry): string {
  const own = described
    .parse(registry.getMetricsAsArray())
    .filter(({ name }) => name.startsWith('licenses_'));
  const rows = own.map(({ name, type, labelNames, help }) => [
    `\`${name}\``,
    type,
    labelNames.map((label) => `\`${label}\``).join(', '),
    help,
  ]);
  return markdownTable(['metric', 'type', 'labels', 'meaning'], rows);
}

function alertsTable(): string {
  const { groups } = rules.parse(parse(readFileSync(RULES, 'utf8')));
  const rows = groups
    .flatMap((group) => group.rules)
    .flatMap(({ alert, for: duration, labels, annotations }) => {
      if (alert === undefined || labels === undefined || annotations === undefined) return [];
      const { summary, runbook } = annotations;
      const words = summary
        .replaceAll('{{ $value | humanizePercentage }}', 'N %')
        .replaceAll('{{ $value }}', 'N')
        .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, '`$1`');
      const todo = `[${runbook.split('#')[1]?.replaceAll('-', ' ')}](${runbook.replace('docs/', '../')})`;
      return [[`\`${alert}\``, labels.severity, duration, words, todo]];
    });
  return markdownTable(['alert', 'severity', 'lasting', 'when', 'what to do'], rows);
}
