import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import HELP from '../../data/metrics.json' with { type: 'json' };

type MetricName = keyof typeof HELP;

/** The options that prom-client needs for a metric. */
function described<Label extends string>(registers: Registry[], name: MetricName, ...labelNames: Label[]) {
  return { name, help: HELP[name], labelNames, registers };
}

/** Counts stored documents that a reader left out, each time one is met. Every process has this metric. */
export const badDocuments = new Counter(described([], 'licenses_bad_documents_total', 'index'));

/** Every process has this metric. */
export const uncaughtErrors = new Counter(described([], 'licenses_uncaught_errors_total'));

/** The metrics of one process, including Node's own. */
export function processMetrics() {
  const registry = new Registry();
  const metric = <Label extends string>(name: MetricName, ...labelNames: Label[]) =>
    described([registry], name, ...labelNames);
  collectDefaultMetrics({ register: registry });
  for (const each of [badDocuments, uncaughtErrors]) registry.registerMetric(each);
  return {
    registry,
    metric,
    /** A gauge that is read at each scrape. It is absent while `read` returns `undefined`. */
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
    /** A gauge with a label. It has a series for each label value that has a number. */
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
