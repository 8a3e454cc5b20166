import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Job, type Queue } from 'bullmq';
import type { checkFiles } from '../../workers/publish/publish.ts';
import type { Config } from '../config.ts';
import { hasSecrets } from '../dataset/source-url.ts';
import { lastLivePublication, type PublishResult, publicationResult } from '../publications/history.ts';
import {
  type PublishProgress,
  publishProgress,
  publishQueue,
  removeIfWaitingOrAbandoned,
  requestPublication,
  sourceAt,
} from '../publications/job.ts';
import { appendEvent, PUBLISH_STEPS, readEvents } from '../publications/ledger.ts';
import { checkBuild } from '../publications/metadata.ts';
import { isAcceptable } from '../publications/refusals.ts';
import { whoRuns } from '../storage/audit-log.ts';
import type { Store } from '../storage/store.ts';
import { checkRows, isRefusing, tellingChecks, writeReport } from './checks.ts';
import { interruption } from './interruption.ts';
import type { Actions, Options } from './options.ts';
import {
  described,
  grouped,
  type Outcome,
  printError,
  showProgress,
  sumOf,
  table,
  UNTRUSTED,
} from './output.ts';
import { withOpenSearch } from './store-command.ts';

const EXIT_CODES = { live: 0, skipped: 0, would_go_live: 0, failed: 1, refused: 2, would_be_refused: 2 };
const EXIT_INTERRUPTED = 130;
const GOES_ON = 'goes on. See how it ends: npx licenses publications.';

const POLLED_EVERY_MS = 1000;
const REDIS_ANSWERS_WITHIN_MS = 30_000;

/** A worker that was just started needs a moment. */
const WORKER_EXPECTED_WITHIN_MS = 2000;
const NO_WORKER =
  'No worker is running, so nothing is published yet. Start one: npx licenses work (npm start runs one, too). ' +
  'Waiting. Ctrl-C withdraws the publication.';

/** A publication of 2.6 million rows takes one to two minutes, so this is ample. */
const LOST_AFTER_MS = 900_000;

/** Checks the files, or queues a publication and waits until it has ended, or Ctrl-C. */
export const ACTIONS: Actions = {
  publish: async (_given, options) => {
    const { check, report } = options;
    // If the report can't be written, this fails now: after the publication, the error would hide how it ended.
    if (report !== undefined) await (await open(report, 'a')).close();
    const result = await (check === true ? checkInProcess : publish)(options);
    if (!('state' in result)) return result;
    if (report !== undefined) await writeReport(report, result);
    const [code, words] = [EXIT_CODES[result.state], inWords(result, options)];
    return { value: result, code, ...(code === 0 ? { words } : { errors: words }) };
  },
};

type Loading = Awaited<ReturnType<typeof openLoading>>;

/** @throws {Error} in words for the operator when a file is missing, or Redis can't be used */
async function openLoading(options: Options, store: Store, config: Config) {
  const { individual = config.DATASET_INDIVIDUAL, business = config.DATASET_BUSINESS } = options;
  if (individual === undefined || business === undefined)
    throw new Error('Give both files: --individual FILE --business FILE.');
  // Lists of processes and the queue would show the secrets.
  if ([options.individual, options.business].some((file) => file !== undefined && hasSecrets(file)))
    throw new Error(
      '--individual and --business take no address with a user name, a password or a query. Set DATASET_INDIVIDUAL and DATASET_BUSINESS for the worker and for this command, and leave both out.',
    );
  const queue = publishQueue(config);
  await requireRedis(queue, config);
  const last = await lastLivePublication(store).catch(() => undefined);
  const { date, force, accept, json } = options;
  const show = (publication: string, progress: PublishProgress) => {
    const text = `${publication}: ${progressText(progress, last?.seconds)}`;
    if (json !== true) showProgress(text, progress.step, process.stdout);
  };
  const asked = { individual, business, date, force, accept, by: whoRuns() };
  return { config, store, queue, asked, show, interrupted: interruption() };
}

/**
 * Opens the queue for a command, and closes it afterwards. OpenSearch is opened first, so that no publication is queued
 * that the ledger can't record. The worker may still be starting, so the command creates the indices.
 *
 * @throws the errors of `openLoading`
 */
function withQueue<Result>(options: Options, work: (loading: Loading) => Promise<Result>): Promise<Result> {
  return withOpenSearch(async (store, config) => {
    const loading = await openLoading(options, store, config);
    return work(loading).finally(() => loading.queue.close());
  }, true);
}

