import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { badDocuments, uncaughtErrors } from './process.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** The API's metrics, Node's own included. */
export const metrics = new Registry();
collectDefaultMetrics({ register: metrics });
metrics.registerMetric(badDocuments);
metrics.registerMetric(uncaughtErrors);

export const requestSeconds = new Histogram({
  name: 'licenses_request_seconds',
  help: 'From the arrival of a request to the end of its answer, by interface (rest, mcp, web) and outcome',
  labelNames: ['interface', 'outcome'],
  buckets: SECONDS,
  registers: [metrics],
});
// Prometheus sees an increase only in a series that existed before.
for (const name of ['rest', 'mcp', 'web'])
  for (const outcome of ['unavailable', 'failed']) requestSeconds.zero({ interface: name, outcome });

export const toolCalls = new Counter({
  name: 'licenses_tool_calls_total',
  help: 'Calls of MCP tools by tool and outcome',
  labelNames: ['tool', 'outcome'],
  registers: [metrics],
});

export const openSearchSeconds = new Histogram({
  name: 'licenses_opensearch_seconds',
  help: 'Time that a request to OpenSearch took, by what it asks and whether it was answered',
  labelNames: ['asks', 'answered'],
  buckets: SECONDS,
  registers: [metrics],
});

export const batchSize = new Histogram({
  name: 'licenses_batch_size',
  help: 'How many queries a request to OpenSearch carried, by what it asks',
  labelNames: ['asks'],
  buckets: SIZES,
  registers: [metrics],
});

export const rosterItems = new Counter({
  name: 'licenses_roster_items_total',
  help: 'Items of rosters by outcome (found, ambiguous, not_found, invalid)',
  labelNames: ['outcome'],
  registers: [metrics],
});

export const connectionsRefused = new Counter({
  name: 'licenses_connections_refused_total',
  help: 'Connections refused because an address (address) or the process (all) had too many',
  labelNames: ['reason'],
  registers: [metrics],
});
for (const reason of ['address', 'all']) connectionsRefused.inc({ reason }, 0);

export const responsesCut = new Counter({
  name: 'licenses_responses_cut_total',
  help: 'Responses cut off because their clients read too slowly',
  registers: [metrics],
});

export const responseBytesHeld = new Gauge({
  name: 'licenses_responses_held_bytes',
  help: 'Bytes of large responses that wait in memory for their clients to read them; at 128 MB others get 503',
  registers: [metrics],
});

/** A gauge that is read at each scrape; absent while `read` returns `undefined`. */
export function gauge(name: string, help: string, read: () => number | undefined): void {
  new Gauge({
    name,
    help,
    registers: [metrics],
    collect() {
      const value = read();
      if (value === undefined) this.remove();
      else this.set(value);
    },
  });
}

/** The same for each board that has a value. */
export function gaugeByBoard(
  name: string,
  help: string,
  read: () => readonly (readonly [board: string, value: number | null])[],
): void {
  new Gauge({
    name,
    help,
    labelNames: ['board'],
    registers: [metrics],
    collect() {
      this.reset();
      for (const [board, value] of read()) if (value !== null) this.set({ board }, value);
    },
  });
}
