/** @room website */

import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { inForm } from '../support/fault-form.ts';
import { rawRequest } from '../support/raw-http.ts';
import { valueAt } from '../support/series.ts';
import { startService } from '../support/service.ts';
import { textRow, workbook } from '../support/workbooks.ts';
import { PIECES, worstWorkbooks } from '../support/worst-workbooks.ts';

/** So long a workbook may keep the event loop at a time, in user CPU time: all others wait for it. */
const MAX_TURN_MS = 100;

const meter = resolve(import.meta.dirname, '../support/longest-turn.ts');
const service = await startService({
  settings: { NODE_OPTIONS: `--import=${meter}`, TRUSTED_PROXIES: '1' },
});
let addresses = 0;

const GOOD = workbook({ sheets: [textRow('License Number') + textRow('RN.700001')] });

function nextAddress(): string {
  addresses += 1;
  return `198.51.${Math.floor(addresses / 250)}.${addresses % 250}`;
}

const BOUNDARY = 'list-of-licenses';
const START = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="list.xlsx"\r\n\r\n`;

/** Sends a file to the page of a list, each from an address of its own unless one is given. */
function upload(file: Buffer, address = nextAddress()) {
  const body = Buffer.concat([Buffer.from(START), file, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]);
  return rawRequest(service.environment.config.PORT, '/roster', {
    ...{ method: 'POST', body },
    headers: {
      ...{ host: 'lists.example.org', origin: 'https://lists.example.org', accept: 'text/html' },
      ...{ 'x-forwarded-for': address, 'x-forwarded-proto': 'https' },
      'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
    },
  });
}

// What runs for the first time is compiled first, which is not the file's doing.
for (let times = 0; times < 5; times += 1) await upload(GOOD);

const longestTurn = () => valueAt(service.environment.config.ADMIN_PORT, 'test_longest_turn_ms');

// The short form takes some of each kind.
const [pieces, every] = inForm({ short: [PIECES.slice(0, 1), 5], long: [PIECES, 1] });

const WORKBOOKS = [...worstWorkbooks(pieces)].filter((_, at) => at % every === 0);

test.each(WORKBOOKS)('the worst workbook for its reader keeps nobody waiting: %s', async (_name, file) => {
  const sent = file();
  await longestTurn();
  const { status, text } = await upload(sent);
  const ms = await longestTurn();
  expect({ status, ms, isShort: ms < MAX_TURN_MS && status < 500 }).toEqual({ status, ms, isShort: true });
  // It was given to the reader.
  expect(text).toMatch(
    /What is in each column|cannot be read|takes too long|larger than 1 MB|too large|no rows|is empty|KB of text|columns; the limit|is missing|not found|more than 1,000 rows/,
  );
});

test('an address whose workbook had to be ended waits before its next; lists in text, and others, do not', async () => {
  const [[, endless] = ['', () => GOOD]] = worstWorkbooks(PIECES.slice(0, 1));
  const [one, other] = ['203.0.113.7', '203.0.113.8'];
  const ended = await upload(endless(), one);
  expect([ended.status, ended.text]).toEqual([400, expect.stringContaining('takes too long')]);
  const next = await upload(GOOD, one);
  expect([next.status, next.text]).toEqual([400, expect.stringContaining('Wait a minute')]);
  expect((await upload(Buffer.from('License Number\nRN.700001\n'), one)).status).toBe(200);
  expect((await upload(GOOD, other)).status).toBe(200);
});
