import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Job, type Queue, QueueEvents } from 'bullmq';
import { Redis } from 'ioredis';
import { type Config, readConfig } from '../config.ts';
import { hasSecrets } from '../dataset/download/source-url.ts';
import { type PublishResult, publicationResult } from '../publications/history.ts';
import {
  NOT_PRINTED,
  PUBLISH_QUEUE,
  publishProgress,
  publishQueue,
  queueConnection,
  queuePrefix,
  removeIfWaitingOrAbandoned,
  requestPublication,
} from '../publications/job.ts';
import { appendEvent, type LedgerEvent, readEvents } from '../publications/ledger.ts';
import { recordAudit } from '../storage/audit-log.ts';
import type { Store } from '../storage/store.ts';
import { withOpenSearch } from './open-search.ts';
import { grouped, print, printError, printJson } from './output.ts';
import { progressDisplay } from './progress.ts';

const EXIT_FAILED = 1;
const EXIT_REFUSED = 2;
const EXIT_INTERRUPTED = 130;
const LEDGER_EVERY_MS = 2000;

/** When the first check for a worker happens: one that was just started needs a moment. */
const WORKER_EXPECTED_WITHIN_MS = 2000;
const WORKER_CHECKED_EVERY_MS = 5000;
const NO_WORKER =
  'No worker is running, so nothing is published yet. Start one: npx licenses work (npm start runs one, too). ' +
  'This command goes on waiting; Ctrl-C takes the publication back.';

/** Loading 2.6 million rows adds nothing to the ledger for minutes. */
const LOST_AFTER_MS = 900_000;

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
  refuseSecrets('individual', options.individual);
  refuseSecrets('business', options.business);
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
  events.on('error', NOT_PRINTED);
  const ended = new AbortController();
  // From here on Ctrl-C may leave a job behind, so it is taken back in order.
  const interrupted = once(process, 'SIGINT', { signal: ended.signal }).then(
    () => undefined,
    () => undefined,
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
      printResult({ state: 'refused', publication: null, reasons: [reason] }, options.json === true);
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

function recordQueued(publication: string, at: string, forced: string | undefined): Promise<void> {
  const record = async (store: Store) => {
    await recordAudit(store, 'publish', { publication, force: forced });
    await appendEvent(store, {
      publication,
      at,
      event: 'queued',
      ...(forced === undefined ? {} : { forced }),
    });
  };
  // The worker may still be starting.
  return withOpenSearch(record, { createsIndices: true });
}

function recordFailed(publication: string, reason: string): Promise<void> {
  return withOpenSearch((store) => appendEvent(store, { publication, event: 'failed', reasons: [reason] }));
}

interface Waiting {
  readonly job: Job;
  /** Whether this command has asked for the publication, and not joined one that was asked for before. */
  readonly isOwn: boolean;
  /** Settles on Ctrl-C. */
  readonly interrupted: Promise<undefined>;
  readonly queue: Queue;
  readonly events: QueueEvents;
}

/**
 * Shows the publication's progress as the queue reports it, until it has ended, or Ctrl-C. The ledger says how it
 * ended.
 */
async function waitForEnd(waiting: Waiting, publication: string, asJson: boolean): Promise<void> {
  const { job, events, interrupted } = waiting;
  const display = asJson ? undefined : progressDisplay(publication);
  events.on('progress', ({ jobId, data }) => {
    const progress = publishProgress.safeParse(data);
    if (jobId === job.id && progress.success) display?.show(progress.data);
  });
  const ended = new AbortController();
  const noticed = noticeMissingWorker(waiting.queue, ended.signal);
  const result = await Promise.race([endOf(waiting, publication, ended.signal), interrupted]);
  ended.abort();
  await noticed;
  display?.end();
  if (result === undefined) {
    await takeBack(waiting, publication);
    return;
  }
  printResult(result, asJson);
  if (result.state === 'refused') process.exitCode = EXIT_REFUSED;
  if (result.state === 'failed') process.exitCode = EXIT_FAILED;
}

/** Prints that no worker is running, once until one does. */
async function noticeMissingWorker(queue: Queue, signal: AbortSignal): Promise<void> {
  let isReported = false;
  let wait = WORKER_EXPECTED_WITHIN_MS;
  for (;;) {
    await sleep(wait, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return;
    wait = WORKER_CHECKED_EVERY_MS;
    const isMissing = (await queue.getWorkersCount().catch(() => 1)) === 0;
    if (isMissing && !isReported) printError(NO_WORKER);
    isReported = isMissing;
  }
}

/** Removes the job where this command asked for it and no worker has it; another one goes on without the command. */
async function takeBack({ job, isOwn }: Waiting, publication: string): Promise<void> {
  process.exitCode = EXIT_INTERRUPTED;
  if (isOwn && (await removeIfWaitingOrAbandoned(job))) {
    await recordFailed(publication, 'Taken back before a worker had it.');
    printError(`Publication ${publication} is taken back: no worker had it.`);
  } else {
    printError(`Publication ${publication} goes on. See how it ends: licenses publications.`);
  }
}

/** How a publication ended. @returns `undefined` when the signal is aborted first */
async function endOf(
  waiting: Waiting,
  publication: string,
  signal: AbortSignal,
): Promise<PublishResult | undefined> {
  const job = waiting.job.waitUntilFinished(waiting.events).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  const failure = await Promise.race([job, untilLost(waiting, publication, signal)]);
  if (signal.aborted) return undefined;
  const result = publicationResult(await eventsWhenReadable(publication, signal));
  const reason = failure ?? 'Nothing more is known of this publication; publish again.';
  return result ?? { state: 'failed', publication, reasons: [reason] };
}

/**
 * Watches for a job that the queue has lost, as when Redis was restarted without its data. Its worker goes on, so
 * this waits until the ledger says how the publication ended, or nothing has been heard of it for 15 minutes.
 */
async function untilLost(
  { job, queue }: Waiting,
  publication: string,
  signal: AbortSignal,
): Promise<undefined> {
  let heard = { at: Date.now(), events: 0 };
  while (Date.now() - heard.at <= LOST_AFTER_MS) {
    await sleep(LEDGER_EVERY_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    if ((await Job.fromId(queue, job.id ?? '')) !== undefined) {
      heard = { ...heard, at: Date.now() };
      continue;
    }
    const events = await eventsOf(publication).catch(() => []);
    if (publicationResult(events) !== undefined) return;
    if (events.length > heard.events) heard = { at: Date.now(), events: events.length };
  }
}

/** The events of a publication, once OpenSearch answers: while it is away, nobody can say how the publication ended. */
async function eventsWhenReadable(publication: string, signal: AbortSignal): Promise<LedgerEvent[]> {
  for (;;) {
    try {
      return await eventsOf(publication);
    } catch (error) {
      if (signal.aborted) throw error;
      await sleep(LEDGER_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

function eventsOf(publication: string): Promise<LedgerEvent[]> {
  return withOpenSearch((store) => readEvents(store, publication));
}

/** Also of a request that was turned away, which is no publication. */
type Report = PublishResult | { state: 'refused'; publication: null; reasons: string[] };

function printResult(result: Report, asJson: boolean): void {
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
  for (const note of result.notes) print(note);
  for (const difference of result.canary_differences) {
    printError(`A lookup's answer differs from the files: ${difference}.`);
  }
  for (const [label, rows] of Object.entries(result.unknown_labels)) {
    print(`Not in the catalog: ${label} (${grouped(rows)} rows).`);
  }
}
