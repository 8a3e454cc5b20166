import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { z } from 'zod';
import type { SampleDataFiles } from '../../sample-data/write-sample-data.ts';
import { boardKey } from '../../src/licenses/license-document.ts';
import { parsed } from '../parsed.ts';

/** The same licenses for every engine, as tab-separated text. */
export interface RowFiles {
  /** id, code of the board, number key, record as JSON. */
  readonly licenses: string;
  /** `BOARD/SURNAME/GIVEN`, id: one line for each form of the surname. */
  readonly holders: string;
}

const document = z.looseObject({
  source_row: z.string(),
  board: z.string(),
  keys: z.looseObject({ number: z.string(), holder: z.array(z.string()).default([]) }),
});

/** Writes what our own parser makes of the files. */
export async function writeRows(files: SampleDataFiles, date: string, directory: string): Promise<RowFiles> {
  const paths = { licenses: join(directory, 'licenses.tsv'), holders: join(directory, 'holders.tsv') };
  const licenses = Writable.toWeb(createWriteStream(paths.licenses)).getWriter();
  const holders = Writable.toWeb(createWriteStream(paths.holders)).getWriter();
  let id = 0;
  for await (const operations of parsed(files, date)) {
    let [licenseLines, holderLines] = ['', ''];
    for (const { body } of operations) {
      const { keys, source_row: _, ...record } = document.parse(JSON.parse(body.split('\n')[1] ?? ''));
      id += 1;
      licenseLines += `${id}\t${boardKey(record.board)}\t${keys.number}\t${escaped(JSON.stringify(record))}\n`;
      for (const key of keys.holder) holderLines += `${key}\t${id}\n`;
    }
    await licenses.write(licenseLines);
    await holders.write(holderLines);
  }
  await Promise.all([licenses.close(), holders.close()]);
  return paths;
}

/** As PostgreSQL's COPY wants it. */
function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\');
}
