import type { TestEnvironment } from '../../scripts/environment.ts';
import { licenses } from '../../scripts/licenses-processes.ts';
import type { CommandResult } from '../../scripts/processes.ts';
import type { PublishResult } from '../../src/publications/history.ts';
import { type PublishProgress, sourceAt } from '../../src/publications/job.ts';
import { newId } from '../../src/publications/metadata.ts';
import { publish } from '../../workers/publish/publish.ts';
import { waitForLive } from './api.ts';
import { type ProxyStep, throughProxy } from './proxy.ts';

/** The paths of the State's two files. */
export type DatasetFiles = { readonly individual: string; readonly business: string };

/** Runs `licenses publish` for two files in a separate process. */
export const publishByCommand = (
  variables: Readonly<Record<string, string>>,
  { individual, business }: DatasetFiles,
  ...options: readonly string[]
): Promise<CommandResult> =>
  licenses(variables, 'publish', '--individual', individual, '--business', business, ...options);

export interface PublishingOptions {
  /** The id of the publication, for example for a second attempt; by default a new one. */
  readonly publication?: string;
  readonly date?: string;
  /** Whether the guards apply. By default, the publication is forced. */
  readonly isGuarded?: boolean;
  /** The reason for forcing the publication. */
  readonly force?: string;
  /** The guards that may fail, in the form of `--accept`. */
  readonly accept?: string[];
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: PublishProgress) => void;
  readonly giveUpAfterMs?: number;
  /** Handles the requests to OpenSearch. */
  readonly through?: ProxyStep | undefined;
}

/**
 * Publishes two files in this process, with the worker's own steps but without the queue. When the files are live,
 * waits until the API of the environment, if one runs, answers from them.
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

/** The result of a publication. @throws {Error} when it did not go live */
export async function expectLive(publishing: Promise<PublishResult>) {
  const result = await publishing;
  if (result.state !== 'live') throw new Error(JSON.stringify(result));
  return result;
}
