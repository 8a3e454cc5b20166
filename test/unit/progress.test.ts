import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { progressDisplay } from '../../src/cli/publish.ts';
import type { PublishProgress } from '../../src/publications/job.ts';

function progress(details: Partial<PublishProgress> = {}): PublishProgress {
  return { step: 'loading', done: 0, total: 812e6, ...details };
}

describe('progress', () => {
  const written: string[] = [];
  const isTty = process.stdout.isTTY;

  beforeEach(() => {
    jest.useFakeTimers({ now: 0 });
    process.stdout.isTTY = false;
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
      written.push(String(text));
      return true;
    });
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
    process.stdout.isTTY = isTty;
    written.length = 0;
  });

  test('is printed without a terminal at each new step, and every five seconds within a step', () => {
    const display = progressDisplay({});
    display.show('mwq1', progress({ step: 'reading', total: 0 }));
    display.show('mwq1', progress());
    for (let second = 1; second <= 12; second += 1) {
      jest.setSystemTime(second * 1000);
      display.show('mwq1', progress({ done: second * 40.6e6 }));
    }
    display.show('mwq1', progress({ step: 'verifying', total: 0 }));
    display.show('mwq1', progress({ step: 'comparing', done: 500_000, total: 2_600_000 }));
    display.end();
    expect(written).toEqual([
      'mwq1: reading (step 2 of 9)\n',
      'mwq1: loading (step 3 of 9)\n',
      'mwq1: loading (step 3 of 9), 203 MB, 25 %\n',
      'mwq1: loading (step 3 of 9), 406 MB, 50 %\n',
      'mwq1: verifying (step 4 of 9)\n',
      'mwq1: comparing (step 5 of 9), 500,000 of 2,600,000, 19 %\n',
    ]);
  });

  test('says how long the whole still takes by an earlier publication', () => {
    const display = progressDisplay({}, { loading: 60, comparing: 20, 'making durable': 90 });
    display.show('mwq1', progress());
    display.show('mwq1', progress({ step: 'comparing', total: 0 }));
    jest.setSystemTime(10_000);
    display.show('mwq1', progress({ step: 'comparing', done: 500_000, total: 2_600_000 }));
    display.show('mwq1', progress({ step: 'making durable', total: 0 }));
    expect(written).toEqual([
      'mwq1: loading (step 3 of 9), about 3 min to the end\n',
      'mwq1: comparing (step 5 of 9), about 2 min to the end\n',
      'mwq1: comparing (step 5 of 9), 500,000 of 2,600,000, 19 %, about 2 min to the end\n',
      'mwq1: making durable (step 7 of 9), about 90 s to the end\n',
    ]);
  });

  test('is one line in a terminal, cut to its width', () => {
    const { columns } = process.stdout;
    Object.assign(process.stdout, { isTTY: true, columns: 20 });
    const display = progressDisplay({});
    display.show('mwq1', progress({ step: 'reading', total: 0 }));
    display.show('mwq1', progress({ done: 406e6 }));
    display.end();
    process.stdout.columns = columns;
    const cleared = '\u001b[2K\u001b[1G';
    const shown = written.join('').split(`${cleared}${cleared}`);
    expect(shown).toEqual(['', 'mwq1: reading (step', `mwq1: loading (step${cleared}`]);
  });

  test('has the size alone if the length is unknown, and is not shown beside JSON', () => {
    const part = progress({ step: 'downloading', total: 0, done: 5.5e6 });
    progressDisplay({}).show('mwq1', part);
    progressDisplay({ json: true }).show('mwq1', part);
    expect(written).toEqual(['mwq1: downloading (step 1 of 9), 6 MB\n']);
  });
});
