import type { DatasetFile } from '../../src/dataset/columns.ts';
import { loadDocuments } from './load.ts';
import { type BulkOperation, type ParseListener, parseFile } from './parse.ts';
import type { SourceFile } from './read.ts';
import { rejectedRows } from './rejected-rows.ts';
import type { PublishRun } from './run.ts';
import { newTally, noteRefused, noteSent, noteUnknown, type Tally } from './tally.ts';

interface Load {
  readonly index: string;
  /** The publication's date, for a file that names none. */
  readonly date: string;
  readonly sources: Readonly<Record<DatasetFile, SourceFile>>;
}

/** Loads every license of both files, one file after the other. @returns what was loaded */
export async function loadFiles({ index, date, sources }: Load, run: PublishRun): Promise<Tally> {
  const { store, job, signal, progress, onProgress, giveUpAfterMs } = run;
  const tally = newTally();
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
    onRejected: (file, row, reason) => rejected.add(file, row, reason),
    onUnknownLabels: (labels) => noteUnknown(tally, labels),
    onCutOff: (file) => tally.cutOff.add(file),
  };

  async function* operations(): AsyncGenerator<readonly BulkOperation[], void, undefined> {
    for (const source of [sources.individual, sources.business]) {
      const before = tally.counts.rows;
      for await (const group of parseFile(source, source.runDate ?? date, listener)) {
        for (const operation of group) noteSent(tally, operation);
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
      const { file, row, id } = refused.document;
      rejected.add(file, row, `${id}: ${refused.reason}`);
    },
  });
  await rejected.flush();
  tally.counts.rejected = rejected.count();
  return tally;
}
