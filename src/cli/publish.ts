import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Job, type Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { type Config, readConfig } from '../config.ts';
import { hasSecrets } from '../dataset/source-url.ts';
import {
  type CheckResult,
  lastLivePublication,
  type PublishResult,
  publicationResult,
} from '../publications/history.ts';
import {
  type PublishJob,
  type PublishProgress,
  publishProgress,
  publishQueue,
  removeIfWaitingOrAbandoned,
  requestPublication,
  sourceAt,
} from '../publications/job.ts';
import { appendEvent, type Check, readEvents } from '../publications/ledger.ts';
import { checkBuild } from '../publications/metadata.ts';
import { whoRuns } from '../storage/audit-log.ts';
import type { Store } from '../storage/store.ts';
import { checkTable, closeChecks, isAcceptable, isRefusing, writeReport } from './checks.ts';
import { grouped, print, printError, printJson, sumOf } from './output.ts';
import { progressDisplay } from './progress.ts';
import { type JsonOption, withOpenSearch } from './store-command.ts';

const EXIT_CODES = {
  ...{ live: 0, skipped: 0, failed: 1, refused: 2 },
  ...{ would_go_live: 0, would_be_refused: 2 },
} as const;
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
  readonly check?: boolean;
  readonly accept?: readonly string[];
  readonly report?: string;
  readonly individual?: string;
  readonly business?: string;
  readonly date?: string;
  readonly force?: string;
}

/**
 * Checks the files, or queues a publication and waits until it has ended, or Ctrl-C.
 *
 * @param checkFiles does all that a publication does but going live
 * @throws {Error} in words for the operator when Redis or a file is missing
 */
export async function publishAndWait(options: PublishOptions, checkFiles: CheckFiles): Promise<void> {
  const config = readConfig();
  const { date, force, accept } = options;
  const { individual, business } = filesOf(options, config);
  await requireRedis(config);
  if (options.check === true) return checkAndPrint(options, config, checkFiles);
  // A publication that can't be recorded is not queued. The worker may still be starting.
  await withOpenSearch(async () => undefined, { createsIndices: true });
  const queue = publishQueue(config);
  const finished = new AbortController();
  // From here on Ctrl-C may leave a job behind, so it is taken back in order.
  const interrupted = once(process, 'SIGINT', { signal: finished.signal }).catch(() => undefined);
  try {
    const askedAt = new Date().toISOString();
    const asked = { individual, business, date, force, accept: accept && [...accept], by: whoRuns() };
    const requested = await requestPublication(queue, asked);
    if (requested.abandoned !== undefined) {
      await recordFailed(requested.abandoned, 'Its worker was lost, and then other files were asked for.');
    }
    if (requested.state === 'busy') {
      const reason = `Publication ${requested.publication} of other files is under way; ask again when it has ended.`;
      return printResult({ state: 'refused', publication: null, reasons: [reason], checks: [] }, options);
    }
    const { job, data, state } = requested;
    if (state === 'queued') await recordQueued(data.publication, askedAt);
    const display = options.json === true ? undefined : await displayOf(data.publication);
    const showProgress = (reported: unknown) => {
      const progress = publishProgress.safeParse(reported);
      if (progress.success) display?.show(progress.data);
    };
    const ended = endOf(queue, job.id ?? '', data.publication, showProgress, finished.signal);
    const result = await Promise.race([ended, interrupted.then(() => undefined)]);
    display?.end();
    if (result === undefined) await takeBack(job, data.publication, state === 'queued');
    else await printResult(result, options);
  } finally {
    finished.abort();
    await queue.close();
  }
}

/** Both files: those given, or those of the settings. @throws {Error} when one is missing */
export function filesOf(
  given: Pick<PublishOptions, 'individual' | 'business'>,
  { DATASET_INDIVIDUAL, DATASET_BUSINESS }: Config,
): { individual: string; business: string } {
  refuseSecrets('individual', given.individual);
  refuseSecrets('business', given.business);
  const { individual = DATASET_INDIVIDUAL, business = DATASET_BUSINESS } = given;
  if (individual === undefined || business === undefined) {
    throw new Error('Give both files: --individual FILE --business FILE.');
  }
  return { individual, business };
}

async function displayOf(publication: string) {
  const last = await withOpenSearch(lastLivePublication).catch(() => undefined);
  return progressDisplay(publication, last?.seconds);
}

/** Does all that a publication does but going live, in this process. */
export type CheckFiles = (
  job: PublishJob,
  context: {
    readonly config: Config;
    readonly signal: AbortSignal;
    readonly onProgress: (progress: PublishProgress) => void;
  },
  look?: (store: Store, index: string) => Promise<void>,
) => Promise<CheckResult | PublishResult>;

