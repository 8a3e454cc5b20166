import { describe, expect, test } from '@jest/globals';
import { summarize } from '../../src/publications/history.ts';
import type { LedgerEvent } from '../../src/publications/ledger.ts';

function event(
  publication: string,
  name: LedgerEvent['event'],
  details: Partial<LedgerEvent> = {},
): LedgerEvent {
  return { publication, event: name, at: '2026-11-20T06:00:00.000Z', ...details };
}

function states(events: readonly LedgerEvent[], live: string | undefined): [string, string][] {
  return summarize(events, live).map(({ publication, state }) => [publication, state]);
}

describe('summarize', () => {
  test('of no events is empty', () => {
    expect(summarize([], undefined)).toEqual([]);
    expect(summarize([], 'a')).toEqual([]);
  });

  test('gathers what the events of a publication tell, the latest word counting', () => {
    const counts = { rows: 10, licenses: 9, endorsements: 2, rejected: 1 };
    expect(
      summarize(
        [
          event('a', 'queued', { at: '2026-11-20T06:00:00.000Z', date: '2026-11-19' }),
          event('a', 'loading', {
            at: '2026-11-20T06:01:00.000Z',
            date: '2026-11-20',
            index: 'licenses-2026-11-20-a',
          }),
          event('a', 'live', { at: '2026-11-20T06:02:00.000Z', counts, sample: true }),
        ],
        'a',
      ),
    ).toEqual([
      {
        publication: 'a',
        state: 'live',
        at: '2026-11-20T06:02:00.000Z',
        date: '2026-11-20',
        index: 'licenses-2026-11-20-a',
        counts,
        sample: true,
      },
    ]);
  });

  test.each(['queued', 'reading', 'loading', 'verifying', 'refused', 'failed', 'rolled_back'] as const)(
    'says of a publication whose last event is %s that it is so',
    (last) => {
      expect(states([event('a', 'queued'), event('a', last)], undefined)).toEqual([['a', last]]);
    },
  );

  test("is not misled by a word of the queue that comes after the worker's", () => {
    const late = event('a', 'queued', { at: '2026-11-20T05:59:00.000Z', forced: 'as seen' });
    const ended = event('a', 'refused', { reasons: ['no_rows: The business file has no rows.'] });
    expect(summarize([event('a', 'reading'), ended, late], undefined)).toEqual([
      {
        publication: 'a',
        state: 'refused',
        at: '2026-11-20T06:00:00.000Z',
        reasons: ['no_rows: The business file has no rows.'],
        forced: 'as seen',
      },
    ]);
  });

  test('keeps the reasons of a refusal', () => {
    const reasons = ['The individual file lacks BOARD.'];
    expect(summarize([event('a', 'queued'), event('a', 'refused', { reasons })], undefined)).toMatchObject([
      { state: 'refused', reasons },
    ]);
  });

  test('keeps publications in the order in which they began, whatever came later', () => {
    const events = [
      event('a', 'queued'),
      event('b', 'queued'),
      event('c', 'queued'),
      event('b', 'live'),
      event('a', 'failed'),
    ];
    expect(states(events, 'b')).toEqual([
      ['a', 'failed'],
      ['b', 'live'],
      ['c', 'queued'],
    ]);
  });

  test.each<[string, LedgerEvent[], string | undefined, [string, string][]]>([
    [
      'has one live where the ledger tells of two',
      [event('a', 'live'), event('b', 'live')],
      'b',
      [
        ['a', 'superseded'],
        ['b', 'live'],
      ],
    ],
    [
      'goes back with the alias',
      [event('a', 'live'), event('b', 'live'), event('a', 'superseded'), event('b', 'rolled_back')],
      'a',
      [
        ['a', 'live'],
        ['b', 'rolled_back'],
      ],
    ],
    ['knows a flip that the ledger missed', [event('a', 'verifying')], 'a', [['a', 'live']]],
    [
      'is live though its canary failed',
      [event('a', 'live'), event('a', 'canary_failed', { differences: ['RN.1'] })],
      'a',
      [['a', 'live']],
    ],
    [
      'is superseded though its canary failed, and that was told late',
      [event('a', 'live'), event('b', 'live'), event('a', 'superseded'), event('a', 'canary_failed')],
      'b',
      [
        ['a', 'superseded'],
        ['b', 'live'],
      ],
    ],
    ['has nothing live where the alias has nothing', [event('a', 'live')], undefined, [['a', 'superseded']]],
    ['has nothing live that the ledger does not know', [event('a', 'live')], 'z', [['a', 'superseded']]],
  ])('%s: what is live is what the alias says', (_what, events, live, expected) => {
    expect(states(events, live)).toEqual(expected);
  });
});
