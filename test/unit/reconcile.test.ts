import { describe, expect, test } from '@jest/globals';
import { liveEvent, missingEvents, summarize } from '../../src/publications/history.ts';
import type { LedgerEvent } from '../../src/publications/ledger.ts';
import type { LicensesIndex } from '../../src/publications/metadata.ts';

const AT = '2026-11-20T06:00:00.000Z';

function indexOf(publication: string): string {
  return `licenses-2026-11-20-${publication}`;
}

function event(publication: string, name: LedgerEvent['event'], epoch?: number): LedgerEvent {
  return {
    publication,
    event: name,
    at: AT,
    index: indexOf(publication),
    ...(epoch === undefined ? {} : { epoch }),
  };
}

/** What the alias has. */
function live(publication: string, epoch: number): LicensesIndex {
  return {
    index: indexOf(publication),
    metadata: {
      publication,
      epoch,
      date: '2026-11-20',
      sample: false,
      started_at: AT,
      service_version: '0.1.0',
      counts: { rows: 10, licenses: 9, endorsements: 2, rejected: 1 },
      boards: { 'Nursing Board': 11 },
      sources: {
        individual: { name: 'individual.csv', sha256: 'a', bytes: 1, rows: 8 },
        business: { name: 'business.csv', sha256: 'b', bytes: 1, rows: 2 },
      },
    },
  };
}

/** Which events are missing, as `publication event`. */
function missing(events: readonly LedgerEvent[], alias: LicensesIndex | undefined): string[] {
  return missingEvents(events, alias).map(({ publication, event: name }) => `${publication} ${name}`);
}

const WRITTEN = [event('a', 'live', 1), event('b', 'live', 2), event('a', 'superseded')];

describe('the events that the ledger lacks', () => {
  test.each<[string, LedgerEvent[], LicensesIndex | undefined, string[]]>([
    ['nothing was published', [], undefined, []],
    ['a publication runs', [event('a', 'reading', 1), event('a', 'loading', 1)], undefined, []],
    ['the ledger has all events', WRITTEN, live('b', 2), []],
    [
      'the first publication was killed after the alias switched',
      [event('a', 'verifying', 1)],
      live('a', 1),
      ['a live'],
    ],
    [
      'a publication was killed after the alias switched',
      [event('a', 'live', 1), event('b', 'verifying', 2)],
      live('b', 2),
      ['b live', 'a superseded'],
    ],
    [
      'a publication was killed between its two last events',
      [event('a', 'live', 1), event('b', 'live', 2)],
      live('b', 2),
      ['a superseded'],
    ],
    ['a rollback was killed after the alias switched', WRITTEN, live('a', 1), ['a live', 'b rolled_back']],
    [
      'a rollback was killed between its two events',
      [...WRITTEN, event('b', 'rolled_back', 3)],
      live('a', 1),
      ['a live'],
    ],
    [
      'a publication after a rollback was killed after the alias switched',
      [...WRITTEN, event('b', 'rolled_back', 3), event('a', 'live', 3), event('c', 'verifying', 4)],
      live('c', 4),
      ['c live', 'a superseded'],
    ],
    [
      'a rollback that undid another one was killed after the alias switched',
      [...WRITTEN, event('b', 'rolled_back', 3), event('a', 'live', 3)],
      live('b', 2),
      ['b live', 'a superseded'],
    ],
    [
      'a live publication is marked as failed, because its last event could not be written',
      [event('a', 'live', 1), event('b', 'verifying', 2), event('b', 'failed', 2)],
      live('b', 2),
      ['b live', 'a superseded'],
    ],
    [
      'the canary of a live publication failed',
      [event('a', 'live', 1), event('a', 'canary_failed', 1)],
      live('a', 1),
      [],
    ],
    [
      'a publication followed one whose canary failed, and was killed after the alias switched',
      [event('a', 'live', 1), event('a', 'canary_failed', 1), event('b', 'verifying', 2)],
      live('b', 2),
      ['b live', 'a superseded'],
    ],
    ['the ledger was lost', [], live('b', 2), ['b live']],
    [
      'an event of the queue was stored late',
      [event('a', 'reading', 1), event('a', 'live', 1), event('a', 'queued')],
      live('a', 1),
      [],
    ],
  ])('if %s', (_what, events, alias, expected) => {
    expect(missing(events, alias)).toEqual(expected);
  });

  test('make the ledger agree with the alias', () => {
    const events = [event('a', 'live', 1), event('b', 'verifying', 2)];
    const added = missingEvents(events, live('b', 2)).map((each): LedgerEvent => ({ at: AT, ...each }));
    expect(missing([...events, ...added], live('b', 2))).toEqual([]);
    expect(summarize([...events, ...added], 'b')).toMatchObject([
      { publication: 'a', state: 'superseded' },
      { publication: 'b', state: 'live', date: '2026-11-20', counts: { rows: 10 } },
    ]);
  });

  test('include the index of the superseded publication, so that a rollback to it is possible', () => {
    expect(missingEvents([event('a', 'live', 1)], live('b', 2))).toContainEqual({
      publication: 'a',
      event: 'superseded',
      index: indexOf('a'),
    });
  });
});

describe('the event for the live index', () => {
  test('has what the index says of itself', () => {
    const { index, metadata } = live('b', 2);
    expect(liveEvent(index, metadata)).toEqual({
      publication: 'b',
      event: 'live',
      index,
      epoch: 2,
      date: '2026-11-20',
      sample: false,
      counts: { rows: 10, licenses: 9, endorsements: 2, rejected: 1 },
      boards: { 'Nursing Board': 11 },
      service_version: '0.1.0',
      sources: { individual: 'individual.csv', business: 'business.csv' },
      sha256: { individual: 'a', business: 'b' },
    });
  });

  test('has no files if the index names none', () => {
    const { index, metadata } = live('b', 2);
    const { sources: _none, ...bare } = metadata;
    expect(liveEvent(index, bare)).not.toHaveProperty('sha256');
  });
});
