import {
  type ColumnChange,
  type DifferingLicense,
  differenceCounter,
  differingLicenses,
} from '../changes/compare.ts';
import { hasDigest, readDigest } from '../changes/digest.ts';
import { writeSpreadsheet } from '../csv.ts';
import { licensesIndices, liveIndex } from '../publications/metadata.ts';
import type { Store } from '../storage/store.ts';
import { exampleText } from './checks.ts';
import type { Action, Options } from './options.ts';
import { type Outcome, printError, table } from './output.ts';
import { checkInProcess } from './publish.ts';
import { withOpenSearch } from './store-command.ts';

/** How two kept publications differ, or a publication and files. @throws {Error} for an unknown publication */
export const diffAction: Action = async ([earlier = '', later], options) => {
  const compare = async (store: Store, after: string) =>
    diff(store, await indexOf(store, earlier), after, options);
  if (later !== undefined)
    return withOpenSearch(async (store) => compare(store, await indexOf(store, later)));
  await withOpenSearch((store) => indexOf(store, earlier));
  let found: Outcome = {};
  const look = async (...checked: Parameters<typeof compare>) => {
    found = await compare(...checked);
  };
  // It is compared whatever the guards say.
  const result = await checkInProcess({ ...options, force: 'compared, not published' }, look);
  if (result.state !== 'would_be_refused') return found;
  printError(result.reasons);
  return { ...found, code: 2 };
};

/** The index of a publication, by its id or the word `live`. */
async function indexOf(store: Store, publication: string): Promise<string> {
  const indices = await licensesIndices(store);
  const live = publication === 'live' ? await liveIndex(store) : undefined;
  const found = indices.find(({ index, metadata }) => index === live || metadata.publication === publication);
  if (found === undefined) {
    const kept = indices.map(({ metadata }) => metadata.publication).join(', ');
    throw new Error(`Publication ${publication} is not kept. Kept: ${kept || 'none'}.`);
  }
  if (!(await hasDigest(store, found.index)))
    throw new Error(`Publication ${publication} has no digest, so it can not be compared.`);
  return found.index;
}

const CSV_COLUMNS = ['kind', 'board', 'license_number', 'full_name', 'column', 'before', 'after'];

async function diff(store: Store, before: string, after: string, { csv }: Options): Promise<Outcome> {
  const counter = differenceCounter();
  const groups = differingLicenses(store, { before, after, parts: readDigest(store, after) });
  /** A row for each column that differs, or one alone. */
  const countedCells = ({ kind, ...license }: DifferingLicense) => {
    const changed = counter.add(license);
    const { before, after } = license;
    const columns: readonly Partial<ColumnChange>[] = before && after ? changed : [{}];
    const { board = '', license_number = '', full_name = null } = after ?? before ?? {};
    return columns.map(({ column = '', before = null, after = null }) => {
      return [kind, board, license_number, full_name, column, before, after];
    });
  };
  if (csv === undefined) for await (const group of groups) group.forEach(counter.add);
  else await writeSpreadsheet(csv, CSV_COLUMNS, groups, countedCells);
  const boards = [...counter.boards].map(([board, { added, removed, renumbered, changed, columns }]) => ({
    ...{ board, added, removed, renumbered, changed },
    columns: [...columns].map(([column, { changed, blank }]) => ({ column, changed, now_blank: blank })),
  }));
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
