import { countDifferences } from '../changes/compare.ts';
import { keptIndex } from '../publications/metadata.ts';
import type { Store } from '../storage/store.ts';
import { exampleText } from './checks.ts';
import type { Action, Options } from './options.ts';
import { type Outcome, printError, table } from './output.ts';
import { checkInProcess } from './publish.ts';
import { withOpenSearch } from './store-command.ts';

/** Shows how two kept publications differ, or a publication and files. @throws {Error} for an unknown publication */
export const diffAction: Action = async ([earlier = '', later], options) => {
  if (later !== undefined)
    return withOpenSearch(async (store) => diff(store, earlier, await keptIndex(store, later), options));
  await withOpenSearch((store) => keptIndex(store, earlier));
  let found: Outcome = {};
  // The files are compared even if a guard refuses them.
  const forced = { ...options, force: 'compared, not published' };
  const result = await checkInProcess(forced, async (store, after) => {
    found = await diff(store, earlier, after, options);
  });
  if (result.state !== 'would_be_refused') return found;
  printError(result.reasons);
  return { ...found, code: 2 };
};

/** @param after the index of the later publication */
async function diff(store: Store, earlier: string, after: string, { csv }: Options): Promise<Outcome> {
  const boards = await countDifferences(store, { before: await keptIndex(store, earlier), after }, csv);
  const rows = boards.flatMap(({ board, columns, ...all }) =>
    [{ column: '', ...all }, ...columns].flatMap(({ column, ...kinds }) =>
      Object.entries(kinds).map(([kind, { count: licenses, examples }]) => {
        return { board, column, kind: kind.replace('_', ' '), licenses, examples: examples.map(exampleText) };
      }),
    ),
  );
  return {
    value: { boards, file: csv },
    words: [
      ...table(rows.filter(({ licenses }) => licenses > 0)),
      ...(csv === undefined ? [] : [`All differences written to ${csv}.`]),
    ],
  };
}
