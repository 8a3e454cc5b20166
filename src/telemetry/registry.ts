import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import HELP from '../../data/metrics.json' with { type: 'json' };

type MetricName = keyof typeof HELP;

/** What prom-client needs of a metric. */
function described<Label extends string>(registers: Registry[], name: MetricName, ...labelNames: Label[]) {
  return { name, help: HELP[name], labelNames, registers };
}

/** Stored documents that a reader left out, each time one is met. The metrics of every process have it. */
export const badDocuments = new Counter(described([], 'licenses_bad_documents_total', 'index'));

/** The metrics of every process have it. */
export const uncaughtErrors = new Counter(described([], 'licenses_uncaught_errors_total'));

/** The metrics of one process, Node's own included. */
export function processMetrics() {
  const registry = new Registry();
  const metric = <Label extends string>(name: MetricName, ...labelNames: Label[]) =>
    described([registry], name, ...labelNames);
  collectDefaultMetrics({ register: registry });
  for (const each of [badDocuments, uncaughtErrors]) registry.registerMetric(each);
  return {
    registry,
    metric,
    /** A gauge that is read at each scrape; absent while `read` returns `undefined`. */
    gauge(name: MetricName, read: () => number | undefined): void {
      new Gauge({
        ...metric(name),
        collect() {
          const value = read();
          if (value === undefined) this.remove();
          else this.set(value);
        },
      });
    },
    /** The same for each value of a label that has a number. */
    gaugeBy(
      label: string,
      name: MetricName,
      read: () => Iterable<readonly [value: string, number: number | null]>,
    ): void {
      new Gauge({
        ...metric(name, label),
        collect() {
          this.reset();
          for (const [value, number] of read()) if (number !== null) this.set({ [label]: value }, number);
        },
      });
    },
  };
}
