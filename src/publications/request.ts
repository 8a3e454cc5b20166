import { Job, type Queue } from 'bullmq';
import { inspectFile } from '../dataset/source-file.ts';
import { PUBLISH_DEDUPLICATION_ID, type PublishJob, publishJob } from './job.ts';
import { newRunId } from './run-id.ts';

/** What an operator asks to be published. */
export interface PublicationRequest {
  /** Paths of the two files, as the worker sees them. */
  readonly individual: string;
  readonly business: string;
  readonly date?: string | undefined;
  readonly force?: string | undefined;
}

const ATTEMPTS = 3;
const FIRST_RETRY_MS = 5000;
const ENDED_JOBS_KEPT = 50;

/** The job of these files, new or under way already, or the other publication that must end first. */
export type RequestedPublication =
  | { readonly state: 'queued' | 'joined'; readonly job: Job; readonly data: PublishJob }
  | { readonly state: 'busy'; readonly publication: string };

/**
 * Queues a publication. One runs at a time: a request for the same files joins it, any other is turned away
 * until it has ended.
 *
 * @throws {Error} when a file can't be read
 */
export async function requestPublication(
  queue: Queue,
  request: PublicationRequest,
): Promise<RequestedPublication> {
  const [individual, business] = [await inspectFile(request.individual), await inspectFile(request.business)];
  const data: PublishJob = {
    publication: newRunId(),
    individual: { path: individual.path, sha256: individual.sha256 },
    business: { path: business.path, sha256: business.sha256 },
    ...(request.date === undefined ? {} : { date: request.date }),
    ...(request.force === undefined ? {} : { force: request.force }),
  };
  const added = await queue.add('publish', data, {
    jobId: data.publication,
    deduplication: { id: PUBLISH_DEDUPLICATION_ID },
    attempts: ATTEMPTS,
    backoff: { type: 'exponential', delay: FIRST_RETRY_MS },
    removeOnComplete: { count: ENDED_JOBS_KEPT },
    removeOnFail: { count: ENDED_JOBS_KEPT },
  });
  if (added.id === data.publication) return { state: 'queued', job: added, data };

  const job = await Job.fromId(queue, added.id ?? '');
  if (job === undefined) return requestPublication(queue, request);
  const underWay = publishJob.parse(job.data);
  const isSame =
    underWay.individual.sha256 === data.individual.sha256 &&
    underWay.business.sha256 === data.business.sha256;
  return isSame
    ? { state: 'joined', job, data: underWay }
    : { state: 'busy', publication: underWay.publication };
}
