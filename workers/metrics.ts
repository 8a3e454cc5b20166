import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { daysBetween, todayInOhio } from '../src/licenses/dates.ts';
import type { PublicationHistory } from '../src/publications/history.ts';
import { badDocuments } from '../src/telemetry/bad-documents.ts';

/** Jobs of the publish queue by state. */
export type JobCounts = Readonly<Record<string, number>>;

/** The metrics of a worker, Node's own included. */
export interface WorkerMetrics {
  /** Counts a publication that this worker ended: `live`, `skipped`, `refused` or `failed`. */
  ended(state: string): void;
  /**
   * The metrics as text.
   *
   * @param history the ledger; its metrics are absent without it, as while OpenSearch is away
   * @param jobs the jobs of the queue; absent without them, as while Redis is away
   */
  text(history: PublicationHistory | undefined, jobs: JobCounts | undefined): Promise<string>;
  readonly contentType: string;
}

/** The metrics of one worker process. */
export function workerMetrics(): WorkerMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  registry.registerMetric(badDocuments);
  const queueJobs = new Gauge({
    name: 'licenses_queue_jobs',
    help: 'Jobs of the publish queue by state',
    labelNames: ['state'],
    registers,
  });
  const publications = new Counter({
    name: 'licenses_publications_total',
    help: 'Publications that this worker ended, by state (live, skipped, refused, failed)',
    labelNames: ['state'],
    registers,
  });
  const lastEnded = new Gauge({
    name: 'licenses_last_publication_timestamp_seconds',
    help: 'Unix time of the latest event of a publication in this state, as the ledger has it',
    labelNames: ['state'],
    registers,
  });
  const age = new Gauge({
    name: 'licenses_publication_age_days',
    help: 'Calendar days since the run date of the live publication',
    registers,
  });
  const canary = new Gauge({
    name: 'licenses_canary_differences',
    help: 'Lookups whose answers differed from the files, right after the live publication went live',
    registers,
  });

  function setHistory(history: PublicationHistory | undefined): void {
    lastEnded.reset();
    age.remove();
    canary.remove();
    for (const { state, at } of history?.publications.toReversed() ?? []) {
      lastEnded.set({ state }, Date.parse(at) / 1000);
    }
    const live = history?.live;
    if (live?.date === undefined) return;
    age.set(daysBetween(live.date, todayInOhio()));
    canary.set(live.differences?.length ?? 0);
  }

  return {
    ended: (state) => publications.inc({ state }),
    text: (history, jobs) => {
      setHistory(history);
      queueJobs.reset();
      for (const [state, count] of Object.entries(jobs ?? {})) queueJobs.set({ state }, count);
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}
