import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { print, showProgress } from '../../src/cli/output.ts';
import { progressText } from '../../src/cli/publish.ts';
import type { PublishProgress } from '../../src/publications/job.ts';

const COMPARING = { step: 'comparing', done: 500_000, total: 1_000_000 } as const;
const HALF = 'comparing (step 5 of 9), 500,000 of 1,000,000, 50 %';
const TOOK = { loading: 60, comparing: 20 };
const STEPS: readonly [Partial<PublishProgress>, expected: Record<string, number>, text: string][] = [
  [{}, {}, 'loading (step 3 of 9)'],
  [{ done: 203e6 }, {}, 'loading (step 3 of 9), 203 MB, 25 %'],
  [{ step: 'downloading', total: 0, done: 5.5e6 }, {}, 'downloading (step 1 of 9), 6 MB'],
  [{ step: 'verifying', total: 0 }, {}, 'verifying (step 4 of 9)'],
  [{ ...COMPARING, total: 2_600_000 }, {}, 'comparing (step 5 of 9), 500,000 of 2,600,000, 19 %'],
  [{}, { ...TOOK, 'making durable': 90 }, 'loading (step 3 of 9), about 3 min to the end'],
  [COMPARING, { ...TOOK, 'making durable': 80 }, `${HALF}, about 90 s to the end`],
];

test.each(STEPS)('how far a publication is: %j, after one that took %j', (progress, expected, text) => {
  const whole: PublishProgress = { step: 'loading', done: 0, total: 812e6, ...progress };
  expect(progressText(whole, expected)).toBe(text);
});

describe('what is shown', () => {
  const written: string[] = [];
  const { isTTY, columns } = process.stdout;

  beforeEach(() => {
    jest.useFakeTimers({ now: 0 });
    Object.assign(process.stdout, { isTTY: false, columns: 20 });
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
      written.push(String(text));
      return true;
    });
    // Test files share a process, so another one may have shown progress before.
    showProgress('', 'a step of no publication', process.stdout);
    written.length = 0;
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
    Object.assign(process.stdout, { isTTY, columns });
  });

  test('without a terminal is a line at each new step, and every five seconds within a step', () => {
    showProgress('reading', 'reading', process.stdout);
    for (let second = 0; second <= 12; second += 1) {
      jest.setSystemTime(second * 1000);
      showProgress(`loading ${second}`, 'loading', process.stdout);
    }
    showProgress('verifying', 'verifying', process.stdout);
    expect(written).toEqual(['reading\n', 'loading 0\n', 'loading 5\n', 'loading 10\n', 'verifying\n']);
  });

  test('is one line in a terminal, cut to its width, in place of which what is printed stands', () => {
    process.stdout.isTTY = true;
    showProgress('reading', 'reading', process.stdout);
    showProgress('loading (step 3 of 9), 203 MB', 'loading', process.stdout);
    print('Live');
    const cleared = '\r\u001b[2K';
    expect(written.join('')).toBe(`${cleared}reading${cleared}loading (step 3 of ${cleared}Live\n`);
  });
});
