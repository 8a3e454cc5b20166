import { describe, expect, test } from '@jest/globals';
import { faultRows } from '../support/fault-table.ts';

const KILLED = { fault: 'worker killed', hasPassed: true };

describe('the table of faults', () => {
  test('has one line for each fault, with what its tests observed', () => {
    const seen = [{ ...KILLED, hit: 'loading at 40 %', seconds: 1.26, outcome: '2 attempts; live' }];
    expect(faultRows(seen)).toEqual([['worker killed', '1', 'loading at 40 %', '1.3', '2 attempts; live']]);
  });

  test('shows several numbers as a range', () => {
    const seen = ['9', '1,200', '100'].map((count, at) => ({
      ...KILLED,
      hit: `${count} requests`,
      seconds: 9 + at,
      outcome: '2 attempts',
    }));
    expect(faultRows(seen)).toEqual([
      ['worker killed', '3', '9 to 1,200 requests', '9.0 to 11.0', '2 attempts'],
    ]);
  });

  test('counts outcomes that differ in more than numbers', () => {
    const seen = ['loading at 3 %', 'going live', 'loading at 97 %'].map((hit) => ({
      ...KILLED,
      hit,
      outcome: 'live',
    }));
    expect(faultRows(seen)[0]?.[2]).toBe('loading at 3 to 97 % (2 of 3); or going live (1 of 3)');
  });

  test('shows how many tests failed', () => {
    const failed = { fault: 'worker killed', hasPassed: false, hit: '', outcome: '' };
    const seen = [{ ...KILLED, hit: 'reading', outcome: 'live' }, failed];
    expect(faultRows(seen)).toEqual([['worker killed', '1 of 2', 'reading', '', 'live; or **failed**']]);
  });
});
