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
  /** The file's hash, if the file could be read at the time of the request. */
  sha256: z.string().optional(),
});

/** The data of a publish job: pointers to the files, never their rows. */
const publishJob = z.object({
  publication: z.string(),
  individual: sourcePointer,
  business: sourcePointer,
  /** The publication's date if the files have none, `YYYY-MM-DD`. */
  date: z.string().optional(),
  /** The operator's reason for overriding the guards. */
  force: z.string().regex(/\S/, 'a reason is needed').optional(),
  /** The guards that may fail. A guard may name one column after a colon: `column_changed:STATUS`. */
  accept: z.array(z.string()).optional(),
  /** The requester, as named in the audit log. */
  by: z.string().optional(),
});

export type PublishJob = z.output<typeof publishJob>;

/**
 * Returns the publication requested by a job in the queue. A scheduled job has no publication id in its data. The id is
 * made from the scheduled time, so that all attempts of the job are one publication.
 */
export function publicationOf(job: { id?: string | undefined; data: unknown }): PublishJob {
  const [, scheduledFor] = /^repeat:.*:(\d+)$/.exec(job.id ?? '') ?? [];
  if (scheduledFor === undefined) return publishJob.parse(job.data);
  const publication = `${Number(scheduledFor).toString(36)}scheduled`;
  return { ...publishJob.omit({ publication: true }).parse(job.data), publication };
}

/**
 * The progress of a publication. `done` and `total` count licenses or changes; in `downloading` and `loading` they
 * count bytes. `total` is 0 if it is unknown; both are 0 if the step counts nothing.
 */
export const publishProgress = z.object({
  step: z.enum(PUBLISH_STEPS),
  done: z.int(),
  total: z.int(),
});

export type PublishProgress = z.output<typeof publishProgress>;

export const PUBLISH_QUEUE = 'publish';

/** Only one publication runs at a time: a job with this deduplication id joins the waiting or running one. */
export const PUBLISH_DEDUPLICATION_ID = 'publication';

export const PUBLISH_JOB_OPTIONS = {
  attempts: 3,
  backoff: { type: 'exponential', delay: 5000 },
  removeOnComplete: { count: 50 },
  removeOnFail: { count: 50 },
} as const;

/** Returns the prefix of BullMQ's Redis keys. */
export function queuePrefix(indexPrefix: string): string {
  return `${indexPrefix}bull`;
}

/**
 * The connection options of the queue. BullMQ opens and closes its connections itself, and commands wait until Redis is
 * back. If a Redis becomes a replica, it refuses writes; reconnecting to its address then reaches the new primary.
 */
export function queueOptions({ REDIS_URL: url, INDEX_PREFIX }: Config) {
  const reconnectOnError = ({ message }: Error) => (message.startsWith('READONLY') ? 2 : false);
  return {
    connection: { url, maxRetriesPerRequest: null, reconnectOnError },
    prefix: queuePrefix(INDEX_PREFIX),
  };
}

/** Opens the publish queue. The caller must close it. */
export function publishQueue(config: Config): Queue {
  const queue = new Queue(PUBLISH_QUEUE, queueOptions(config));
  // Without a listener, BullMQ prints errors, including the password if Redis rejects it.
  queue.on('error', () => undefined);
  return queue;
}

/** An operator's request to publish two files, each a path as the worker sees it or an https URL. */
type PublicationRequest = Record<'individual' | 'business', string> &
  Pick<PublishJob, 'date' | 'force' | 'accept' | 'by'>;

const MAX_TRIES = 5;

/**
 * Queues a publication. Only one runs at a time: a request for the same files with the same options joins it; any other
 * request is rejected until it has ended. A job left behind by a killed worker is removed.
 *
 * @returns the job, new or already running, or the publication that must end first; and `abandoned`, the publication
 * whose job a killed worker left behind
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
    // The other job ended in the meantime. BullMQ assigns the deduplication key of a lost job to the next one.
    if (job === undefined) continue;
    const underWay = publishJob.parse(job.data);
    const { publication } = underWay;
    if (isDeepStrictEqual(requestOf(underWay), requestOf(data)))
      return { state: 'joined' as const, job, publication, abandoned };
    // A killed worker leaves its job active; the job's lock expires a minute later.
    if (!(await job.isActive()) || !(await removeIfWaitingOrAbandoned(job)))
      return { state: 'busy' as const, job: undefined, publication, abandoned };
    abandoned = publication;
  }
  throw new Error('Other publications come and go in the queue; ask again.');
}

const REMOVABLE_STATES: readonly string[] = ['waiting', 'delayed', 'active'];

/**
 * Removes a waiting job, or an active one left by a killed worker. A job stays if a worker holds it, if it has ended,
 * or if Redis has lost it: its publication may be live or may go live.
 *
 * @returns whether the job was removed
 */
export async function removeIfWaitingOrAbandoned(job: Job): Promise<boolean> {
  if (!REMOVABLE_STATES.includes(await job.getState())) return false;
  const [{ status }] = await Promise.allSettled([job.remove()]);
  return status === 'fulfilled';
}

type Source = PublishJob['individual'];

/**
 * Returns the source to store in a job, without the secrets of its URL: the worker has these in its settings. A file is
 * hashed right away, so that a change before the job runs is noticed.
 *
 * @throws {DownloadError} when the URL can't be used
 * @throws {Error} when the file does not exist
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

/**
 * The values that must be equal for one request to join another. A forced request must not join one that is not forced.
 */
function requestOf({ individual, business, date, force, accept }: PublishJob) {
  const files = [individual, business].map(({ location, sha256 }) => sha256 ?? location);
  return { files, date, force, accept };
}

const SCHEDULER = 'publish-schedule';

/**
 * Sets up the queue: one publication at a time, and a scheduled job for the two configured sources at each time of
 * PUBLISH_SCHEDULE. Both settings are lost when Redis comes back empty.
 *
 * @returns when the next scheduled publication is due, if there is one
 * @throws {ConfigError} when PUBLISH_SCHEDULE is not a cron pattern
 */
export async function setUpQueue(queue: Queue, config: Config): Promise<Date | undefined> {
  await queue.setGlobalConcurrency(1);
  const { PUBLISH_SCHEDULE: pattern, DATASET_INDIVIDUAL, DATASET_BUSINESS } = config;
  if (pattern === undefined || DATASET_INDIVIDUAL === undefined || DATASET_BUSINESS === undefined) {
    await queue.removeJobScheduler(SCHEDULER);
    return undefined;
  }
  // The publishing worker has the secrets of the URLs in its own settings.
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
