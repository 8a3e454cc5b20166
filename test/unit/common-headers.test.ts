import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readCommonHeaders, withoutCommonHeaders } from '../support/transcripts/response-lines.ts';

const FILE = resolve(import.meta.dirname, '../http-transcripts/common-headers.http');
const common = readCommonHeaders(readFileSync(FILE, 'utf8'));

describe.each([...common])('of a response with the common headers of %s, a transcript', (kind, headers) => {
  const title = `[common headers: ${kind}]`;

  test('has only the kind', () => {
    expect(withoutCommonHeaders(headers, common)).toEqual([title]);
  });

  test('shows each header that is missing', () => {
    for (const [at, header] of headers.entries()) {
      const name = header.split(':', 1);
      const shown = withoutCommonHeaders(headers.toSpliced(at, 1), common);
      expect([header, shown]).not.toEqual([header, [title]]);
      if (shown[0] === title) expect(shown).toEqual([title, `- ${name}`]);
    }
  });

  test('shows each header with another value', () => {
    for (const [at, header] of headers.entries()) {
      const other = `${header}, x`;
      expect(withoutCommonHeaders(headers.with(at, other), common)).toContain(other);
    }
  });

  test('shows a header more', () => {
    expect(withoutCommonHeaders([...headers, 'x-new: 1'], common)).toEqual([title, 'x-new: 1']);
  });
});

test('every kind has a name and headers of its own', () => {
  expect(common.size).toBeGreaterThan(1);
  expect(new Set([...common.values()].map(String)).size).toBe(common.size);
});
