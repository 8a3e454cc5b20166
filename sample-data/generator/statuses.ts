import { z } from 'zod';
import statusesJson from '../data/statuses.json' with { type: 'json' };
import { type Day, day, monthEnd } from './days.ts';
import { below, chance, type Random, weighted } from './random.ts';

const STATUSES = z
  .array(
    z.strictObject({
      status: z.string().min(1),
      sub_status: z.string(),
      /** The percentage of all rows. */
      percent: z.number().positive(),
      expires: z.enum(['ahead', 'soon', 'past', 'never']),
      /** The share of rows with this status whose BOARD_ACTION is Yes. */
      board_action: z.number().min(0).max(1),
    }),
  )
  .min(1)
  .parse(statusesJson);

type Expires = (typeof STATUSES)[number]['expires'];

/** The status of a license, its dates and whether there is a board action. */
export interface Standing {
  readonly status: string;
  readonly subStatus: string;
  readonly boardAction: boolean;
  readonly issued: Day | undefined;
  readonly effective: Day | undefined;
  readonly expires: Day | undefined;
}

/**
 * All sample data refers to this year, whatever the run date, so that the files of two days differ only by chosen
 * changes.
 */
const YEAR = 2026;
const EARLIEST_ISSUE = day(1952, 1, 1);
const TWO_YEARS = 730;
const LONGEST_CAREER_DAYS = 45 * 365;
const LONGEST_LAPSE_DAYS = 24 * 365;

/** The State's files do contain `Active` rows whose expiration date has passed. */
const ACTIVE_BUT_PAST_SHARE = 0.02;
const BLANK_EXPIRATION_SHARE = 0.012;

const drawStatus = weighted(STATUSES.map((entry) => [entry, entry.percent] as const));

/** Draws a status with dates that fit it in most cases, as in the State's files. */
export function drawStanding(random: Random): Standing {
  const { status, sub_status: subStatus, board_action, expires: when } = drawStatus(random);
  const boardAction = chance(random, board_action);
  if (when === 'never') {
    return { status, subStatus, boardAction, issued: undefined, effective: undefined, expires: undefined };
  }
  const expires = drawExpiration(random, when);
  const renewed = expires - TWO_YEARS + 1;
  const career = Math.floor(random() ** 1.6 * LONGEST_CAREER_DAYS);
  return {
    status,
    subStatus,
    boardAction,
    issued: Math.max(EARLIEST_ISSUE, renewed - career),
    effective: renewed,
    expires: chance(random, BLANK_EXPIRATION_SHARE) ? undefined : expires,
  };
}

function drawExpiration(random: Random, when: Exclude<Expires, 'never'>): Day {
  if (when === 'past') {
    return monthEnd(YEAR, 5) - Math.floor(random() ** 2 * LONGEST_LAPSE_DAYS);
  }
  if (when === 'soon') return monthEnd(YEAR, 9 + below(random, 6));
  if (chance(random, ACTIVE_BUT_PAST_SHARE)) return monthEnd(YEAR, 1 + below(random, 6));
  return monthEnd(YEAR, 12 + below(random, 18));
}

/** The same license on a later day: renewed, reinstated, lapsed, disciplined or corrected. It always changes. */
export function drawNextStanding(random: Random, old: Standing): Standing {
  if (old.issued === undefined) return approved(old);
  if (old.status === 'Active') return drawAfterActive(random, old);
  if (old.status === 'Inactive') {
    return chance(random, 0.6)
      ? renewed(old)
      : { ...old, subStatus: other(old.subStatus, 'Lapsed', 'Retired') };
  }
  return { ...old, subStatus: other(old.subStatus, 'Deceased', '') };
}

function drawAfterActive(random: Random, old: Standing): Standing {
  const drawn = random();
  if (drawn < 0.55) return renewed(old);
  if (drawn < 0.85) return { ...old, status: 'Inactive', subStatus: 'Expired' };
  if (drawn < 0.95) return { ...old, subStatus: other(old.subStatus, 'Active In Renewal', '') };
  return { ...old, status: 'Inactive', subStatus: 'Suspended', boardAction: true };
}

function approved(old: Standing): Standing {
  const from = day(YEAR, 6, 1);
  return {
    ...old,
    status: 'Active',
    subStatus: '',
    issued: from,
    effective: from,
    expires: monthEnd(YEAR + 2, 5),
  };
}

function renewed(old: Standing): Standing {
  const from = Math.max(old.expires ?? 0, monthEnd(YEAR, 5));
  return { ...old, status: 'Active', subStatus: '', effective: from + 1, expires: from + TWO_YEARS };
}

function other(value: string, first: string, second: string): string {
  return value === first ? second : first;
}
