import type { Command } from 'commander';
import { type Config, readConfig } from '../config.ts';
import { isIndexNotFound, trouble } from '../storage/errors.ts';
import { openStore, type Store } from '../storage/store.ts';
import { prepareIndices, upgradeIndices } from '../storage/templates.ts';
import { print, printJson } from './output.ts';

/** The option of every command that prints JSON where it is asked to. */
export const JSON_OPTION = ['--json', 'print JSON'] as const;

export interface JsonOption {
  readonly json?: boolean;
}

/** A command below another one that can print JSON. */
export function jsonCommand(parent: Command, usage: string, description: string): Command {
  return parent
    .command(usage)
    .description(description)
    .option(...JSON_OPTION);
}

const REQUEST_TIMEOUT_MS = 30_000;

const NOT_PREPARED =
  'This installation has no indices yet. The worker creates them: npx licenses work (npm start runs one, too).';

interface StoreOptions {
  /** Whether the command creates the indices of a new installation; others need a worker to have done so. */
  readonly createsIndices?: boolean;
}

/**
 * Does a command's work with the store and closes it. In a cluster, a request that one node does not answer goes to
 * the next: what commands do may be done twice, or is refused the second time.
 *
 * @throws {Error} in words for the operator when OpenSearch is away, or no worker has created the indices yet
 */
export async function withOpenSearch<Result>(
  work: (store: Store, config: Config) => Promise<Result>,
  { createsIndices = false }: StoreOptions = {},
): Promise<Result> {
  const config = readConfig();
  const store = openStore(config, REQUEST_TIMEOUT_MS, { triesOtherNodes: true });
  try {
    if (createsIndices) await prepareIndices(store);
    else if (!(await upgradeIndices(store))) throw new Error(NOT_PREPARED);
    return await work(store, config);
  } catch (error) {
    if (isIndexNotFound(error)) throw new Error(NOT_PREPARED);
    const words = trouble(error, config);
    throw words === undefined ? error : new Error(words);
  } finally {
    await store.client.close();
  }
}

/** Does a command's work with the store, and prints its result: as JSON where it is asked to, else in words. */
export function report<Result>(
  { json }: JsonOption,
  work: (store: Store, config: Config) => Promise<Result>,
  inWords: (result: Result, config: Config) => string | readonly string[],
): Promise<void> {
  return withOpenSearch(async (store, config) => {
    const result = await work(store, config);
    if (json === true) printJson(result);
    else print(inWords(result, config));
  });
}
