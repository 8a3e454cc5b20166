import { expect, test } from '@jest/globals';
import { traceparentOf } from '../../src/http/app.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

test.each([`00-${TRACE}-${PARENT}-01`, `01-${TRACE}-${PARENT}-ff`])('%s is a trace', (given) => {
  expect(traceparentOf(given)).toBe(given);
});

test.each([
  ...[undefined, 7, '', [`00-${TRACE}-${PARENT}-01`], `00-${TRACE}-${PARENT}`, `00-${TRACE}-${PARENT}-1`],
  ...[`00-${TRACE}-${PARENT}-01-more`, ` 00-${TRACE}-${PARENT}-01`, `00-${TRACE}-${PARENT}-01\n`],
  ...[`ff-${TRACE}-${PARENT}-01`, `00-${'0'.repeat(32)}-${PARENT}-01`, `00-${TRACE}-${'0'.repeat(16)}-01`],
  ...[`00-${TRACE.toUpperCase()}-${PARENT}-01`, `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`],
])('%j is none', (given) => {
  expect(traceparentOf(given)).toBeUndefined();
});
