import { describe, expect, test } from '@jest/globals';
import statusMeanings from '../../data/status-meanings.json' with { type: 'json' };
import statuses from '../../data/statuses.json' with { type: 'json' };
import { cautionsOf } from '../../src/licenses/cautions.ts';
import { plainStatus } from '../../src/web/license-facts.ts';

const TODAY = '2026-11-23';

/** A license as its status columns say it. */
function status(primary: string | null, raw: string | null, expiry_date: string | null = '2027-10-31') {
  const license = { status: primary?.toUpperCase() ?? null, raw_status: raw, expiry_date, extra_data: {} };
  return plainStatus(license, cautionsOf(license, TODAY));
}

describe('the status on the website', () => {
  test.each([
    ['Active', 'Active', 'good'],
    ['Active', 'Active - Active In Renewal', 'caution'],
    ['Active', 'Active - Probation', 'caution'],
    ['Active', 'Active - Restricted', 'caution'],
    ['Active', 'Active - Suspended', 'bad'],
    ['Active', 'Active - Lapsed', 'bad'],
    ['Active', 'Active - Expired', 'bad'],
    ['Inactive', 'Inactive', 'bad'],
    ['Inactive', 'Inactive - Expired', 'bad'],
    ['Closed', 'Closed - Deceased', 'bad'],
    ['In Review', 'In Review', 'neutral'],
    ['Submitted', 'Submitted - Fee Required', 'neutral'],
    ['Active', 'Active - Something New', 'neutral'],
    ['Dormant', 'Dormant', 'neutral'],
    [null, 'Suspended', 'neutral'],
    [null, null, 'neutral'],
  ])('of %j with %j is %s', (primary, raw, tone) => {
    expect(status(primary, raw)).toMatchObject({ label: raw ?? 'Not stated', tone });
  });

  test.each([
    ['2026-11-22', 'caution'],
    ['2026-11-23', 'good'],
    [null, 'caution'],
  ])('of an active license that expires on %j is %s', (expiry, tone) => {
    expect(status('Active', 'Active', expiry).tone).toBe(tone);
  });

  test('says that an active license has expired, unless it is suspended', () => {
    expect(status('Active', 'Active', '2020-01-01').label).toBe('Active – date passed');
    expect(status('Active', 'Active', '2020-01-01').sentences.at(-1)).toContain('Its expiry date has passed');
    expect(status('Active', 'Active - Suspended', '2020-01-01').tone).toBe('bad');
  });

  test.each(['Active - Something New', 'Dormant'])(
    'says to ask the board about an unknown status: %j',
    (raw) => {
      expect(status(raw.split(' - ')[0] ?? '', raw).sentences).toContain(
        'Ask the board what this status means.',
      );
    },
  );

  test('has a meaning for every status of the catalog and no other', () => {
    const upper = (names: readonly string[]) => names.map((name) => name.toUpperCase()).toSorted();
    expect(Object.keys(statusMeanings.primary).toSorted()).toEqual(upper(statuses.primary));
    expect(Object.keys(statusMeanings.sub).toSorted()).toEqual(upper(statuses.sub));
  });
});
