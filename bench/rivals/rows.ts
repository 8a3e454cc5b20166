import { createWriteStream } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { z } from 'zod';
import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { boardKey } from '../../src/licenses/license.ts';
import { type DayFiles, parsed } from '../published.ts';
import { DATE, SEED } from '../service.ts';

/** The same licenses for every engine, as tab-separated text in a folder of their own. */
export interface Rows {
  readonly folder: string;
  /** The State's files, from which they are made. */
  readonly files: DayFiles;
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

/** Makes so many rows, and removes their folder after the work. */
export async function withRows<Result>(rows: number, work: (rows: Rows) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-rows-'));
  // PostgreSQL runs as another user.
  await chmod(folder, 0o755);
  try {
    const files = await writeSampleData({ directory: folder, rows, seed: SEED, date: DATE });
    const made = {
      folder,
      files,
      licenses: join(folder, 'licenses.tsv'),
      holders: join(folder, 'holders.tsv'),
    };
    await writeRows(made);
    return await work(made);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes what our own parser makes of the files. */
async function writeRows(rows: Rows): Promise<void> {
  const licenses = Writable.toWeb(createWriteStream(rows.licenses)).getWriter();
  const holders = Writable.toWeb(createWriteStream(rows.holders)).getWriter();
  let id = 0;
  for await (const operations of parsed(rows.files, DATE)) {
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
}

/** As PostgreSQL's COPY wants it. */
function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\');
}
