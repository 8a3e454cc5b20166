import { z } from 'zod';
import ohioJson from '../data/ohio-places.json' with { type: 'json' };
import outOfStateJson from '../data/out-of-state-places.json' with { type: 'json' };
import streetsJson from '../data/streets.json' with { type: 'json' };
import { below, chance, pick, type Random, weighted, weightedText } from './random.ts';

const words = z.array(z.string().min(1)).min(1);
const weights = z.record(z.string(), z.number().positive());

const OHIO = z
  .array(
    z.strictObject({
      county: z.string().min(1),
      /** The population in thousands. */
      thousands: z.number().positive(),
      /** City → its ZIP codes, separated by blanks. */
      places: z.record(z.string(), z.string().min(5)),
    }),
  )
  .parse(ohioJson);
const OUT_OF_STATE = z
  .array(
    z.strictObject({
      state: z.string().length(2),
      share: z.number().positive(),
      places: z
        .array(z.strictObject({ city: z.string(), county: z.string(), zips: z.string().min(5) }))
        .min(1),
    }),
  )
  .parse(outOfStateJson);
const STREETS = z
  .strictObject({
    names: words,
    kinds: weights,
    directions: weights,
    units: weights,
    post_box_share: z.number(),
  })
  .parse(streetsJson);

/** The PARCEL columns that both files have. */
export interface Place {
  readonly city: string;
  readonly state: string;
  readonly county: string;
  readonly zip: string;
  readonly country: string;
}

const COUNTRY = 'United States';
const BLANK: Place = { city: '', state: '', county: '', zip: '', country: '' };
const STATE_ALONE: Place = { city: '', state: 'OH', county: '', zip: '', country: COUNTRY };
const HIDDEN: Place = { city: 'HIDDEN', state: 'HIDDEN', county: 'HIDDEN', zip: 'HIDDEN', country: 'HIDDEN' };
const HIDDEN_CITY: Place = { city: 'HIDDEN', state: 'OH', county: 'HIDDEN', zip: 'HIDDEN', country: COUNTRY };

const SHARES = {
  person: { outOfState: 0.1, blank: 0.03, stateAlone: 0.003, hidden: 0.012, hiddenCity: 0.004 },
  business: { outOfState: 0.06, blank: 0.004, stateAlone: 0.001, hidden: 0, hiddenCity: 0 },
} as const;

const ZIP_PLUS_4_SHARE = 0.2;
const UPPER_CASE_SHARE = 0.08;

const drawOhioPlace = weighted(
  OHIO.flatMap(({ county, thousands, places }) => {
    const inCounty = Object.entries(places).flatMap(([city, zips]) =>
      zips.split(' ').map((zip): Place => ({ city, state: 'OH', county, zip, country: COUNTRY })),
    );
    return inCounty.map((place) => [place, thousands / inCounty.length] as const);
  }),
);

const drawOutOfStatePlace = weighted(
  OUT_OF_STATE.flatMap(({ state, share, places }) => {
    const inState = places.flatMap(({ city, county, zips }) =>
      zips.split(' ').map((zip): Place => ({ city, state, county, zip, country: COUNTRY })),
    );
    return inState.map((place) => [place, share / inState.length] as const);
  }),
);

/** Where a holder lives: mostly in Ohio, by county population; otherwise elsewhere, blank or `HIDDEN`. */
export function drawPlace(random: Random, kind: 'person' | 'business'): Place {
  const shares = SHARES[kind];
  let drawn = random();
  const falls = (share: number) => {
    const within = drawn < share;
    drawn -= share;
    return within;
  };
  if (falls(shares.outOfState)) return asWritten(random, drawOutOfStatePlace(random));
  if (falls(shares.blank)) return BLANK;
  if (falls(shares.stateAlone)) return STATE_ALONE;
  if (falls(shares.hidden)) return HIDDEN;
  if (falls(shares.hiddenCity)) return HIDDEN_CITY;
  return asWritten(random, drawOhioPlace(random));
}

/** A place in Ohio, in a different city than the old one. */
export function drawNextPlace(random: Random, old: Place): Place {
  for (;;) {
    const place = drawOhioPlace(random);
    if (place.city.toUpperCase() !== old.city.toUpperCase()) return place;
  }
}

function asWritten(random: Random, place: Place): Place {
  const isLong = chance(random, ZIP_PLUS_4_SHARE);
  const isUpper = chance(random, UPPER_CASE_SHARE);
  if (!isLong && !isUpper) return place;
  return {
    ...place,
    city: isUpper ? place.city.toUpperCase() : place.city,
    zip: isLong ? `${place.zip}-${1000 + below(random, 9000)}` : place.zip,
  };
}

const drawStreetKind = weightedText(STREETS.kinds);
const drawDirection = weightedText(STREETS.directions);
const drawUnit = weightedText(STREETS.units);

/** A street address of a business: some contain a comma, a few a line break. */
export function drawStreetAddress(random: Random): string {
  if (chance(random, STREETS.post_box_share)) return `PO BOX ${1 + below(random, 9999)}`;
  const street = `${1 + below(random, 9999)} ${drawDirection(random)}${pick(random, STREETS.names)}`;
  const unit = drawUnit(random);
  return `${street} ${drawStreetKind(random)}${unit}${unit === '' ? '' : 1 + below(random, 400)}`;
}
