import { expect, test } from '@jest/globals';
import { InUse } from '../../src/http/limits.ts';

test('a number is free once its thing is removed, and the next thing gets it', () => {
  const inUse = new InUse<object>();
  const [one, other, third] = [{ a: 1 }, { b: 2 }, { c: 3 }];
  expect([inUse.add(one), inUse.add(other)]).toEqual([0, 1]);
  expect(inUse.remove(0, one)).toBe(true);
  expect(inUse.all()).toEqual([other]);
  expect(inUse.add(third)).toBe(0);
  expect(inUse.all()).toEqual([third, other]);
});

test('removing a thing twice does not remove the one that has its number now', () => {
  const inUse = new InUse<object>();
  const [one, other] = [{ a: 1 }, { b: 2 }];
  const number = inUse.add(one);
  expect(inUse.remove(number, one)).toBe(true);
  expect(inUse.add(other)).toBe(number);
  expect(inUse.remove(number, one)).toBe(false);
  expect(inUse.all()).toEqual([other]);
  expect(inUse.remove(number, other)).toBe(true);
  expect(inUse.remove(number, other)).toBe(false);
  expect(inUse.all()).toEqual([]);
});
