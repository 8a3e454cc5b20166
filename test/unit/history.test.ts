import { describe, expect, test } from '@jest/globals';
import { publicationResult, summarize } from '../../src/publications/history.ts';
import { LEDGER_EVENTS, type LedgerEvent } from '../../src/publications/ledger.ts';

const AT = '2026-11-20T06:00:00.000Z';

function event(publication: string, name: LedgerEvent['event'], details: Partial<LedgerEvent> = {}) {
  return { publication, event: name, at: AT, ...details };
}

describe('the state of publications by the events in the ledger', () => {
  test('has what the events of a publication say, the latest last', () => {
    const counts = { rows: 10, licenses: 9, endorsements: 2, rejected: 1 };
    const index = 'licenses-2026-11-20-a';
    const at = '2026-11-20T06:02:00.000Z';
    const events = [
      event('a', 'queued', { date: '2026-11-19' }),
      event('a', 'loading', { at: '2026-11-20T06:01:00.000Z', date: '2026-11-20', index }),
      event('a', 'live', { at, counts, sample: true }),
    ];
    expect(summarize(events, 'a')).toEqual([
      { publication: 'a', state: 'live', at, date: '2026-11-20', index, counts, sample: true },
    ]);
  });

  test("does not change by an event of the queue that is stored after the worker's; has the reasons", () => {
    const late = event('a', 'queued', { at: '2026-11-20T05:59:00.000Z', forced: 'as seen' });
    const reasons = ['no_rows: The business file has no rows.'];
    expect(summarize([event('a', 'reading'), event('a', 'refused', { reasons }), late], undefined)).toEqual([
      { publication: 'a', state: 'refused', at: AT, reasons, forced: 'as seen' },
    ]);
  });

  test.each<[what: string, events: string, live: string | undefined, states: string]>([
    ['nothing', '', 'a', ''],
    ...['queued', 'reading', 'loading', 'verifying', 'refused', 'failed', 'rolled_back'].map(
      (last): [string, string, undefined, string] => [last, `a:queued a:${last}`, undefined, `a:${last}`],
    ),
    [
      'in the order in which they began',
      ...(['a:queued b:queued c:queued b:live a:failed', 'b', 'a:failed b:live c:queued'] as const),
    ],
    ['two live ones', 'a:live b:live', 'b', 'a:superseded b:live'],
    ['rolled back', 'a:live b:live a:superseded b:rolled_back', 'a', 'a:live b:rolled_back'],
    ['the ledger lacks the event of the switch', 'a:verifying', 'a', 'a:live'],
    ['the canary of the live one failed, as 0.3.0 wrote it', 'a:live a:canary_failed', 'a', 'a:live'],
    [
      'the canary of a superseded one failed, and the event is late',
      ...(['a:live b:live a:superseded a:canary_failed', 'b', 'a:superseded b:live'] as const),
    ],
    ['the alias has nothing', 'a:live', undefined, 'a:superseded'],
    ['the alias has a publication that the ledger does not know', 'a:live', 'z', 'a:superseded'],
  ])('follows the alias: %s', (_what, text, live, expected) => {
    const events = text.match(/\S+/g)?.map((each) => {
      const [publication = '', name] = each.split(':');
      return event(publication, LEDGER_EVENTS.schema.shape.event.parse(name));
    });
    const found = summarize(events ?? [], live);
    expect(found.map(({ publication, state }) => `${publication}:${state}`).join(' ')).toBe(expected);
  });
});

const counts = { rows: 100, licenses: 90, endorsements: 5, rejected: 10 };
const verified = event('a', 'verifying', { index: 'licenses-a', notes: ['A note.'] });
const live = event('a', 'live', {
  ...{ date: '2026-11-20', counts, reasons: ['older: Forced.'] },
  seconds: { reading: 1.5, loading: 3.52 },
});

test('how a publication ended, by its events live, also where another has taken its place since', () => {
  for (const events of [
    [verified, live],
    [verified, live, event('a', 'superseded')],
  ])
    expect(publicationResult(events)).toEqual({
      ...{ state: 'live', publication: 'a', index: 'licenses-a', date: '2026-11-20', ...counts },
      ...{ seconds: 5, rows_per_second: 20, unknown_labels: {}, notes: ['A note.'] },
      ...{ overridden: ['older: Forced.'], checks: [], values: {} },
    });
});

test('how a publication ended, by its events refused, failed or skipped, and not at all while it goes on', () => {
  const ended = (name: LedgerEvent['event'], details: Partial<LedgerEvent> = {}) =>
    publicationResult([event('a', 'reading'), event('a', name, details)]);
  expect(ended('refused', { reasons: ['older: Too old.'] })).toEqual({
    ...{ state: 'refused', publication: 'a', reasons: ['older: Too old.'], checks: [], values: {} },
  });
  expect(ended('failed')).toMatchObject({ state: 'failed', reasons: [] });
  expect(ended('skipped', { same_as: 'b', date: '2026-11-20' })).toEqual({
    ...{ state: 'skipped', publication: 'a', live: 'b', date: '2026-11-20' },
  });
  expect([publicationResult([]), ended('loading'), ended('verifying')]).toEqual([
    ...[undefined, undefined, undefined],
  ]);
});
