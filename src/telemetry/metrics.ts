import { Counter, Gauge, Histogram } from 'prom-client';
import { processMetrics } from './registry.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** The API's metrics; `data/metrics.json` says what each one counts. */
const { metric, ...api } = processMetrics();
export const { registry: metrics, gauge, gaugeBy } = api;

export const requestSeconds = new Histogram({
  ...metric('licenses_request_seconds', 'interface', 'outcome'),
  buckets: SECONDS,
});
// Prometheus detects an increase only in a series that already exists.
for (const name of ['rest', 'mcp', 'web'])
  for (const outcome of ['unavailable', 'failed']) requestSeconds.zero({ interface: name, outcome });

export const toolCalls = new Counter(metric('licenses_tool_calls_total', 'tool', 'outcome'));

export const openSearchSeconds = new Histogram({
  ...metric('licenses_opensearch_seconds', 'asks', 'answered'),
  buckets: SECONDS,
});

export const batchSize = new Histogram({ ...metric('licenses_batch_size', 'asks'), buckets: SIZES });

export const rosterItems = new Counter(metric('licenses_roster_items_total', 'outcome'));

export const connectionsRefused = new Counter(metric('licenses_connections_refused_total', 'reason'));
for (const reason of ['address', 'all']) connectionsRefused.inc({ reason }, 0);

export const responsesCut = new Counter(metric('licenses_responses_cut_total'));

export const responseBytesHeld = new Gauge(metric('licenses_responses_held_bytes'));
