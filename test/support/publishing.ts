import type { TestEnvironment } from '../../scripts/environment.ts';
import { licenses } from '../../scripts/licenses-processes.ts';
import type { CommandResult } from '../../scripts/processes.ts';
import type { PublishResult } from '../../src/publications/history.ts';
import { type PublishProgress, sourceAt } from '../../src/publications/job.ts';
import { newId } from '../../src/publications/metadata.ts';
import { publish } from '../../workers/publish/publish.ts';
import { waitForLive } from './api.ts';
import { type ProxyStep, throughProxy } from './proxy.ts';

/** The State's two files, by their paths. */
export interface DatasetFiles {
  readonly individual: string;
  readonly business: string;
}

/** Runs `licenses publish` for two files, as a process. */
export function publishByCommand(
  variables: Readonly<Record<string, string>>,
  { individual, business }: DatasetFiles,
  ...options: readonly string[]
): Promise<CommandResult> {
  return licenses(variables, 'publish', '--individual', individual, '--business', business, ...options);
}

export interface PublishingOptions {
  /** Its id, as for a second attempt; a new one unless given. */
  readonly publication?: string;
  readonly date?: string;
  /** Whether the guards stand in the way; left out, the publication is forced. */
  readonly isGuarded?: boolean;
  /** Why it is forced. */
  readonly force?: string;
  /** The guards that may fail, as `--accept` takes them. */
  readonly accept?: string[];
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: PublishProgress) => void;
  readonly giveUpAfterMs?: number;
  /** What happens to its requests to OpenSearch. */
  readonly through?: ProxyStep | undefined;
}

/**
 * Publishes two files in this process: the worker's own steps, without the queue. When they are live, the API of the
 * environment answers from them, where one runs.
 */
export async function publishFiles(
  environment: TestEnvironment,
  files: DatasetFiles,
  { through, ...options }: PublishingOptions = {},
): Promise<PublishResult> {
  if (through !== undefined)
    return throughProxy(environment, through, (proxied) => publishFiles(proxied, files, options));
  const { publication = newId(), date, isGuarded = false, force = 'a test of something else' } = options;
  const { accept, signal = new AbortController().signal, onProgress = () => undefined } = options;
  const job = {
    publication,
    individual: await sourceAt(files.individual),
    business: await sourceAt(files.business),
    ...(date !== undefined && { date }),
    ...(!isGuarded && { force }),
    ...(accept !== undefined && { accept }),
  };
  const { store, config } = environment;
  const { giveUpAfterMs } = options;
  const result = await publish(job, { store, config, signal, onProgress, giveUpAfterMs });
  if (result.state === 'live') await waitForLive(environment);
  return result;
}

/** The result of a publication. @throws {Error} when it is not live */
export async function expectLive(
  publishing: Promise<PublishResult>,
): Promise<Extract<PublishResult, { state: 'live' }>> {
  const result = await publishing;
  if (result.state !== 'live') throw new Error(JSON.stringify(result));
  return result;
}
