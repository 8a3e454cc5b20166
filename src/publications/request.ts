import { resolve } from 'node:path';
import { Job, type Queue } from 'bullmq';
import { inspectFile } from '../dataset/source-file.ts';
import { isUrl, withoutSecrets } from '../dataset/source-url.ts';
import { BrokenSourceError } from '../dataset/unpack.ts';
import { PUBLISH_DEDUPLICATION_ID, PUBLISH_JOB_OPTIONS, type PublishJob, publishJob } from './job.ts';
import { newRunId } from './run-id.ts';

/** What an operator asks to be published. */
export interface PublicationRequest {
  /** Paths of the two files as the worker sees them, or https URLs. */
  readonly individual: string;
  readonly business: string;
  readonly date?: string | undefined;
  readonly force?: string | undefined;
}

/** The job for these files, new or already under way, or the other publication that must end first. */
export type RequestedPublication = (
  | { readonly state: 'queued' | 'joined'; readonly job: Job; readonly data: PublishJob }
  | { readonly state: 'busy'; readonly publication: string }
) & {
  /** The publication of other files that a killed worker had left behind; its job is gone. */
  readonly abandoned?: string;
};

/**
 * Queues a publication. One runs at a time: a request for the same files joins it, any other is turned away
 * until it has ended. A job that a killed worker left behind is removed.
 *
 * @throws {Error} when a file can't be read, or the queue changes too fast
 */
export async function requestPublication(
  queue: Queue,
  request: PublicationRequest,
): Promise<RequestedPublication> {
  const data: PublishJob = {
    publication: newRunId(),
    individual: await sourceAt(request.individual),
    business: await sourceAt(request.business),
    ...(request.date === undefined ? {} : { date: request.date }),
    ...(request.force === undefined ? {} : { force: request.force }),
  };
  let abandoned: { readonly abandoned?: string } = {};
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const added = await queue.add('publish', data, {
      jobId: data.publication,
      deduplication: { id: PUBLISH_DEDUPLICATION_ID },
      ...PUBLISH_JOB_OPTIONS,
    });
    if (added.id === data.publication) return { state: 'queued', job: added, data, ...abandoned };

    const job = await Job.fromId(queue, added.id ?? '');
    // It has ended meanwhile. BullMQ gives the key of a job that it has lost to the next one.
    if (job === undefined) continue;
    const underWay = publishJob.parse(job.data);
    const isSame =
      isSameSource(underWay.individual, data.individual) && isSameSource(underWay.business, data.business);
    if (isSame) return { state: 'joined', job, data: underWay, ...abandoned };
    if (!(await removeIfAbandoned(job))) {
      return { state: 'busy', publication: underWay.publication, ...abandoned };
    }
    abandoned = { abandoned: underWay.publication };
  }
  throw new Error('Other publications come and go in the queue; ask again.');
}

const MAX_TRIES = 5;

/** Removes a job that a worker has begun and none holds: its lock ends a minute after the worker was killed. */
async function removeIfAbandoned(job: Job): Promise<boolean> {
  return (await job.isActive()) && removeIfWaitingOrAbandoned(job);
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
  try {
    await job.remove();
    return true;
  } catch {
    return false;
  }
}

type Source = PublishJob['individual'];

/**
 * A source as a job names it, without the secrets of a URL: the worker has them in its settings. A file's hash is taken
 * at once, so that one that changes before its turn is noticed. A file that can't be unpacked has none: the worker
 * refuses it and records why.
 *
 * @throws {Error} when there is no such file
 */
export async function sourceAt(location: string): Promise<Source> {
  if (isUrl(location)) return { location: withoutSecrets(location) };
  const path = resolve(location);
  try {
    const { sha256 } = await inspectFile(path);
    return { location: path, sha256 };
  } catch (error) {
    if (!(error instanceof BrokenSourceError)) throw error;
    return { location: path };
  }
}

function isSameSource(one: Source, other: Source): boolean {
  return one.sha256 === undefined ? one.location === other.location : one.sha256 === other.sha256;
}
