import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { liveEvent, missingEvents } from '../../src/publications/history.ts';
import { type LedgerEvent, PUBLICATION_STATES } from '../../src/publications/ledger.ts';
import type { LicensesIndex } from '../../src/publications/metadata.ts';

const AT = '2026-11-20T06:00:00.000Z';

const indexOf = (publication: string) => `licenses-2026-11-20-${publication}`;

const event = (publication: string, name: LedgerEvent['event'], epoch?: number) => ({
  publication,
  event: name,
  at: AT,
  index: indexOf(publication),
  ...(epoch !== undefined && { epoch }),
});

/** What the alias has. */
const live = (publication: string, epoch: number) => ({
  index: indexOf(publication),
  metadata: {
    ...{ publication, epoch, date: '2026-11-20', sample: false, started_at: AT, service_version: '0.1.0' },
    counts: { rows: 10, licenses: 9, endorsements: 2, rejected: 1 },
    boards: { 'Nursing Board': 11 },
    sources: {
      individual: { name: 'individual.csv', sha256: 'a', bytes: 1, rows: 8 },
      business: { name: 'business.csv', sha256: 'b', bytes: 1, rows: 2 },
    },
  },
});

/** Which events are missing, as `publication event`. */
const missing = (events: readonly LedgerEvent[], alias: LicensesIndex | undefined) =>
  missingEvents(events, alias).map(({ publication, event: name }) => `${publication} ${name}`);

const eventName = z.enum([...PUBLICATION_STATES, 'canary_failed']);

/** Events as `publication event epoch`, of which the epoch may be missing. */
const eventsOf = (text: string) =>
  text.split(', ').flatMap((each) => {
    const [publication = '', name, epoch] = each.split(' ');
    return name === undefined
      ? []
      : event(publication, eventName.parse(name), epoch === undefined ? undefined : Number(epoch));
  });

const WRITTEN = 'a live 1, b live 2, a superseded';
const BACK = `${WRITTEN}, b rolled_back 3, a live 3`;

// What the ledger has, what the alias has, and what is missing.
test.each([
  ['nothing was published', '', '', ''],
  ['a publication runs', 'a reading 1, a loading 1', '', ''],
  ['the ledger has all events', WRITTEN, 'b 2', ''],
  ['the first publication was killed after the switch', 'a verifying 1', 'a 1', 'a live'],
  ['a publication was killed after it', 'a live 1, b verifying 2', 'b 2', 'b live, a superseded'],
  ['a publication was killed between its two last events', 'a live 1, b live 2', 'b 2', 'a superseded'],
  ['a rollback was killed after the alias switched', WRITTEN, 'a 1', 'a live, b rolled_back'],
  ['a rollback was killed between its two events', `${WRITTEN}, b rolled_back 3`, 'a 1', 'a live'],
  ['a publication after a rollback was killed', `${BACK}, c verifying 4`, 'c 4', 'c live, a superseded'],
  ['a rollback that undid another one was killed', BACK, 'b 2', 'b live, a superseded'],
  ['a live one is marked as failed', 'a live 1, b verifying 2, b failed 2', 'b 2', 'b live, a superseded'],
  ['the canary of a live publication failed', 'a live 1, a canary_failed 1', 'a 1', ''],
  ['the next one was killed', 'a live 1, a canary_failed 1, b verifying 2', 'b 2', 'b live, a superseded'],
  ['the ledger was lost', '', 'b 2', 'b live'],
  ['an event of the queue was stored late', 'a reading 1, a live 1, a queued', 'a 1', ''],
])('the events that the ledger lacks if %s', (_what, events, alias, expected) => {
  const [publication = '', epoch] = alias.split(' ');
  const index = epoch === undefined ? undefined : live(publication, Number(epoch));
  expect(missing(eventsOf(events), index).join(', ')).toBe(expected);
});

test('the events that the ledger lacks include the index of the superseded publication, so that a rollback to it is possible', () => {
  expect(missingEvents([event('a', 'live', 1)], live('b', 2))).toContainEqual({
    publication: 'a',
    event: 'superseded',
    index: indexOf('a'),
  });
});

test('the event for the live index has what the index says of itself', () => {
  const { index, metadata } = live('b', 2);
  expect(liveEvent(index, metadata)).toEqual({
    ...{ publication: 'b', event: 'live', index, epoch: 2, date: '2026-11-20', sample: false },
    ...{ counts: metadata.counts, boards: metadata.boards, service_version: '0.1.0' },
    sources: { individual: 'individual.csv', business: 'business.csv' },
    sha256: { individual: 'a', business: 'b' },
  });
});

test('the event for the live index has no files if the index names none', () => {
  const { index, metadata } = live('b', 2);
  const { sources: _none, ...bare } = metadata;
  expect(liveEvent(index, bare)).not.toHaveProperty('sha256');
});