/** @returns how the publication ended; or words, if the command did not wait for that @throws the errors of `withQueue` */
function publish(options: Options): Promise<PublishResult | Outcome> {
  return withQueue(options, async (loading) => {
    const { store, queue, asked } = loading;
    const at = new Date().toISOString();
    const { state, publication, job, abandoned } = await requestPublication(queue, asked);
    if (abandoned !== undefined)
      await recordFailed(store, abandoned, 'Its worker was lost, and then other files were asked for.');
    if (job === undefined) {
      const reason = `Publication ${publication} of other files or with other options is under way; ask again when it has ended.`;
      const value = { state: 'refused', publication: null, reasons: [reason], checks: [] };
      return { value, errors: `Refused: ${reason}`, code: EXIT_CODES.refused };
    }
    if (state === 'queued') await appendEvent(store, { publication, at, event: 'queued' });
    const result = await endOf(loading, publication);
    if (result !== undefined) return result;
    // A publication that somebody else asked for, or that a worker has begun, continues without this command.
    const isTakenBack = state === 'queued' && (await removeIfWaitingOrAbandoned(job));
    if (isTakenBack) await recordFailed(store, publication, 'Taken back before a worker had it.');
    const end = isTakenBack ? 'is taken back: no worker had it.' : GOES_ON;
    return { errors: `Publication ${publication} ${end}`, code: EXIT_INTERRUPTED };
  });
}

/**
 * Checks files in this process. The check stops as soon as a publication is queued, because no publication must wait
 * for a check.
 *
 * @param look called with the checked index before it is deleted
 * @throws the errors of `withQueue`
 */
export function checkInProcess(options: Options, look?: Parameters<typeof checkFiles>[2]) {
  return withQueue(options, async ({ config, queue, interrupted, asked, show }) => {
    const publication = checkBuild();
    const stopIfQueued = async () => {
      if ((await queue.getJobCountByTypes('waiting', 'active', 'prioritized')) > 0)
        interrupted.abort(new Error('A publication is queued or runs. Check the files when it has ended.'));
    };
    await stopIfQueued();
    interrupted.signal.throwIfAborted();
    const timer = setInterval(() => stopIfQueued().catch(() => undefined), POLLED_EVERY_MS);
    try {
      const [individual, business] = [await sourceAt(asked.individual), await sourceAt(asked.business)];
      const worker = await import('../../workers/publish/publish.ts');
      const onProgress = (progress: PublishProgress) => show(publication, progress);
      const context = { config, signal: interrupted.signal, onProgress };
      return await worker.checkFiles({ ...asked, publication, individual, business }, context, look);
    } finally {
      clearInterval(timer);
    }
  });
}

type Seconds = Readonly<Record<string, number>>;

/** How far a publication is. @param expected the duration of each step last time, to estimate the rest */
export function progressText({ step, done, total }: PublishProgress, expected: Seconds = {}): string {
  const isInBytes = step === 'downloading' || step === 'loading';
  const part = total > 0 ? done / total : 0;
  const at = PUBLISH_STEPS.indexOf(step);
  const whole = sumOf(PUBLISH_STEPS.slice(at).map((each) => expected[each] ?? 0));
  const left = whole - part * (expected[step] ?? 0);
  const time = left < 100 ? `${Math.ceil(left)} s` : `${Math.ceil(left / 60)} min`;
  const facts = [
    `${step} (step ${at + 1} of ${PUBLISH_STEPS.length})`,
    isInBytes && done > 0 ? `${grouped(Math.ceil(done / 1e6))} MB` : '',
    !isInBytes && total > 0 ? `${grouped(done)} of ${grouped(total)}` : '',
    part > 0 ? `${Math.floor(100 * part)} %` : '',
    whole > 0 ? `about ${time} to the end` : '',
  ];
  return facts.filter(Boolean).join(', ');
}

/** @throws {Error} in words for the operator when Redis can't be used. Without this check, the queue would wait forever */
async function requireRedis(queue: Queue, { REDIS_URL }: Config): Promise<void> {
  const silence = AbortSignal.timeout(REDIS_ANSWERS_WITHIN_MS);
  const [error]: unknown[] = await Promise.race([
    queue.waitUntilReady().then(() => []),
    once(queue, 'error', { signal: silence }).catch(() => [new Error('it does not answer')]),
  ]);
  if (!(error instanceof Error)) return;
  await queue.close();
  const [problem = ''] = error.message.split(';');
  const running = 'Is it running (npm start), and is REDIS_URL right?';
  const advice = problem.includes('certificate') ? UNTRUSTED : running;
  throw new Error(`Redis at ${new URL(REDIS_URL).host} can't be used: ${problem}. ${advice}`);
}

