import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  readCommonHeaders,
  responseLines,
  withoutCommonHeaders,
} from '../support/transcripts/response-lines.ts';

const FILE = resolve(import.meta.dirname, '../http-transcripts/common-headers.http');
const common = readCommonHeaders(readFileSync(FILE, 'utf8'));

describe.each([...common])('of a response with the common headers of %s, a transcript', (kind, headers) => {
  const title = `[common headers: ${kind}]`;

  test('has only the kind', () => {
    expect(withoutCommonHeaders(headers, common)).toEqual([title]);
  });

  test('shows each header that is missing, by its name or as another kind', () => {
    for (const [at, header] of headers.entries()) {
      const [shown, ...differences] = withoutCommonHeaders(headers.toSpliced(at, 1), common);
      if (shown === title) expect(differences).toEqual([`- ${header.split(':', 1)}`]);
    }
    expect(headers.length).toBeGreaterThan(2);
  });

  test('shows each header that has another value', () => {
    for (const [at, header] of headers.entries()) {
      const other = `${header}, x`;
      expect(withoutCommonHeaders(headers.with(at, other), common)).toContain(other);
    }
  });

  test('shows an additional header', () => {
    expect(withoutCommonHeaders([...headers, 'x-new: 1'], common)).toEqual([title, 'x-new: 1']);
  });
});

test('a placeholder stands only for values of its form', () => {
  const headers = new Headers({
    ...{ date: 'yesterday', 'content-length': 'many', 'x-request-id': 'abc' },
    ...{ 'x-ratelimit-remaining': '7', 'x-ratelimit-reset': '0' },
  });
  const lines = responseLines(
    { statusLine: 'HTTP/1.1 200 OK', status: 200, headers, body: Buffer.alloc(0) },
    common,
  );
  expect(lines).toEqual(expect.arrayContaining([...headers].map(([name, value]) => `${name}: ${value}`)));
});
