import {
  type ColumnChange,
  CountedLicenses,
  changedColumns,
  type DifferingLicense,
  differenceCounter,
  differingLicenses,
} from '../changes/compare.ts';
import { hasDigest, readDigest } from '../changes/digest.ts';
import { type Config, readConfig } from '../config.ts';
import { writeSpreadsheet } from '../csv.ts';
import { boardKey } from '../licenses/license.ts';
import { licensesIndices, liveIndex } from '../publications/metadata.ts';
import type { Store } from '../storage/store.ts';
import { exampleText } from './checks.ts';
import { grouped, print, printError, printJson, table } from './output.ts';
import { progressDisplay } from './progress.ts';
import { type CheckFiles, checkJob, filesOf, unlessQueued } from './publish.ts';
import { type JsonOption, withOpenSearch } from './store-command.ts';

export interface DiffOptions extends JsonOption {
  readonly individual?: string;
  readonly business?: string;
  readonly csv?: string;
}

/** Prints how two kept publications differ, or a publication and files. @throws {Error} for an unknown publication */
export async function printDiff(
  [before, after]: readonly [string, string | undefined],
  options: DiffOptions,
  checkFiles: CheckFiles,
): Promise<void> {
  if (after !== undefined) {
    return withOpenSearch(async (store) =>
      show(await diff(store, await indexOf(store, before), await indexOf(store, after), options), options),
    );
  }
  const config = readConfig();
  const files = filesOf(options, config);
  await withOpenSearch((store) => indexOf(store, before));
  await withFiles(config, { files, options, checkFiles }, async (store, index) =>
    show(await diff(store, await indexOf(store, before), index, options), options),
  );
}

interface DiffedFiles {
  readonly files: ReturnType<typeof filesOf>;
  readonly options: DiffOptions;
  readonly checkFiles: CheckFiles;
}

/** Loads files as a check does, whatever the guards say, and does work with their index. */
async function withFiles(
  config: Config,
  { files, options, checkFiles }: DiffedFiles,
  work: (store: Store, index: string) => Promise<void>,
): Promise<void> {
  const job = { ...(await checkJob(files)), force: 'compared, not published' };
  const display = options.json === true ? undefined : progressDisplay(job.publication);
  const result = await unlessQueued(config, (signal) =>
    checkFiles(job, { config, signal, onProgress: (progress) => display?.show(progress) }, (store, index) => {
      display?.end();
      return work(store, index);
    }),
  );
  if (result.state !== 'would_be_refused') return;
  display?.end();
  process.exitCode = 2;
  printError(result.reasons);
}

const LIVE = 'live';

/** The index of a publication, by its id or the word `live`. */
async function indexOf(store: Store, publication: string): Promise<string> {
  const indices = await licensesIndices(store);
  const live = publication === LIVE ? await liveIndex(store) : undefined;
  const found = indices.find(({ index, metadata }) =>
    live === undefined ? metadata.publication === publication : index === live,
  );
  if (found === undefined) {
    const kept = indices.map(({ metadata }) => metadata.publication).join(', ');
    throw new Error(`Publication ${publication} is not kept. Kept: ${kept || 'none'}.`);
  }
  if (!(await hasDigest(store, found.index)))
    throw new Error(`Publication ${publication} has no digest, so it can not be compared.`);
  return found.index;
}

interface DiffRow {
  readonly kind: string;
  readonly license: NonNullable<DifferingLicense['before']>;
  readonly columns: readonly ColumnChange[];
}

const CSV_COLUMNS = ['kind', 'board', 'license_number', 'full_name', 'column', 'before', 'after'];

async function diff(store: Store, before: string, after: string, { csv }: DiffOptions) {
  const counter = differenceCounter();
  const renumbered = renumberings();
  async function* rows(): AsyncGenerator<readonly DiffRow[], void, undefined> {
    for await (const group of differingLicenses(store, { before, after, parts: readDigest(store, after) })) {
      yield group.flatMap((each) => {
        counter.add(each);
        renumbered.add(each);
        const license = each.after ?? each.before;
        if (license === undefined) return [];
        const isBoth = each.before !== undefined && each.after !== undefined;
        const columns = isBoth ? changedColumns(each.before, each.after) : [];
        return [{ kind: each.kind, license, columns }];
      });
    }
  }
  if (csv === undefined) for await (const _group of rows());
  else await writeSpreadsheet(csv, CSV_COLUMNS, rows(), cellsOf);
  return [...counter.boards].map(([board, { added, removed, changed, columns }]) => ({
    board,
    added,
    removed,
    renumbered: renumbered.boards.get(board) ?? new CountedLicenses(),
    changed,
    columns: [...columns].map(([column, counted]) => ({
      column,
      changed: counted.changed,
      now_blank: counted.blank,
    })),
  }));
}

function cellsOf({ kind, license, columns }: DiffRow): (string | null)[][] {
  const known = [kind, license.board, license.license_number, license.full_name];
  if (columns.length === 0) return [[...known, '', '', '']];
  return columns.map(({ column, before, after }) => [...known, column, before, after]);
}

/** Counts the licenses that are removed and added again under another number: the same holder, type and issue date. */
function renumberings() {
  const waiting = new Map<string, string[]>();
  const boards = new Map<string, CountedLicenses>();
  return {
    boards,
    add({ kind, before, after }: DifferingLicense): void {
      const license = after ?? before;
      if (kind === 'changed' || license === undefined) return;
      const { board, full_name, license_type, issue_date, license_number: number } = license;
      const same = JSON.stringify([boardKey(board), full_name, license_type, issue_date]);
      const other = waiting.get(`${kind === 'added' ? 'removed' : 'added'} ${same}`)?.pop();
      if (other === undefined) {
        const numbers = waiting.get(`${kind} ${same}`) ?? [];
        waiting.set(`${kind} ${same}`, numbers);
        numbers.push(number);
        return;
      }
      const counted = boards.get(board) ?? new CountedLicenses();
      boards.set(board, counted);
      const [old, now] = kind === 'added' ? [other, number] : [number, other];
      counted.add(now, { column: 'LICENSE_NUMBER', before: old, after: now });
    },
  };
}

type Diff = Awaited<ReturnType<typeof diff>>;

function show(boards: Diff, { json, csv }: DiffOptions): void {
  if (json === true) {
    printJson({ boards, ...(csv !== undefined && { file: csv }) });
    return;
  }
  if (boards.length === 0) print('The two do not differ.');
  const count = ({ count: each }: CountedLicenses) => grouped(each);
  const examples = (...counted: CountedLicenses[]) =>
    counted
      .flatMap((each) => each.examples)
      .slice(0, 3)
      .map(exampleText)
      .join('; ');
  const columns = boards.flatMap(({ board, columns }) => columns.map((each) => ({ board, ...each })));
  const tables = [
    {
      headings: ['BOARD', 'ADDED', 'REMOVED', 'OF BOTH RENUMBERED', 'CHANGED', 'EXAMPLES'],
      rows: boards.map(({ board, added, removed, renumbered, changed }) => [
        ...[board, count(added), count(removed), count(renumbered), count(changed)],
        examples(renumbered, added, removed),
      ]),
    },
    {
      headings: ['BOARD', 'COLUMN', 'CHANGED', 'NOW BLANK', 'EXAMPLES'],
      rows: columns.map(({ board, column, changed, now_blank: blank }) => [
        ...[board, column, count(changed), count(blank), examples(changed, blank)],
      ]),
    },
  ];
  for (const { headings, rows } of tables) if (rows.length > 0) print([...table(headings, rows), '']);
  if (csv !== undefined) print(`All differences written to ${csv}.`);
}
