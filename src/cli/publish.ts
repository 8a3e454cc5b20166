import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Job, type Queue } from 'bullmq';
import { type Config, readConfig } from '../config.ts';
import { hasSecrets } from '../dataset/source-url.ts';
import { lastLivePublication, type PublishResult, publicationResult } from '../publications/history.ts';
import {
  type PublishJob,
  type PublishProgress,
  publishProgress,
  publishQueue,
  removeIfWaitingOrAbandoned,
  requestPublication,
  sourceAt,
} from '../publications/job.ts';
import { appendEvent, PUBLISH_STEPS, readEvents } from '../publications/ledger.ts';
import { checkBuild } from '../publications/metadata.ts';
import { whoRuns } from '../storage/audit-log.ts';
import type { Store } from '../storage/store.ts';
import { checkRows, closeChecks, isAcceptable, isRefusing, writeReport } from './checks.ts';
import type { Actions } from './options.ts';
import { described, grouped, type Outcome, printError, table } from './output.ts';
import { interruption, startDisplay } from './progress.ts';
import { withOpenSearch } from './store-command.ts';

const EXIT_CODES = {
  ...{ live: 0, skipped: 0, failed: 1, refused: 2 },
  ...{ would_go_live: 0, would_be_refused: 2 },
} as const;
const EXIT_INTERRUPTED = 130;

const POLLED_EVERY_MS = 1000;
const REDIS_ANSWERS_WITHIN_MS = 30_000;

/** A worker that was just started needs a moment. */
const WORKER_EXPECTED_WITHIN_MS = 2000;
const NO_WORKER =
  'No worker is running, so nothing is published yet. Start one: npx licenses work (npm start runs one, too). ' +
  'Waiting. Ctrl-C withdraws the publication.';

/** A publication of 2.6 million rows takes one to two minutes. */
const LOST_AFTER_MS = 900_000;

/** The options of a command that loads files. */
export interface PublishOptions extends Pick<PublishJob, 'date' | 'force' | 'accept'> {
  readonly individual?: string;
  readonly business?: string;
  readonly check?: boolean;
  readonly report?: string;
  readonly json?: boolean;
}

/** Checks the files, or queues a publication and waits until it has ended, or Ctrl-C. */
export const ACTIONS: Actions = {
  publish: async (_given, options: PublishOptions) => {
    const { check, report } = options;
    // Afterwards, an error would hide how the publication ended.
    if (report !== undefined) await (await open(report, 'a')).close();
    const result = await (check === true ? checkInProcess : publish)(options);
    if ('code' in result) return result;
    if (report !== undefined) await writeReport(report, result);
    return { value: result, code: EXIT_CODES[result.state], ...inWords(result, options) };
  },
};

/**
 * The queue, which the caller closes, and what is asked of it: the files that were given, or those of the settings.
 *
 * @throws {Error} in words for the operator when a file is missing or Redis can't be used
 */
async function openQueue({ date, force, accept, ...given }: PublishOptions) {
  const config = readConfig();
  const { individual = config.DATASET_INDIVIDUAL, business = config.DATASET_BUSINESS } = given;
  if (individual === undefined || business === undefined)
    throw new Error('Give both files: --individual FILE --business FILE.');
  // The queue and lists of processes would show them.
  if ([given.individual, given.business].some((file) => file !== undefined && hasSecrets(file)))
    throw new Error(
      '--individual and --business take no address with a user name, a password or a query. Set DATASET_INDIVIDUAL and DATASET_BUSINESS for the worker and for this command, and leave both out.',
    );
  const queue = publishQueue(config);
  const asked = { individual, business, date, force, accept };
  await requireRedis(queue, config);
  return { queue, asked, interrupted: interruption() };
}

/** How the command ends where nothing was published. */
type NoPublication = Outcome & { readonly code: number };

/** @throws {Error} in words for the operator */
async function publish(options: PublishOptions): Promise<PublishResult | NoPublication> {
  const { queue, asked, interrupted } = await openQueue(options);
  // A publication that can't be recorded is not queued. The worker may still be starting.
  return withOpenSearch(async (store) => {
    const at = new Date().toISOString();
    const { state, publication, job, abandoned } = await requestPublication(queue, {
      ...asked,
      by: whoRuns(),
    });
    if (abandoned !== undefined)
      await recordFailed(store, abandoned, 'Its worker was lost, and then other files were asked for.');
    if (job === undefined) {
      const reason = `Publication ${publication} of other files or with other options is under way; ask again when it has ended.`;
      const value = { state: 'refused', publication: null, reasons: [reason], checks: [] };
      return { value, errors: `Refused: ${reason}`, code: EXIT_CODES.refused };
    }
    if (state === 'queued') await appendEvent(store, { publication, at, event: 'queued' });
    const last = await lastLivePublication(store).catch(() => undefined);
    const display = progressDisplay(publication, options, last?.seconds);
    const result = await endOf(store, queue, publication, interrupted.signal, display.show);
    display.end();
    return result ?? takeBack(store, job, publication, state === 'queued');
  }, true).finally(() => queue.close());
}

