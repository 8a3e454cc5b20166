import type { Queue } from 'bullmq';
import { type Config, ConfigError } from '../config.ts';
import { withoutSecrets } from '../dataset/source-url.ts';
import { OHIO_TIME_ZONE } from '../licenses/dates.ts';
import { PUBLISH_JOB_OPTIONS } from './job.ts';

const SCHEDULER = 'publish-schedule';

/**
 * Sets the queue's schedule: a publication of the two sources at each time of PUBLISH_SCHEDULE, or none without it.
 *
 * @returns when the next one is due, if one is
 * @throws {ConfigError} when PUBLISH_SCHEDULE is no cron pattern
 */
export async function schedulePublications(queue: Queue, config: Config): Promise<Date | undefined> {
  const { PUBLISH_SCHEDULE: pattern, DATASET_INDIVIDUAL, DATASET_BUSINESS } = config;
  if (pattern === undefined || DATASET_INDIVIDUAL === undefined || DATASET_BUSINESS === undefined) {
    await queue.removeJobScheduler(SCHEDULER);
    return undefined;
  }
  try {
    await queue.upsertJobScheduler(
      SCHEDULER,
      { pattern, tz: OHIO_TIME_ZONE },
      {
        name: 'publish',
        // The worker that publishes has the secrets of the addresses in its own settings.
        data: {
          individual: { location: withoutSecrets(DATASET_INDIVIDUAL) },
          business: { location: withoutSecrets(DATASET_BUSINESS) },
        },
        opts: PUBLISH_JOB_OPTIONS,
      },
    );
  } catch (error) {
    throw new ConfigError(
      `PUBLISH_SCHEDULE is ${JSON.stringify(pattern)}, but must be a cron pattern: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  const scheduler = await queue.getJobScheduler(SCHEDULER);
  return scheduler?.next === undefined ? undefined : new Date(scheduler.next);
}
