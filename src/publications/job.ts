import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Job, Queue } from 'bullmq';
import { z } from 'zod';
import { type Config, ConfigError } from '../config.ts';
import { inspectFile } from '../dataset/source-file.ts';
import { datedLocation, isUrl, parseSourceUrl, withoutSecrets } from '../dataset/source-url.ts';
import { OHIO_TIME_ZONE } from '../licenses/dates.ts';
import { PUBLISH_STEPS } from './ledger.ts';
import { newId } from './metadata.ts';

const sourcePointer = z.object({
  /** A path as the worker sees it, or an https URL without its secrets. */
  location: z.string(),
  /** Of the file, where it could be read when the publication was asked for. */
  sha256: z.string().optional(),
});

/** What a publish job carries: pointers to the files, never their rows. */
const publishJob = z.object({
  publication: z.string(),
  individual: sourcePointer,
  business: sourcePointer,
  /** The publication's date where the files have none, `YYYY-MM-DD`. */
  date: z.string().optional(),
  /** The operator's reason for going past the guards. */
  force: z.string().regex(/\S/, 'a reason is needed').optional(),
  /** The guards that may fail, each alone or, after a colon, with the column in which it may: `column_changed:STATUS`. */
  accept: z.array(z.string()).optional(),
  /** Who asked for it, as the audit log names them. */
  by: z.string().optional(),
});

export type PublishJob = z.output<typeof publishJob>;

/**
 * The publication that a job of the queue asks for. A scheduled job has no id of its own in its data: it is made
 * from the moment for which it was scheduled, so that all its attempts are one publication.
 */
export function publicationOf(job: { id?: string | undefined; data: unknown }): PublishJob {
  const [, scheduledFor] = /^repeat:.*:(\d+)$/.exec(job.id ?? '') ?? [];
  if (scheduledFor === undefined) return publishJob.parse(job.data);
  const publication = `${Number(scheduledFor).toString(36)}scheduled`;
  return { ...publishJob.omit({ publication: true }).parse(job.data), publication };
}

/**
 * How far a publication is. `done` and `total` count licenses or changes, in `downloading` and `loading` bytes. `total`
 * is 0 where it is not known; both are where the step counts nothing.
 */
export const publishProgress = z.object({
  step: z.enum(PUBLISH_STEPS),
  done: z.int(),
  total: z.int(),
});

export type PublishProgress = z.output<typeof publishProgress>;

export const PUBLISH_QUEUE = 'publish';

/** One publication at a time: jobs with this deduplication id join the one that waits or runs. */
export const PUBLISH_DEDUPLICATION_ID = 'publication';

export const PUBLISH_JOB_OPTIONS = {
  attempts: 3,
  backoff: { type: 'exponential', delay: 5000 },
  removeOnComplete: { count: 50 },
  removeOnFail: { count: 50 },
} as const;

/** What BullMQ's Redis keys begin with. */
export function queuePrefix(indexPrefix: string): string {
  return `${indexPrefix}bull`;
}

/**
 * Where the queue is. BullMQ opens and closes its connections itself, and commands wait for Redis to come back. A Redis
 * that has become a replica takes no writes: its address leads to the new one after connecting again.
 */
export function queueOptions({ REDIS_URL: url, INDEX_PREFIX }: Config) {
  const reconnectOnError = ({ message }: Error) => (message.startsWith('READONLY') ? 2 : false);
  return {
    connection: { url, maxRetriesPerRequest: null, reconnectOnError },
    prefix: queuePrefix(INDEX_PREFIX),
  };
}

/** The publish queue; the caller closes it. */
export function publishQueue(config: Config): Queue {
  const queue = new Queue(PUBLISH_QUEUE, queueOptions(config));
  // BullMQ prints errors that nobody listens to, with the password where Redis refuses it.
  queue.on('error', () => undefined);
  return queue;
}

/** What an operator asks to be published: two paths as the worker sees them, or https URLs. */
type PublicationRequest = Record<'individual' | 'business', string> &
  Pick<PublishJob, 'date' | 'force' | 'accept' | 'by'>;

const MAX_TRIES = 5;

/**
 * Queues a publication. One runs at a time: a request for the same files with the same options joins it, any other is turned away
 * until it has ended. A job that a killed worker left behind is removed.
 *
 * @returns the job, new or already under way, or the publication that must end first; and `abandoned`, the publication
 * whose job a killed worker had left behind
 * @throws {Error} when a file can't be read, or the queue changes too fast
 */
