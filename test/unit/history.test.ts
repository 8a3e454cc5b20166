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

describe('the state of publications by the events in the ledger', () => {
  test('is empty without events', () => {
    expect(summarize([], undefined)).toEqual([]);
    expect(summarize([], 'a')).toEqual([]);
  });

  test('has what the events of a publication say, the latest last', () => {
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
    'is %s after that event',
    (last) => {
      expect(states([event('a', 'queued'), event('a', last)], undefined)).toEqual([['a', last]]);
    },
  );

  test("does not change by an event of the queue that is stored after the worker's", () => {
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

  test('has the reasons of a refusal', () => {
    const reasons = ['The individual file lacks BOARD.'];
    expect(summarize([event('a', 'queued'), event('a', 'refused', { reasons })], undefined)).toMatchObject([
      { state: 'refused', reasons },
    ]);
  });

  test('is listed in the order in which the publications began', () => {
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
      'the ledger has two live ones',
      [event('a', 'live'), event('b', 'live')],
      'b',
      [
        ['a', 'superseded'],
        ['b', 'live'],
      ],
    ],
    [
      'the alias was rolled back',
      [event('a', 'live'), event('b', 'live'), event('a', 'superseded'), event('b', 'rolled_back')],
      'a',
      [
        ['a', 'live'],
        ['b', 'rolled_back'],
      ],
    ],
    ['the alias switched, but the ledger lacks the event', [event('a', 'verifying')], 'a', [['a', 'live']]],
    [
      'the canary of the live one failed, as version 0.3.0 wrote it',
      [event('a', 'live'), event('a', 'canary_failed')],
      'a',
      [['a', 'live']],
    ],
    [
      'the canary of a superseded one failed, and the event is late',
      [event('a', 'live'), event('b', 'live'), event('a', 'superseded'), event('a', 'canary_failed')],
      'b',
      [
        ['a', 'superseded'],
        ['b', 'live'],
      ],
    ],
    ['the alias has nothing', [event('a', 'live')], undefined, [['a', 'superseded']]],
    [
      'the alias has a publication that the ledger does not know',
      [event('a', 'live')],
      'z',
      [['a', 'superseded']],
    ],
  ])('follows the alias: %s', (_what, events, live, expected) => {
    expect(states(events, live)).toEqual(expected);
  });
});
