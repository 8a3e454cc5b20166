import type { DatasetFile } from '../../src/dataset/columns.ts';
import type { Digests } from './digests.ts';
import { loadDocuments } from './load.ts';
import { type BulkOperation, type ParseListener, parseFile } from './parse.ts';
import type { SourceFile } from './read.ts';
import { numbersInRow } from './rejected-numbers.ts';
import { MAX_ROWS_KEPT, rejectedRows } from './rejected-rows.ts';
import type { PublishRun } from './run.ts';
import { newTally, noteRefused, noteSent, noteUnknown, type Tally } from './tally.ts';

/** A license whose number is in a further rejected row counts as removed by the State's data. */
const MAX_REJECTED_NUMBERS = 1_000_000;

interface Load {
  readonly index: string;
  /** The publication's date, for a file that names none. */
  readonly date: string;
  readonly sources: Readonly<Record<DatasetFile, SourceFile>>;
  /** Take what is loaded. */
  readonly digests: Digests;
}

/** Loads every license of both files, one file after the other. @returns what was loaded */
export async function loadFiles({ index, date, sources, digests }: Load, run: PublishRun): Promise<Tally> {
  const { store, job, signal, progress, onProgress, giveUpAfterMs } = run;
  const tally = newTally(
    [sources.individual, sources.business].flatMap(({ file, header }) =>
      header.missing.map((column) => `${file}.${column}`),
    ),
  );
  const rejected = rejectedRows(store, job.publication, signal);
  progress.bytes = 0;
  progress.total_bytes = sources.individual.bytes + sources.business.bytes;

  const listener: ParseListener = {
    onBytes: (bytes) => {
      progress.bytes += bytes;
    },
    onRows: (rows) => {
      tally.counts.rows += rows;
    },
    onDocuments: (licenses, endorsements) => {
      tally.counts.licenses += licenses;
      tally.counts.endorsements += endorsements;
    },
    onRejected: (file, row, reason) => {
      rejected.add(file, row, reason);
      if (rejected.count() <= MAX_ROWS_KEPT && digests.rejectedNumbers.size < MAX_REJECTED_NUMBERS)
        for (const number of numbersInRow(row.raw)) digests.rejectedNumbers.add(number);
    },
    onUnknownLabels: (labels) => noteUnknown(tally, labels),
    onWindows1252: (file, lines) => {
      tally.windows1252Lines[file] += lines;
    },
    onCutOff: (file) => tally.cutOff.add(file),
  };

  async function* operations(): AsyncGenerator<readonly BulkOperation[], void, undefined> {
    for (const source of [sources.individual, sources.business]) {
      const before = tally.counts.rows;
      for await (const group of parseFile(source, source.runDate ?? date, listener)) {
        for (const operation of group) {
          noteSent(tally, operation);
          digests.add(operation);
        }
        yield group;
        await rejected.flush();
      }
      tally.rowsOf[source.file] = tally.counts.rows - before;
    }
  }

  await loadDocuments(store.client, index, operations(), {
    signal,
    giveUpAfterMs,
    onLoaded: (loaded) => {
      progress.documents += loaded;
      progress.rows = tally.counts.rows;
      onProgress(progress);
    },
    onRefused: (refused) => {
      noteRefused(tally, refused);
      digests.refused.add(refused.document.id);
      const { file, row, id } = refused.document;
      rejected.add(file, row, `${id}: ${refused.reason}`);
    },
  });
  await rejected.flush();
  tally.counts.rejected = rejected.count();
  return tally;
}
