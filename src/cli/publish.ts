import { type Job, QueueEvents } from 'bullmq';
import { Command } from 'commander';
import { Redis } from 'ioredis';
import { type Config, readConfig } from '../config.ts';
import {
  PUBLISH_QUEUE,
  publishProgress,
  publishQueue,
  publishResult,
  queueConnection,
  queuePrefix,
} from '../publications/job.ts';
import { appendEvent } from '../publications/ledger.ts';
import { requestPublication } from '../publications/request.ts';
import { withOpenSearch } from './open-search.ts';
import { grouped, print, printError, printJson } from './output.ts';
import { progressDisplay } from './progress.ts';

const EXIT_FAILED = 1;
const EXIT_REFUSED = 2;

interface PublishOptions {
  individual?: string;
  business?: string;
  date?: string;
  force?: string;
  json?: boolean;
}

/** `licenses publish`: queues a publication and waits. Exit 0 live, 2 refused, 1 failed. */
export function publishCommand(): Command {
  return new Command('publish')
    .description("publish the State's two files: load, check, go live")
    .option('--individual <file>', 'the individual file (default: DATASET_INDIVIDUAL)')
    .option('--business <file>', 'the business file (default: DATASET_BUSINESS)')
    .option('--date <date>', 'the run date, YYYY-MM-DD, where the files have none')
    .option('--force <reason>', 'go past the guards; the reason is kept in the ledger')
    .option('--json', 'print JSON')
    .action(publishAndWait);
}

async function publishAndWait(options: PublishOptions): Promise<void> {
  const config = readConfig();
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
  try {
    await events.waitUntilReady();
    const askedAt = new Date().toISOString();
    const requested = await requestPublication(queue, {
      individual,
      business,
      date: options.date,
      force: options.force,
    });
    if (requested.state === 'busy') {
      const reason = `Publication ${requested.publication} of other files is under way; ask again when it has ended.`;
      report({ state: 'refused', publication: null, reasons: [reason] }, options.json === true);
      process.exitCode = EXIT_REFUSED;
      return;
    }
    if (requested.state === 'queued') await recordQueued(requested.data.publication, askedAt, options.force);
    await waitForEnd(requested.job, events, requested.data.publication, options.json === true);
  } finally {
    await events.close();
    await queue.close();
  }
}

/** @throws {Error} in words for the operator when Redis is away: the queue itself would wait for it for ever */
async function requireRedis(config: Config): Promise<void> {
  const redis = new Redis(config.REDIS_URL, { lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => undefined);
  try {
    await redis.ping();
  } catch {
    const where = new URL(config.REDIS_URL).host;
    throw new Error(`Redis does not answer at ${where}. Is it running (npm start), and is REDIS_URL right?`);
  } finally {
    redis.disconnect();
  }
}

function recordQueued(publication: string, at: string, forced: string | undefined): Promise<void> {
  return withOpenSearch((client, config) =>
    appendEvent(client, config.INDEX_PREFIX, {
      publication,
      at,
      event: 'queued',
      ...(forced === undefined ? {} : { forced }),
    }),
  );
}

async function waitForEnd(
  job: Job,
  events: QueueEvents,
  publication: string,
  asJson: boolean,
): Promise<void> {
  const display = asJson ? undefined : progressDisplay(publication);
  events.on('progress', ({ jobId, data }) => {
    const progress = publishProgress.safeParse(data);
    if (jobId === job.id && progress.success) display?.show(progress.data);
  });
  let returned: unknown;
  try {
    returned = await job.waitUntilFinished(events);
  } catch (error) {
    display?.end();
    report({ state: 'failed', publication, reasons: [String(error)] }, asJson);
    process.exitCode = EXIT_FAILED;
    return;
  }
  display?.end();
  const result = publishResult.parse(returned);
  report(result, asJson);
  if (result.state === 'refused') process.exitCode = EXIT_REFUSED;
}

type Report =
  | ReturnType<typeof publishResult.parse>
  | { state: 'failed'; publication: string; reasons: string[] }
  | { state: 'refused'; publication: null; reasons: string[] };

function report(result: Report, asJson: boolean): void {
  if (asJson) {
    printJson(result);
    return;
  }
  if (result.state !== 'live') {
    printError(`${result.state === 'refused' ? 'Refused' : 'Failed'}: ${result.reasons.join(' ')}`);
    return;
  }
  print(
    `Live: publication ${result.publication}, dataset of ${result.date}: ${grouped(result.rows)} rows, ` +
      `${grouped(result.licenses)} licences and ${grouped(result.endorsements)} endorsements, ` +
      `${grouped(result.set_aside)} rows set aside, in ${result.seconds} s (${grouped(result.rows_per_second)} rows/s).`,
  );
  for (const [label, rows] of Object.entries(result.unknown_labels)) {
    print(`Not in the catalogue: ${label} (${grouped(rows)} rows).`);
  }
}
