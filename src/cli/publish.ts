import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Job, type Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { type Config, readConfig } from '../config.ts';
import { hasSecrets } from '../dataset/source-url.ts';
import { type PublishResult, publicationResult } from '../publications/history.ts';
import {
  publishProgress,
  publishQueue,
  removeIfWaitingOrAbandoned,
  requestPublication,
} from '../publications/job.ts';
import { appendEvent, readEvents } from '../publications/ledger.ts';
import { whoRuns } from '../storage/audit-log.ts';
import { grouped, print, printError, printJson } from './output.ts';
import { progressDisplay } from './progress.ts';
import { type JsonOption, withOpenSearch } from './store-command.ts';

const EXIT_CODES = { live: 0, skipped: 0, failed: 1, refused: 2 } as const;
const EXIT_INTERRUPTED = 130;

const POLLED_EVERY_MS = 1000;

/** A worker that was just started needs a moment. */
const WORKER_EXPECTED_WITHIN_MS = 2000;
const NO_WORKER =
  'No worker is running, so nothing is published yet. Start one: npx licenses work (npm start runs one, too). ' +
  'Waiting. Ctrl-C withdraws the publication.';

/** A publication of 2.6 million rows takes one to two minutes. */
const LOST_AFTER_MS = 900_000;

/** What the command was given. */
export interface PublishOptions extends JsonOption {
  readonly individual?: string;
  readonly business?: string;
  readonly date?: string;
  readonly force?: string;
}

/**
 * Queues a publication and waits until it has ended, or Ctrl-C.
 *
 * @throws {Error} in words for the operator when Redis or a file is missing
 */
export async function publishAndWait(options: PublishOptions): Promise<void> {
  const config = readConfig();
  refuseSecrets('individual', options.individual);
  refuseSecrets('business', options.business);
  const { date, force, json: asJson = false } = options;
  const individual = options.individual ?? config.DATASET_INDIVIDUAL;
  const business = options.business ?? config.DATASET_BUSINESS;
  if (individual === undefined || business === undefined) {
    throw new Error('Give both files: --individual FILE --business FILE.');
  }
  await requireRedis(config);
  // A publication that can't be recorded is not queued. The worker may still be starting.
  await withOpenSearch(async () => undefined, { createsIndices: true });
  const queue = publishQueue(config);
  const finished = new AbortController();
  // From here on Ctrl-C may leave a job behind, so it is taken back in order.
  const interrupted = once(process, 'SIGINT', { signal: finished.signal }).catch(() => undefined);
  try {
    const askedAt = new Date().toISOString();
    const requested = await requestPublication(queue, { individual, business, date, force, by: whoRuns() });
    if (requested.abandoned !== undefined) {
      await recordFailed(requested.abandoned, 'Its worker was lost, and then other files were asked for.');
    }
    if (requested.state === 'busy') {
      const reason = `Publication ${requested.publication} of other files is under way; ask again when it has ended.`;
      return printResult({ state: 'refused', publication: null, reasons: [reason] }, asJson);
    }
    const { job, data, state } = requested;
    if (state === 'queued') await recordQueued(data.publication, askedAt);
    const display = asJson ? undefined : progressDisplay(data.publication);
    const showProgress = (reported: unknown) => {
      const progress = publishProgress.safeParse(reported);
      if (progress.success) display?.show(progress.data);
    };
    const ended = endOf(queue, job.id ?? '', data.publication, showProgress, finished.signal);
    const result = await Promise.race([ended, interrupted.then(() => undefined)]);
    display?.end();
    if (result === undefined) await takeBack(job, data.publication, state === 'queued');
    else printResult(result, asJson);
  } finally {
    finished.abort();
    await queue.close();
  }
}

/** @throws {Error} for an address with secrets: the queue and lists of processes would show them */
function refuseSecrets(file: 'individual' | 'business', given = ''): void {
  if (!hasSecrets(given)) return;
  const setting = `DATASET_${file.toUpperCase()}`;
  throw new Error(
    `--${file} takes no address with a user name, a password or a query. Set ${setting} for the worker and for this command, and leave --${file} out.`,
  );
}

/** @throws {Error} in words for the operator when Redis can't be used: the queue itself would wait forever */
async function requireRedis(config: Config): Promise<void> {
  const redis = new Redis(config.REDIS_URL, { lazyConnect: true, retryStrategy: () => null });
  let problem = '';
  redis.on('error', (error) => {
    problem = error.message;
  });
  try {
    await redis.ping();
  } catch {
    throw new Error(redisTrouble(new URL(config.REDIS_URL).host, problem));
  } finally {
    redis.disconnect();
  }
}