/**
 * Checks files in this process. A publication must not wait for that: the check is stopped once one is queued.
 *
 * @param look gets the index while it is there
 * @throws {Error} in words for the operator when Redis or a file is missing
 */
export async function checkInProcess(
  options: PublishOptions,
  look?: (store: Store, index: string) => Promise<void>,
): Promise<PublishResult> {
  const { queue, asked, interrupted } = await openQueue(options);
  const stopIfQueued = async () => {
    if ((await queue.getJobCountByTypes('waiting', 'active', 'prioritized')) > 0)
      interrupted.abort(new Error('A publication is queued or runs. Check the files when it has ended.'));
  };
  const publication = checkBuild();
  const timer = setInterval(() => stopIfQueued().catch(() => undefined), POLLED_EVERY_MS);
  return withOpenSearch(async (store, config) => {
    const last = await lastLivePublication(store).catch(() => undefined);
    const { show: onProgress, end } = progressDisplay(publication, options, last?.seconds);
    try {
      await stopIfQueued();
      interrupted.signal.throwIfAborted();
      const [individual, business] = [await sourceAt(asked.individual), await sourceAt(asked.business)];
      const { checkFiles } = await import('../../workers/publish/publish.ts');
      const context = { config, signal: interrupted.signal, onProgress };
      return await checkFiles({ ...asked, publication, individual, business }, context, look);
    } finally {
      end();
    }
  }, true).finally(() => {
    clearInterval(timer);
    return queue.close();
  });
}

/**
 * Shows how far a publication is, step by step, unless JSON is asked for.
 *
 * @param expected how many seconds each step took the last time, by which the rest is judged
 */
export function progressDisplay(
  publication: string,
  { json = false }: { readonly json?: boolean },
  expected: Readonly<Record<string, number>> = {},
) {
  const display = startDisplay(process.stdout);
  let shown: PublishProgress['step'] | undefined;
  let since = 0;
  function show({ step, done, total }: PublishProgress): void {
    if (json) return;
    if (step !== shown) {
      display.end();
      [shown, since] = [step, Date.now()];
    }
    const isInBytes = step === 'downloading' || step === 'loading';
    const part = total > 0 ? done / total : 0;
    const at = PUBLISH_STEPS.indexOf(step);
    const seconds = PUBLISH_STEPS.slice(at).reduce((sum, each) => sum + (expected[each] ?? 0), 0);
    const left = seconds - Math.min(expected[step] ?? 0, (Date.now() - since) / 1000);
    const facts = [
      `${publication}: ${step} (step ${at + 1} of ${PUBLISH_STEPS.length})`,
      isInBytes && done > 0 ? `${grouped(Math.ceil(done / 1e6))} MB` : '',
      !isInBytes && total > 0 ? `${grouped(done)} of ${grouped(total)}` : '',
      part > 0 ? `${Math.floor(100 * part)} %` : '',
      seconds > 0
        ? `about ${left < 100 ? `${Math.ceil(left)} s` : `${Math.ceil(left / 60)} min`} to the end`
        : '',
    ];
    display.show(facts.filter(Boolean).join(', '));
  }
  return { show, end: () => display.end() };
}

/** @throws {Error} in words for the operator when Redis can't be used: the queue itself, which is closed, would wait */
async function requireRedis(queue: Queue, { REDIS_URL }: Config): Promise<void> {
  const silence = AbortSignal.timeout(REDIS_ANSWERS_WITHIN_MS);
  const [error]: unknown[] = await Promise.race([
    queue.waitUntilReady().then(() => []),
    once(queue, 'error', { signal: silence }).catch(() => [new Error('it does not answer')]),
  ]);
  if (!(error instanceof Error)) return;
  await queue.close();
  const [problem = ''] = error.message.split(';');
  const advice = problem.includes('certificate')
    ? 'Set NODE_EXTRA_CA_CERTS to the PEM file of its authority.'
    : 'Is it running (npm start), and is REDIS_URL right?';
  throw new Error(`Redis at ${new URL(REDIS_URL).host} can't be used: ${problem}. ${advice}`);
}

function recordFailed(store: Store, publication: string, reason: string): Promise<void> {
  return appendEvent(store, { publication, event: 'failed', reasons: [reason] });
}

/**
 * Waits until the job has ended and the ledger says how. A job that Redis has lost, as when it was restarted without
 * its data, may go on in its worker: the ledger is asked for 15 more minutes.
 *
 * @param publication also the id of the job
 * @returns `undefined` when the signal aborts
 */
