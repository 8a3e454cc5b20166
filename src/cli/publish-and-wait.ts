import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Job, type Queue, QueueEvents } from 'bullmq';
import { Redis } from 'ioredis';
import { type Config, readConfig } from '../config.ts';
import {
  PUBLISH_QUEUE,
  publishProgress,
  publishQueue,
  publishResult,
  queueConnection,
  queuePrefix,
} from '../publications/job.ts';
import { appendEvent, type LedgerEvent, readEvents } from '../publications/ledger.ts';
import { isRemoved, requestPublication } from '../publications/request.ts';
import { recordAudit } from '../storage/audit-log.ts';
import { withOpenSearch } from './open-search.ts';
import { grouped, print, printError, printJson } from './output.ts';
import { progressDisplay } from './progress.ts';

const EXIT_FAILED = 1;
const EXIT_REFUSED = 2;
const EXIT_INTERRUPTED = 130;
const LEDGER_EVERY_MS = 2000;

/** When it is first looked whether a worker runs: one that is being started may need a moment. */
const WORKER_EXPECTED_WITHIN_MS = 2000;
const WORKER_CHECKED_EVERY_MS = 5000;
const NO_WORKER =
  'No worker is running, so nothing is published yet. Start one: npx licenses work (npm start runs one, too). ' +
  'This command goes on waiting; Ctrl-C takes the publication back.';

/** A load of 2.6 million rows tells the ledger nothing for minutes. */
const LOST_AFTER_MS = 900_000;

const INTERRUPTED = Symbol('interrupted');

/** What the command was given. */
export interface PublishOptions {
  individual?: string;
  business?: string;
  date?: string;
  force?: string;
  json?: boolean;
}

/**
 * Queues a publication and waits until it has ended, or Ctrl-C.
 *
 * @throws {Error} in words for the operator when Redis or a file is missing
 */
export async function publishAndWait(options: PublishOptions): Promise<void> {
  const config = readConfig();
  const individual = options.individual ?? config.DATASET_INDIVIDUAL;
  const business = options.business ?? config.DATASET_BUSINESS;
  if (individual === undefined || business === undefined) {
    throw new Error('Give both files: --individual FILE --business FILE.');
  }
  await requireRedis(config);
  const queue = publishQueue(config);
  const events = new QueueEvents(PUBLISH_QUEUE, {
    connection: queueConnection(config),
    prefix: queuePrefix(config.INDEX_PREFIX),
  });
  const ended = new AbortController();
  // From here on Ctrl-C may leave a job behind, so it is taken back in order.
  const interrupted = once(process, 'SIGINT', { signal: ended.signal }).then(
    () => INTERRUPTED,
    () => INTERRUPTED,
  );
  try {
    await events.waitUntilReady();
    const askedAt = new Date().toISOString();
    const requested = await requestPublication(queue, {
      individual,
      business,
      date: options.date,
      force: options.force,
    });
    if (requested.abandoned !== undefined) {
      await recordFailed(requested.abandoned, 'Its worker was lost, and then other files were asked for.');
    }
    if (requested.state === 'busy') {
      const reason = `Publication ${requested.publication} of other files is under way; ask again when it has ended.`;
      report({ state: 'refused', publication: null, reasons: [reason] }, options.json === true);
      process.exitCode = EXIT_REFUSED;
      return;
    }
    if (requested.state === 'queued') await recordQueued(requested.data.publication, askedAt, options.force);
    await waitForEnd(
      { job: requested.job, queue, events, isOwn: requested.state === 'queued', interrupted },
      requested.data.publication,
      options.json === true,
    );
  } finally {
    ended.abort();
    await events.close();
    await queue.close();
  }
}

