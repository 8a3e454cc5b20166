import { expect, test } from '@jest/globals';
import Koa from 'koa';
import { Queue } from 'bullmq';
type A = { a: number };
test('x', () => {
  const a: A = { a: 1 };
  expect(a.a).toBe(1); expect(new Koa()).toBeTruthy(); expect(Queue).toBeTruthy();
  expect(import.meta.dirname).toContain('unit');
});
