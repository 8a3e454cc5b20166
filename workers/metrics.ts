import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { daysBetween, todayInOhio } from '../src/licenses/dates.ts';
import type { PublicationTimes } from '../src/publications/times.ts';
import { badDocuments, uncaughtErrors } from '../src/telemetry/process.ts';

/** Jobs of the publish queue by state. */
export type JobCounts = Readonly<Record<string, number>>;

/** The metrics of a worker, Node's own included. */
export interface WorkerMetrics {
  /** Counts a publication that this worker ended: `live`, `skipped`, `refused` or `failed`. */
  ended(state: string): void;
  /**
   * The metrics as text.
   *
   * @param times of the ledger; its metrics are absent without them, as while OpenSearch is away
   * @param jobs the jobs of the queue; absent without them, as while Redis is away
   */
  text(times: PublicationTimes | undefined, jobs: JobCounts | undefined): Promise<string>;
  readonly contentType: string;
}

/** The metrics of one worker process. */
export function workerMetrics(): WorkerMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  registry.registerMetric(badDocuments);
  registry.registerMetric(uncaughtErrors);
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

  function setTimes(times: PublicationTimes | undefined): void {
    lastEnded.reset();
    age.remove();
    canary.remove();
    for (const [state, at] of times?.lastEvents ?? []) lastEnded.set({ state }, at / 1000);
    if (times?.live === undefined) return;
    age.set(daysBetween(times.live.date, todayInOhio()));
    canary.set(times.live.differences);
  }

  return {
    ended: (state) => publications.inc({ state }),
    text: (times, jobs) => {
      setTimes(times);
      queueJobs.reset();
      for (const [state, count] of Object.entries(jobs ?? {})) queueJobs.set({ state }, count);
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}