/** @param problem what Redis or its connection said first: `WRONGPASS invalid username-password pair …` */
function redisTrouble(host: string, problem: string): string {
  if (/^(WRONGPASS|NOAUTH|NOPERM)/.test(problem)) {
    return `Redis at ${host} refuses the user or the password of REDIS_URL: ${problem}`;
  }
  if (problem.includes('certificate')) {
    const [reason] = problem.split(';');
    return `The certificate of Redis at ${host} is not trusted: ${reason}. Set NODE_EXTRA_CA_CERTS to the PEM file of its authority.`;
  }
  return `Redis does not answer at ${host}. Is it running (npm start), and is REDIS_URL right?`;
}

function recordQueued(publication: string, at: string): Promise<void> {
  return withOpenSearch((store) => appendEvent(store, { publication, at, event: 'queued' }));
}

function recordFailed(publication: string, reason: string): Promise<void> {
  return withOpenSearch((store) => appendEvent(store, { publication, event: 'failed', reasons: [reason] }));
}

/**
 * Waits until the job has ended and the ledger says how. A job that Redis has lost, as when it was restarted without
 * its data, may go on in its worker: the ledger is asked for 15 more minutes.
 */
async function endOf(
  queue: Queue,
  jobId: string,
  publication: string,
  showProgress: (reported: unknown) => void,
  signal: AbortSignal,
): Promise<PublishResult | undefined> {
  const startedAt = Date.now();
  let isWorkerMissing = false;
  let lastSeenAt = startedAt;
  let toldAttempts = 0;
  for (;;) {
    const job = await Job.fromId(queue, jobId);
    if (job !== undefined && job.finishedOn === undefined) {
      lastSeenAt = Date.now();
      showProgress(job.progress);
      if (job.attemptsMade > toldAttempts && job.failedReason) {
        toldAttempts = job.attemptsMade;
        printError(
          `Attempt ${job.attemptsMade} failed: ${job.failedReason} The next one begins within seconds.`,
        );
      }
    } else {
      const events = await eventsOf(publication);
      const result = events && publicationResult(events);
      if (result !== undefined) return result;
      const isOver = job !== undefined || Date.now() - lastSeenAt > LOST_AFTER_MS;
      if (events !== undefined && isOver) {
        const reason = job?.failedReason ?? 'Nothing more is known of this publication; publish again.';
        return { state: 'failed', publication, reasons: [reason] };
      }
    }
    if (Date.now() - startedAt > WORKER_EXPECTED_WITHIN_MS) {
      const isMissing = (await queue.getWorkersCount().catch(() => 1)) === 0;
      if (isMissing && !isWorkerMissing) printError(NO_WORKER);
      isWorkerMissing = isMissing;
    }
    await sleep(POLLED_EVERY_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return undefined;
  }
}

/** The events of a publication; `undefined` while OpenSearch is away, and nobody can say how the publication ended. */
function eventsOf(publication: string) {
  return withOpenSearch((store) => readEvents(store, publication)).catch(() => undefined);
}

/** Removes the job where this command asked for it and no worker has it; another one goes on without the command. */
async function takeBack(job: Job, publication: string, isOwn: boolean): Promise<void> {
  process.exitCode = EXIT_INTERRUPTED;
  if (isOwn && (await removeIfWaitingOrAbandoned(job))) {
    await recordFailed(publication, 'Taken back before a worker had it.');
    printError(`Publication ${publication} is taken back: no worker had it.`);
  } else {
    printError(`Publication ${publication} goes on. See how it ends: licenses publications.`);
  }
}

/** Also of a request that was turned away, which is no publication. */
type Report = PublishResult | { state: 'refused'; publication: null; reasons: string[] };

function printResult(result: Report, asJson: boolean): void {
  process.exitCode = EXIT_CODES[result.state];
  if (asJson) {
    printJson(result);
    return;
  }
  if (result.state === 'skipped') {
    print(`Skipped: publication ${result.live} of ${result.date} has the same files and is live.`);
    return;
  }
  if (result.state !== 'live') {
    const [first = '', ...others] = result.reasons;
    printError([`${result.state === 'refused' ? 'Refused' : 'Failed'}: ${first}`, ...others]);
    return;
  }
  print(
    `Live: publication ${result.publication}, dataset of ${result.date}: ${grouped(result.rows)} rows, ` +
      `${grouped(result.licenses)} licenses and ${grouped(result.endorsements)} endorsements, ` +
      `${grouped(result.rejected)} rows rejected, in ${result.seconds} s (${grouped(result.rows_per_second)} rows/s).`,
  );
  for (const overridden of result.overridden) print(`Forced past: ${overridden}`);
  for (const note of result.notes) print(note);
  for (const difference of result.canary_differences) {
    printError(`A lookup's answer differs from the files: ${difference}.`);
  }
  for (const [label, rows] of Object.entries(result.unknown_labels)) {
    print(`Not in the catalog: ${label} (${grouped(rows)} rows).`);
  }
}