async function endOf(
  store: Store,
  queue: Queue,
  publication: string,
  signal: AbortSignal,
  onProgress: (progress: PublishProgress) => void,
): Promise<PublishResult | undefined> {
  const startedAt = Date.now();
  let isWorkerMissing = false;
  let lastSeenAt = startedAt;
  let attempts = 0;
  while (!signal.aborted) {
    const job = await Job.fromId(queue, publication);
    if (job !== undefined && job.finishedOn === undefined) {
      lastSeenAt = Date.now();
      const progress = publishProgress.safeParse(job.progress);
      if (progress.success) onProgress(progress.data);
      if (job.attemptsMade > attempts && job.failedReason)
        printError(
          `Attempt ${job.attemptsMade} failed: ${job.failedReason} The next one begins within seconds.`,
        );
      attempts = job.attemptsMade;
    } else {
      // While OpenSearch is away, nobody can say how the publication ended.
      const events = await readEvents(store, publication).catch(() => undefined);
      const result = events && publicationResult(events);
      if (result !== undefined) return result;
      if (events !== undefined && (job !== undefined || Date.now() - lastSeenAt > LOST_AFTER_MS)) {
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
  }
  return undefined;
}

/** Removes the job where this command asked for it and no worker has it; another one goes on without the command. */
async function takeBack(store: Store, job: Job, publication: string, isOwn: boolean) {
  const isTakenBack = isOwn && (await removeIfWaitingOrAbandoned(job));
  if (isTakenBack) await recordFailed(store, publication, 'Taken back before a worker had it.');
  const end = isTakenBack
    ? 'is taken back: no worker had it.'
    : 'goes on. See how it ends: licenses publications.';
  return { errors: `Publication ${publication} ${end}`, code: EXIT_INTERRUPTED };
}

function inWords(result: PublishResult, options: PublishOptions): Pick<Outcome, 'words' | 'errors'> {
  if ('overridden' in result) return { words: liveLines(result, options.force) };
  if (result.state === 'skipped')
    return { words: `Skipped: publication ${result.live} of ${result.date} has the same files and is live.` };
  if (result.state !== 'would_go_live') return { errors: refusedLines(result, options) };
  const close = closeChecks(result.checks);
  return {
    words: [
      ...[
        'Would go live.',
        ...result.reasons.map((reason) => `Accepted: ${reason}`),
        ...(result.notes ?? []),
      ],
      ...(close.length > 0 ? ['', 'What came close:', ...table(checkRows(close))] : []),
    ],
  };
}

function liveLines(result: Extract<PublishResult, { state: 'live' }>, force: string | undefined): string[] {
  const { publication, date, rows, licenses, endorsements, rejected, seconds, rows_per_second } = result;
  const how = force === undefined ? 'Accepted' : 'Forced past';
  return [
    `Live: publication ${publication}, dataset of ${date}: ${grouped(rows)} rows, ` +
      `${grouped(licenses)} licenses and ${grouped(endorsements)} endorsements, ` +
      `${grouped(rejected)} rows rejected, in ${seconds} s (${grouped(rows_per_second)} rows/s).`,
    ...result.overridden.map((reason) => `${how}: ${reason}`),
    ...result.notes,
    ...Object.entries(result.unknown_labels).map(
      ([label, count]) => `Not in the catalog: ${label} (${grouped(count)} rows).`,
    ),
  ];
}

/** Why nothing goes live, and what an operator does next: looks at all that changes, or accepts what was refused. */
function refusedLines(
  { state, publication, reasons, checks }: Extract<PublishResult, { readonly reasons: readonly string[] }>,
  { individual, business }: PublishOptions,
): string[] {
  const [first = '', ...others] = reasons;
  const refusing = checks.filter(isRefusing);
  const counted = refusing.filter(({ before }) => before !== undefined);
  const files = [individual && ` --individual ${individual}`, business && ` --business ${business}`].join('');
  const accepted = refusing.map(({ check, column }) => ` --accept ${[check, column ?? []].flat().join(':')}`);
  const next = {
    // The ledger does not know a check.
    Publication: state === 'refused' ? publication : null,
    'All that changes': `licenses publications diff live${files}`,
    'If the State confirms it':
      refusing.every(({ check }) => isAcceptable(check)) &&
      `licenses publish${files}${[...new Set(accepted)].join('')}`,
  };
  return [
    ...[`${sentence(state)}: ${first}`, ...others],
    ...(counted.length > 0 ? ['', ...table(checkRows(counted))] : []),
    ...(refusing.length > 0 ? ['', ...described(next)] : []),
  ];
}

/** A state as words: `would_be_refused` → `Would be refused`. */
function sentence(state: string): string {
  return state.charAt(0).toUpperCase() + state.slice(1).replaceAll('_', ' ');
}