const recordFailed = (store: Store, publication: string, reason: string): Promise<void> =>
  appendEvent(store, { publication, event: 'failed', reasons: [reason] });

/**
 * Waits until the job has ended and the ledger says how. If Redis has lost the job, for example by a restart without its
 * data, the worker may still finish it, so the ledger is read for 15 more minutes.
 *
 * @param publication also the id of the job
 * @returns `undefined` when the command is interrupted
 */
async function endOf(loading: Loading, publication: string): Promise<PublishResult | undefined> {
  const { store, queue, show } = loading;
  const { signal } = loading.interrupted;
  let lastSeenAt = Date.now();
  const workerExpectedAt = lastSeenAt + WORKER_EXPECTED_WITHIN_MS;
  let isWorkerMissing = false;
  let attempts = 0;
  while (!signal.aborted) {
    const job = await Job.fromId(queue, publication);
    if (job !== undefined && job.finishedOn === undefined) {
      lastSeenAt = Date.now();
      const progress = publishProgress.safeParse(job.progress);
      if (progress.success) show(publication, progress.data);
      if (job.attemptsMade > attempts && job.failedReason !== undefined) {
        const failed = `Attempt ${job.attemptsMade} failed: ${job.failedReason}`;
        printError(`${failed} The next one begins within seconds.`);
      }
      attempts = job.attemptsMade;
    } else {
      // While OpenSearch is away, the ledger can't be read. The command waits.
      const events = await readEvents(store, publication).catch(() => undefined);
      const result = events && publicationResult(events);
      if (result !== undefined) return result;
      if (events !== undefined && (job !== undefined || Date.now() - lastSeenAt > LOST_AFTER_MS)) {
        const reason = job?.failedReason ?? 'Nothing more is known of this publication; publish again.';
        return { state: 'failed', publication, reasons: [reason], checks: [], values: {} };
      }
    }
    if (!isWorkerMissing && Date.now() > workerExpectedAt) {
      isWorkerMissing = (await queue.getWorkersCount().catch(() => 1)) === 0;
      if (isWorkerMissing) printError(NO_WORKER);
    }
    await sleep(POLLED_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

/** How the publication ended. If it was refused, also the next commands: to see all changes, or to accept them. */
function inWords(result: PublishResult, { individual, business, force }: Options): string[] {
  const { state, publication } = result;
  if (state === 'skipped')
    return [`Skipped: publication ${result.live} of ${result.date} has the same files and is live.`];
  const { notes = [], checks } = result;
  const passedOver = state === 'live' ? result.overridden : result.reasons;
  const how = force === undefined ? 'Accepted' : 'Forced past';
  const passing = [...passedOver.map((reason) => `${how}: ${reason}`), ...notes];
  if (state === 'would_go_live') return ['Would go live.', ...passing, ...described(tellingChecks(checks))];
  if (state === 'live') {
    const { date, rows, seconds, rows_per_second, licenses, endorsements, rejected } = result;
    return [
      `Live: publication ${publication}, dataset of ${date}: ${grouped(rows)} rows in ${seconds} s.`,
      ...described({ rows_per_second, licenses, endorsements, rejected }),
      ...passing,
      ...described({ 'not in the catalog': result.unknown_labels }),
    ];
  }
  const [first = '', ...others] = result.reasons;
  const headline = `${state.charAt(0).toUpperCase()}${state.slice(1).replaceAll('_', ' ')}: ${first}`;
  const refusing = checks.filter(isRefusing);
  if (refusing.length === 0) return [headline, ...others];
  const files = [individual && ` --individual ${individual}`, business && ` --business ${business}`].join('');
  const accepted = refusing.map(({ check, column }) => ` --accept ${[check, column ?? []].flat().join(':')}`);
  const confirmed = `npx licenses publish${files}${[...new Set(accepted)].join('')}`;
  const next = {
    // A check is not in the ledger.
    Publication: state === 'refused' ? publication : null,
    'All that changes': `npx licenses publications diff live${files}`,
    'If the State confirms it': refusing.every(({ check }) => isAcceptable(check)) ? confirmed : null,
  };
  return [headline, ...others, '', ...table(checkRows(refusing)), '', ...described(next)];
}
