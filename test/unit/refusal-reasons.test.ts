import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { REFUSAL_REASONS } from '../../workers/publish/run.ts';

const OPERATIONS = resolve(import.meta.dirname, '../../docs/operations.md');

test('docs/operations.md explains every reason for which a publication is refused, and no other', () => {
  const operations = readFileSync(OPERATIONS, 'utf8');
  const [, table = ''] = /\| reason +\|[^\n]*\n\|[-| ]+\n((?:\|[^\n]*\n)+)/.exec(operations) ?? [];
  const explained = table
    .split('\n')
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([a-z_]+)`/g)].map(([, name]) => name));
  expect(explained.toSorted()).toEqual(REFUSAL_REASONS.toSorted());
});
