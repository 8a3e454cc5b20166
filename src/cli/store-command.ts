import { type Config, readConfig } from '../config.ts';
import { isIndexNotFound, trouble } from '../storage/errors.ts';
import { openStore, type Store } from '../storage/store.ts';
import { prepareIndices, upgradeIndices } from '../storage/templates.ts';
import type { Action, Options } from './options.ts';
import { described, type Outcome } from './output.ts';

const REQUEST_TIMEOUT_MS = 30_000;

const NOT_PREPARED =
  'This installation has no indices yet. The worker creates them: npx licenses work (npm start runs one, too).';

/**
 * Opens the store for a command, and closes it afterwards. In a cluster, a request that one node does not answer goes
 * to the next. That is safe: what a command does may be done twice, or is refused the second time.
 *
 * @param createsIndices whether the command creates the indices of a new installation; by default, a worker must have
 * created them
 * @throws {Error} in words for the operator when OpenSearch is away, or no worker has created the indices yet
 */
export async function withOpenSearch<Result>(
  work: (store: Store, config: Config) => Promise<Result>,
  createsIndices = false,
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

/**
 * The action of a command that works with the store.
 *
 * @param inWords returns what is printed without `--json`; by default, everything in the result
 */
export function storeAction<Value extends object>(
  work: (store: Store, given: readonly string[], options: Options, config: Config) => Promise<Value>,
  inWords: (value: Value) => NonNullable<Outcome['words']> = described,
): Action {
  return (given, options) =>
    withOpenSearch(async (store, config) => {
      const value = await work(store, given, options, config);
      return { value, words: inWords(value) };
    });
}
