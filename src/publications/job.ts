import { type ConnectionOptions, Queue } from 'bullmq';
import { z } from 'zod';
import type { Config } from '../config.ts';
import { PUBLISH_STEPS } from './steps.ts';

const sourcePointer = z.object({
  /** A path as the worker sees it, or an https URL without its secrets. */
  location: z.string(),
  /** Of the file, where it could be read when the publication was asked for. */
  sha256: z.string().optional(),
});

/** What a publish job carries: pointers to the files, never their rows. */
export const publishJob = z.object({
  publication: z.string(),
  individual: sourcePointer,
  business: sourcePointer,
  /** The publication's date where the files have none, `YYYY-MM-DD`. */
  date: z.string().optional(),
  /** The operator's reason for going past the guards. */
  force: z.string().optional(),
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
  return publishJob.parse({ ...scheduledJob.parse(job.data), publication });
}

/** The data of a scheduled job. */
const scheduledJob = publishJob.omit({ publication: true });

/** How far a publication is. Only loading takes long, so only loading is counted. */
export const publishProgress = z.object({
  step: z.enum(PUBLISH_STEPS),
  bytes: z.int(),
  total_bytes: z.int(),
  rows: z.int(),
  documents: z.int(),
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

/** How BullMQ connects: it opens and closes its connections itself, and commands wait for Redis to come back. */
export function queueConnection(config: Config): ConnectionOptions {
  return { url: config.REDIS_URL, maxRetriesPerRequest: null };
}

/** For errors of a queue: BullMQ prints those that nobody listens to, with the password where Redis refuses it. */
export const NOT_PRINTED = (): void => undefined;

/** The publish queue; the caller closes it. */
export function publishQueue(config: Config): Queue {
  const queue = new Queue(PUBLISH_QUEUE, {
    connection: queueConnection(config),
    prefix: queuePrefix(config.INDEX_PREFIX),
  });
  queue.on('error', NOT_PRINTED);
  return queue;
}