export async function requestPublication(
  queue: Queue,
  { individual, business, ...options }: PublicationRequest,
) {
  const sources = { individual: await sourceAt(individual), business: await sourceAt(business) };
  const data: PublishJob = { publication: newId(), ...sources, ...options };
  let abandoned: string | undefined;
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const added = await queue.add('publish', data, {
      jobId: data.publication,
      deduplication: { id: PUBLISH_DEDUPLICATION_ID },
      ...PUBLISH_JOB_OPTIONS,
    });
    if (added.id === data.publication)
      return { state: 'queued' as const, job: added, publication: data.publication, abandoned };

    const job = await Job.fromId(queue, added.id ?? '');
    // It has ended meanwhile. BullMQ gives the key of a job that it has lost to the next one.
    if (job === undefined) continue;
    const underWay = publishJob.parse(job.data);
    const { publication } = underWay;
    if (isDeepStrictEqual(requestOf(underWay), requestOf(data)))
      return { state: 'joined' as const, job, publication, abandoned };
    // A worker that was killed leaves its job active; the lock ends a minute later.
    if (!(await job.isActive()) || !(await removeIfWaitingOrAbandoned(job)))
      return { state: 'busy' as const, job: undefined, publication, abandoned };
    abandoned = publication;
  }
  throw new Error('Other publications come and go in the queue; ask again.');
}

const REMOVABLE_STATES: readonly string[] = ['waiting', 'delayed', 'active'];

/**
 * Removes a job that waits, or that a killed worker left active. A job that a worker holds, that has ended or that
 * Redis has lost stays as it is: its publication may be live, or go live.
 *
 * @returns whether it was removed
 */
export async function removeIfWaitingOrAbandoned(job: Job): Promise<boolean> {
  if (!REMOVABLE_STATES.includes(await job.getState())) return false;
  const [{ status }] = await Promise.allSettled([job.remove()]);
  return status === 'fulfilled';
}

type Source = PublishJob['individual'];

/**
 * A source as a job names it, without the secrets of a URL: the worker has them in its settings. A file's hash is taken
 * at once, so that one that changes before its turn is noticed.
 *
 * @throws {DownloadError} when the URL can't be used
 * @throws {Error} when there is no such file
 */
export async function sourceAt(location: string): Promise<Source> {
  if (isUrl(location)) {
    parseSourceUrl(location);
    return { location: withoutSecrets(location) };
  }
  const path = resolve(datedLocation(location));
  const { sha256 } = await inspectFile(path);
  return { location: path, sha256 };
}

/** What two requests that are one have in common: who forces one must not join one that is not forced. */
function requestOf({ individual, business, date, force, accept }: PublishJob) {
  const files = [individual, business].map(({ location, sha256 }) => sha256 ?? location);
  return { files, date, force, accept };
}

const SCHEDULER = 'publish-schedule';

/**
 * Sets up the queue: one publication at a time, and one of the two sources at each time of PUBLISH_SCHEDULE. A Redis
 * that comes back empty has lost both.
 *
 * @returns when the next one is due, if one is
 * @throws {ConfigError} when PUBLISH_SCHEDULE is no cron pattern
 */
export async function setUpQueue(queue: Queue, config: Config): Promise<Date | undefined> {
  await queue.setGlobalConcurrency(1);
  const { PUBLISH_SCHEDULE: pattern, DATASET_INDIVIDUAL, DATASET_BUSINESS } = config;
  if (pattern === undefined || DATASET_INDIVIDUAL === undefined || DATASET_BUSINESS === undefined) {
    await queue.removeJobScheduler(SCHEDULER);
    return undefined;
  }
  // The worker that publishes has the secrets of the addresses in its own settings.
  const data = {
    individual: { location: withoutSecrets(DATASET_INDIVIDUAL) },
    business: { location: withoutSecrets(DATASET_BUSINESS) },
  };
  try {
    const repeat = { pattern, tz: OHIO_TIME_ZONE };
    await queue.upsertJobScheduler(SCHEDULER, repeat, { name: 'publish', data, opts: PUBLISH_JOB_OPTIONS });
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new ConfigError(
      `PUBLISH_SCHEDULE is ${JSON.stringify(pattern)}, but must be a cron pattern: ${problem}`,
    );
  }
  const scheduler = await queue.getJobScheduler(SCHEDULER);
  return scheduler?.next === undefined ? undefined : new Date(scheduler.next);
}
