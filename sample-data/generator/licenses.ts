import { z } from 'zod';
import secondLicensesJson from '../data/second-licenses.json' with { type: 'json' };
import { drawBusinessName } from './businesses.ts';
import {
  drawCertifications,
  drawCompactEligibility,
  drawEndorsement,
  drawEndorsementsWithoutNumber,
  drawMedicalSpecialties,
  drawSubCategory,
  type Endorsement,
  type MedicalSpecialty,
  type NationalCertification,
  SECOND_ENDORSEMENT_SHARE,
} from './credentials.ts';
import { type NextNumber, numberRuns } from './numbers.ts';
import type { People } from './people.ts';
import { drawPlace, drawStreetAddress, type Place } from './places.ts';
import type { PlannedBoard, PlannedType } from './plan.ts';
import { below, chance, type Random } from './random.ts';
import { drawStanding, type Standing } from './statuses.ts';

/** License type → other types that its holder may also have, with the share of holders who do. */
const SECOND_LICENSES = z
  .record(z.string(), z.record(z.string(), z.number().min(0).max(1)))
  .parse(secondLicensesJson);

/** The values of one row in either file. */
export interface License {
  readonly planned: PlannedType;
  readonly holder: Holder;
  readonly number: string;
  readonly subCategory: string;
  readonly compactEligibility: string;
  readonly standing: Standing;
  readonly endorsements: readonly Endorsement[];
  readonly specialties: readonly MedicalSpecialty[];
  readonly certifications: readonly NationalCertification[];
}

interface Holder {
  readonly name: string;
  /** Blank for people. */
  readonly street: string;
  readonly place: Place;
}

/** A license type during the drawing of its licenses. */
interface Stock {
  readonly planned: PlannedType;
  /** Undefined for a type whose numbers are those of another type with a suffix. */
  readonly nextNumber: NextNumber | undefined;
  remaining: number;
  /** Types whose numbers are those of this type with a suffix. */
  suffixed: readonly Stock[];
  /** Types whose numbers appear in the endorsement columns of this type's rows. */
  endorsing: readonly Stock[];
  /** Types that a holder of this type may also have. */
  second: readonly (readonly [Stock, number])[];
}

/**
 * Draws all planned licenses, board by board. The licenses of one holder are consecutive. The same plan and random
 * sequence give the same licenses.
 */
export function* drawLicenses(
  random: Random,
  boards: readonly PlannedBoard[],
  people: People,
): Generator<License, void, undefined> {
  const runs = numberRuns(
    boards.flatMap(({ types }) => types.filter(({ type }) => type.suffix === undefined)),
  );
  for (const board of boards) {
    const stocks = stockUp(board, runs);
    for (;;) {
      const stock = drawStock(random, stocks);
      if (stock === undefined) break;
      yield* drawHolderLicenses(random, stock, people);
    }
  }
}

/** The board's types that have rows of their own, not only together with another type. */
function stockUp(board: PlannedBoard, runs: ReadonlyMap<PlannedType, NextNumber>): Stock[] {
  const stocks = board.types.map(
    (planned): Stock => ({
      planned,
      nextNumber: runs.get(planned),
      remaining: planned.count,
      suffixed: [],
      endorsing: [],
      second: [],
    }),
  );
  for (const stock of stocks) {
    const { name, prefix } = stock.planned.type;
    const seconds = SECOND_LICENSES[name] ?? {};
    if (stock.nextNumber !== undefined) {
      stock.suffixed = stocks.filter((other) => {
        return other.nextNumber === undefined && other.planned.type.prefix === prefix;
      });
    }
    stock.endorsing = stocks.filter(({ planned }) => planned.type.endorses === name);
    stock.second = stocks.flatMap((other) => {
      const share = seconds[other.planned.type.name];
      return share === undefined ? [] : [[other, share] as const];
    });
  }
  return stocks.filter(
    ({ nextNumber, planned }) => nextNumber !== undefined && planned.type.endorses === undefined,
  );
}

/** Draws a type in proportion to its remaining licenses; `undefined` when none remain. */
function drawStock(random: Random, stocks: readonly Stock[]): Stock | undefined {
  const remaining = stocks.reduce((sum, stock) => sum + stock.remaining, 0);
  let drawn = below(random, remaining);
  return stocks.find((stock) => {
    drawn -= stock.remaining;
    return drawn < 0;
  });
}

function drawHolderLicenses(random: Random, stock: Stock, people: People): License[] {
  const holder = drawHolder(random, stock.planned, people);
  const licenses: License[] = [];
  addLicense(random, stock, holder, licenses);
  for (const [second, share] of stock.second) {
    if (second.remaining > 0 && chance(random, share)) addLicense(random, second, holder, licenses);
  }
  return licenses;
}

function drawHolder(random: Random, { type }: PlannedType, people: People): Holder {
  const place = drawPlace(random, type.kind);
  return type.kind === 'person'
    ? { name: people.drawName(random), street: '', place }
    : {
        name: drawBusinessName(random, people, type.name, place.city),
        street: drawStreetAddress(random),
        place,
      };
}

/** Adds a license of the type. For some holders, also adds the licenses whose number is this one's with a suffix. */
function addLicense(random: Random, stock: Stock, holder: Holder, licenses: License[]): void {
  if (stock.nextNumber === undefined)
    throw new Error(`${stock.planned.type.name} has no numbers of its own.`);
  const number = stock.nextNumber(random);
  const before = stock.remaining;
  stock.remaining -= 1;
  licenses.push(drawLicense(random, stock, holder, number, before));
  for (const suffixed of stock.suffixed) {
    if (!takeInProportion(random, suffixed, before)) continue;
    const suffix = suffixed.planned.type.suffix ?? '';
    licenses.push(drawLicense(random, suffixed, holder, `${number}${suffix}`, before));
  }
}

function drawLicense(
  random: Random,
  { planned, endorsing }: Stock,
  holder: Holder,
  number: string,
  before: number,
): License {
  const { name } = planned.type;
  const standing = drawStanding(random);
  const endorsements = drawEndorsements(random, name, endorsing, standing, before);
  return {
    planned,
    holder,
    number,
    subCategory: drawSubCategory(random, name),
    compactEligibility: standing.status === 'Active' ? drawCompactEligibility(random, name) : '',
    standing,
    endorsements,
    specialties: drawMedicalSpecialties(random, name),
    certifications: drawCertifications(random, endorsements),
  };
}

function drawEndorsements(
  random: Random,
  licenseType: string,
  endorsing: readonly Stock[],
  standing: Standing,
  before: number,
): Endorsement[] {
  const taken = endorsing.filter((stock) => takeInProportion(random, stock, before));
  if (taken.length > 0 && chance(random, SECOND_ENDORSEMENT_SHARE)) {
    const another = endorsing.find((stock) => stock.remaining > 0 && !taken.includes(stock));
    if (another !== undefined) {
      another.remaining -= 1;
      taken.push(another);
    }
  }
  const numbered = taken.map((stock) => {
    return drawEndorsement(random, stock.planned.type.name, stock.nextNumber?.(random) ?? '', standing);
  });
  return [...numbered, ...drawEndorsementsWithoutNumber(random, licenseType, standing, numbered.length > 0)];
}

/** Whether this row takes one of the remaining licenses. The last row takes the last license. */
function takeInProportion(random: Random, stock: Stock, rowsRemaining: number): boolean {
  if (!chance(random, stock.remaining / rowsRemaining)) return false;
  stock.remaining -= 1;
  return true;
}