async function checkAndPrint(options: PublishOptions, config: Config, checkFiles: CheckFiles): Promise<void> {
  const { date, force, accept } = options;
  const job = { ...(await checkJob(filesOf(options, config))), date, force, accept: accept && [...accept] };
  const display = options.json === true ? undefined : await displayOf(job.publication);
  const onProgress = (progress: PublishProgress) => display?.show(progress);
  const result = await unlessQueued(config, (signal) => checkFiles(job, { config, signal, onProgress }));
  display?.end();
  await printResult(result, options);
}

/** A job that is not queued. */
export async function checkJob(files: { individual: string; business: string }): Promise<PublishJob> {
  const { individual, business } = files;
  const sources = { individual: await sourceAt(individual), business: await sourceAt(business) };
  return { publication: checkBuild(), ...sources };
}

const BUSY = 'A publication is queued or runs. Check the files when it has ended.';

/** Does what a publication must not wait for. It is stopped once one is queued. */
export async function unlessQueued<Result>(
  config: Config,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const queue = publishQueue(config);
  const stopped = new AbortController();
  const stop = () => stopped.abort(new Error('Interrupted.'));
  process.once('SIGINT', stop);
  const look = async () => {
    const jobs = await queue.getJobCounts('waiting', 'active', 'prioritized');
    if (sumOf(jobs) > 0) stopped.abort(new Error(BUSY));
  };
  const timer = setInterval(() => look().catch(() => undefined), POLLED_EVERY_MS);
  try {
    await look();
    stopped.signal.throwIfAborted();
    return await work(stopped.signal);
  } finally {
    clearInterval(timer);
    process.removeListener('SIGINT', stop);
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
        return { state: 'failed', publication, reasons: [reason], checks: [], values: {} };
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
type Report =
  | PublishResult
  | CheckResult
  | { state: 'refused'; publication: null; reasons: string[]; checks: Check[] };

async function printResult(result: Report, options: PublishOptions): Promise<void> {
  process.exitCode = EXIT_CODES[result.state];
  if (options.report !== undefined && 'values' in result) {
    const reported = result.state === 'live' ? { ...result, reasons: result.overridden } : result;
    await writeReport(options.report, reported);
  }
  if (options.json === true) {
    printJson(result);
    return;
  }
  if (result.state === 'skipped') {
    print(`Skipped: publication ${result.live} of ${result.date} has the same files and is live.`);
    return;
  }
  if (result.state === 'would_go_live') {
    print('Would go live.');
    for (const reason of result.reasons) print(`Accepted: ${reason}`);
    for (const note of result.notes) print(note);
    const close = closeChecks(result.checks);
    if (close.length > 0) print(['', 'What came close:', ...checkTable(close)]);
    return;
  }
  if (result.state !== 'live') {
    const [first = '', ...others] = result.reasons;
    printError([`${ENDS[result.state]}: ${first}`, ...others]);
    const failed = result.checks.filter(isRefusing);
    const counted = failed.filter(({ before }) => before !== undefined);
    if (counted.length > 0) printError(['', ...checkTable(counted)]);
    if (failed.length > 0) printError(['', ...nextCommands(result, options)]);
    return;
  }
  print(
    `Live: publication ${result.publication}, dataset of ${result.date}: ${grouped(result.rows)} rows, ` +
      `${grouped(result.licenses)} licenses and ${grouped(result.endorsements)} endorsements, ` +
      `${grouped(result.rejected)} rows rejected, in ${result.seconds} s (${grouped(result.rows_per_second)} rows/s).`,
  );
  const how = options.force === undefined ? 'Accepted' : 'Forced past';
  for (const overridden of result.overridden) print(`${how}: ${overridden}`);
  for (const note of result.notes) print(note);
  for (const [label, rows] of Object.entries(result.unknown_labels)) {
    print(`Not in the catalog: ${label} (${grouped(rows)} rows).`);
  }
}

const ENDS = { refused: 'Refused', failed: 'Failed', would_be_refused: 'Would be refused' } as const;

/** What an operator does next: looks at all that changes, or accepts exactly what was refused. */
function nextCommands(
  { publication, checks }: Pick<Report & { checks: readonly Check[] }, 'publication' | 'checks'>,
  { individual, business }: PublishOptions,
): string[] {
  const files = [
    ...(individual === undefined ? [] : [`--individual ${individual}`]),
    ...(business === undefined ? [] : [`--business ${business}`]),
  ].join(' ');
  const refusing = checks.filter(isRefusing);
  const accepted = refusing.map(({ check, column }) => (column === null ? check : `${check}:${column}`));
  const all = [...new Set(accepted)].map((each) => `--accept ${each}`).join(' ');
  return [
    ...(publication === null ? [] : [`Publication: ${publication}`]),
    `All that changes:          licenses publications diff live ${files}`.trimEnd(),
    ...(refusing.every(({ check }) => isAcceptable(check))
      ? [`If the State confirms it:  licenses publish ${files} ${all}`.replace('  --', ' --')]
      : []),
  ];
}