/** @throws {Error} in words for the operator when Redis is away: the queue itself would wait for it for ever */
async function requireRedis(config: Config): Promise<void> {
  const redis = new Redis(config.REDIS_URL, { lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => undefined);
  try {
    await redis.ping();
  } catch {
    const where = new URL(config.REDIS_URL).host;
    throw new Error(`Redis does not answer at ${where}. Is it running (npm start), and is REDIS_URL right?`);
  } finally {
    redis.disconnect();
  }
}

function recordQueued(publication: string, at: string, forced: string | undefined): Promise<void> {
  return withOpenSearch(async (client, { INDEX_PREFIX: prefix }) => {
    await recordAudit(client, prefix, 'publish', { publication, force: forced });
    await appendEvent(client, prefix, {
      publication,
      at,
      event: 'queued',
      ...(forced === undefined ? {} : { forced }),
    });
  });
}

function recordFailed(publication: string, reason: string): Promise<void> {
  return withOpenSearch((client, config) =>
    appendEvent(client, config.INDEX_PREFIX, { publication, event: 'failed', reasons: [reason] }),
  );
}

interface Waiting {
  readonly job: Job;
  /** Whether this command has asked for the publication, and not joined one that was asked for before. */
  readonly isOwn: boolean;
  readonly interrupted: Promise<unknown>;
  readonly queue: Queue;
  readonly events: QueueEvents;
}

/** Shows the publication's progress until it has ended, as the queue tells it or, where that lost it, the ledger. */
async function waitForEnd(waiting: Waiting, publication: string, asJson: boolean): Promise<void> {
  const { job, events } = waiting;
  const display = asJson ? undefined : progressDisplay(publication);
  events.on('progress', ({ jobId, data }) => {
    const progress = publishProgress.safeParse(data);
    if (jobId === job.id && progress.success) display?.show(progress.data);
  });
  const ended = new AbortController();
  const said = sayWhileNoWorkerRuns(waiting.queue, ended.signal);
  let result: Report;
  try {
    const returned = await Promise.race([
      job.waitUntilFinished(events),
      endInLedger(waiting, publication, ended.signal),
      waiting.interrupted,
    ]);
    if (returned === INTERRUPTED) {
      display?.end();
      await takeBack(waiting, publication);
      return;
    }
    result = publishResult.parse(returned);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    result = { state: 'failed', publication, reasons: [reason] };
  } finally {
    ended.abort();
    await said;
  }
  display?.end();
  report(result, asJson);
  if (result.state === 'refused') process.exitCode = EXIT_REFUSED;
  if (result.state === 'failed') process.exitCode = EXIT_FAILED;
}

/** Prints that no worker is running, once until one does. */
async function sayWhileNoWorkerRuns(queue: Queue, signal: AbortSignal): Promise<void> {
  let isSaid = false;
  let wait = WORKER_EXPECTED_WITHIN_MS;
  for (;;) {
    await sleep(wait, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return;
    wait = WORKER_CHECKED_EVERY_MS;
    const isMissing = (await queue.getWorkersCount().catch(() => 1)) === 0;
    if (isMissing && !isSaid) printError(NO_WORKER);
    isSaid = isMissing;
  }
}

/** Removes the job where this command asked for it and no worker has it; another one goes on without the command. */
async function takeBack({ job, isOwn }: Waiting, publication: string): Promise<void> {
  process.exitCode = EXIT_INTERRUPTED;
  if (isOwn && (await isRemoved(job))) {
    await recordFailed(publication, 'Taken back before a worker had it.');
    printError(`Publication ${publication} is taken back: no worker had it.`);
  } else {
    printError(`Publication ${publication} goes on; licenses publications tells how it ends.`);
  }
}

/**
 * How a publication ended whose job the queue has lost, as when Redis was restarted without its data: the
 * worker goes on all the same, and the ledger tells.
 *
 * @throws {Error} when it failed, or nothing more is told of it
 */
async function endInLedger(
  { job, queue }: Waiting,
  publication: string,
  signal: AbortSignal,
): Promise<unknown> {
  let lastTold = { at: Date.now(), events: 0 };
  for (;;) {
    await sleep(LEDGER_EVERY_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return undefined;
    if ((await Job.fromId(queue, job.id ?? '')) !== undefined) {
      lastTold = { ...lastTold, at: Date.now() };
      continue;
    }
    const events = await eventsOf(publication).catch(() => []);
    const result = resultOf(events);
    if (result !== undefined) return result;
    if (events.length > lastTold.events) lastTold = { at: Date.now(), events: events.length };
    if (Date.now() - lastTold.at > LOST_AFTER_MS) {
      throw new Error('The queue has lost this publication and no worker tells of it; publish again.');
    }
  }
}

function eventsOf(publication: string): Promise<LedgerEvent[]> {
  return withOpenSearch(async (client, config) => {
    const events = await readEvents(client, config.INDEX_PREFIX);
    return events.filter((event) => event.publication === publication);
  });
}

/**
 * A publication's result as its events tell it; `undefined` while it goes on.
 *
 * @throws {Error} when it failed
 */
function resultOf(events: readonly LedgerEvent[]): object | undefined {
  const live = events.find(({ event }) => event === 'live');
  if (live !== undefined) return liveResult(live);
  // Whoever asked may have written that it is queued only when it had begun, or ended.
  const last = events.findLast(({ event }) => event !== 'queued');
  const { publication, reasons = [] } = last ?? {};
  switch (last?.event) {
    case 'refused':
      return { state: 'refused', publication, reasons };
    case 'skipped':
      return { state: 'skipped', publication, live: last.same_as, date: last.date };
    case 'failed':
      throw new Error(reasons.join(' '));
    default:
      return undefined;
  }
}

function liveResult({ publication, index, date, counts, seconds = {}, unknown_labels }: LedgerEvent) {
  const took = Object.values(seconds).reduce((sum, each) => sum + each, 0);
  return {
    state: 'live',
    publication,
    index,
    date,
    ...counts,
    seconds: Math.round(took * 10) / 10,
    rows_per_second: took === 0 ? 0 : Math.round((counts?.rows ?? 0) / took),
    unknown_labels: unknown_labels ?? {},
    pruned: [],
  };
}

type Report =
  | ReturnType<typeof publishResult.parse>
  | { state: 'failed'; publication: string; reasons: string[] }
  | { state: 'refused'; publication: null; reasons: string[] };

function report(result: Report, asJson: boolean): void {
  if (asJson) {
    printJson(result);
    return;
  }
  if (result.state === 'skipped') {
    print(`Skipped: publication ${result.live} of ${result.date} has the same files and is live.`);
    return;
  }
  if (result.state !== 'live') {
    printError(`${result.state === 'refused' ? 'Refused' : 'Failed'}: ${result.reasons.join('\n')}`);
    return;
  }
  print(
    `Live: publication ${result.publication}, dataset of ${result.date}: ${grouped(result.rows)} rows, ` +
      `${grouped(result.licenses)} licenses and ${grouped(result.endorsements)} endorsements, ` +
      `${grouped(result.set_aside)} rows set aside, in ${result.seconds} s (${grouped(result.rows_per_second)} rows/s).`,
  );
  for (const difference of result.canary?.differences ?? []) {
    printError(`Lookups answer otherwise than the files have it: ${difference}.`);
  }
  for (const [label, rows] of Object.entries(result.unknown_labels)) {
    print(`Not in the catalog: ${label} (${grouped(rows)} rows).`);
  }
}
