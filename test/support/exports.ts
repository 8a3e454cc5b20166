import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { licenseRecord } from '../../src/licenses/license.ts';
import type { ApiAnswer, ApiClient } from './api.ts';
import { copyOf } from './feed-copy.ts';

export const EXPORT = '/api/v1/export';

const headers = z.object({
  ...{ 'content-type': z.literal('application/x-ndjson'), 'content-encoding': z.literal('gzip') },
  ...{ 'x-record-count': z.coerce.number(), 'x-feed-cursor': z.string(), 'x-publication': z.string() },
});

/** Responses when an account or a process already runs as many exports as allowed. */
const BUSY = ['429 60', '503 1'];

/**
 * Reads an export. Retries while the previous export still counts, which takes a moment after its end.
 *
 * @throws {Error} if the export is incomplete
 */
export async function exported(rest: Pick<ApiClient, 'get'>) {
  for (;;) {
    const answer = await rest.get(EXPORT);
    if (!BUSY.includes(`${answer.status} ${answer.headers.get('retry-after')}`)) return readExport(answer);
    await sleep(50);
  }
}

function readExport(answer: ApiAnswer) {
  if (answer.status !== 200) throw new Error(`GET /export gave ${answer.status}: ${answer.text}`);
  const said = headers.parse(Object.fromEntries(answer.headers));
  // Strict: a line may have no other fields.
  const line = z.strictObject(licenseRecord.shape);
  const lines = answer.text.split('\n').slice(0, -1);
  const end = z.strictObject({ records: z.int(), sha256: z.string() }).parse(JSON.parse(lines.pop() ?? ''));
  const sha256 = createHash('sha256')
    .update(lines.map((text) => `${text}\n`).join(''))
    .digest('hex');
  if (end.records !== lines.length || end.sha256 !== sha256)
    throw new Error(`${lines.length} lines, SHA-256 ${sha256}; its end says ${JSON.stringify(end)}`);
  const records = lines.map((text) => line.parse(JSON.parse(text)));
  const licenses = copyOf(records);
  if (records.length !== said['x-record-count'] || licenses.size !== records.length)
    throw new Error(`${records.length} lines, ${licenses.size} licenses, said: ${said['x-record-count']}`);
  return { licenses, cursor: said['x-feed-cursor'], publication: said['x-publication'] };
}
