import type { Client } from '@opensearch-project/opensearch';
import type { Config } from '../../src/config.ts';
import type { DatasetFile } from '../../src/dataset/columns.ts';
import type { PublishProgress } from '../../src/publications/job.ts';
import { loadDocuments } from './load.ts';
import { type BulkOperation, type ParseListener, parseFile } from './parse.ts';
import type { SourceFile } from './read.ts';
import { setAsideRows } from './rejected-rows.ts';
import { newTally, noteRefused, noteSent, noteUnknown, type Tally } from './tally.ts';

interface Load {
  readonly index: string;
  readonly publication: string;
  /** The publication's date, for a file that names none. */
  readonly date: string;
  readonly sources: Readonly<Record<DatasetFile, SourceFile>>;
}

interface LoadContext {
  readonly client: Client;
  readonly config: Config;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: PublishProgress) => void;
  /** How long documents that are not taken are sent again. */
  readonly giveUpAfterMs?: number | undefined;
}

/** Reads both files, one after the other, loads every license of them, and says what there was. */
export async function loadFiles(
  { index, publication, date, sources }: Load,
  { client, config, signal, onProgress, giveUpAfterMs }: LoadContext,
  progress: PublishProgress,
): Promise<Tally> {
  const tally = newTally();
  const setAside = setAsideRows(client, config.INDEX_PREFIX, publication, signal);
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
    onSetAside: (file, row, reason) => setAside.add(file, row, reason),
    onUnknownLabels: (labels) => noteUnknown(tally, labels),
    onCutOff: (file) => tally.cutOff.add(file),
  };

  async function* operations(): AsyncGenerator<readonly BulkOperation[], void, undefined> {
    for (const source of [sources.individual, sources.business]) {
      const before = tally.counts.rows;
      for await (const group of parseFile(source, source.runDate ?? date, listener)) {
        for (const operation of group) noteSent(tally, operation);
        yield group;
        await setAside.flush();
      }
      tally.rowsOf[source.file] = tally.counts.rows - before;
    }
  }

  await loadDocuments(client, index, operations(), {
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
      setAside.add(file, row, `${id}: ${refused.reason}`);
    },
  });
  await setAside.flush();
  tally.counts.set_aside = setAside.count();
  return tally;
}
