import { INDIVIDUAL_COLUMNS } from '../../src/dataset/columns.ts';
import type { Endorsement, MedicalSpecialty, NationalCertification } from './credentials.ts';
import { dayText } from './days.ts';
import type { License } from './licenses.ts';
import type { Standing } from './statuses.ts';

/** One row of the individual file, including its line break. */
export function individualRow(license: License, runDate: string): string {
  const cells = [
    licenseCells(license),
    placeCells(license),
    license.compactEligibility,
    dateCells(license.standing),
    groupCells(license.endorsements, endorsementCells, ENDORSEMENTS),
    groupCells(license.specialties, specialtyCells, SPECIALTIES),
    groupCells(license.certifications, certificationCells, CERTIFICATIONS),
    runDate,
  ];
  return `${cells.join(',')}\n`;
}

/** One row of the business file, including its line break. */
export function businessRow(license: License, runDate: string): string {
  const cells = [
    licenseCells(license),
    cell(license.holder.street),
    placeCells(license),
    dateCells(license.standing),
    runDate,
  ];
  return `${cells.join(',')}\n`;
}

/** The columns from the name to BOARD_ACTION. */
function licenseCells({ holder, planned, number, standing, subCategory }: License): string {
  const { status, subStatus, boardAction } = standing;
  const held = `${cell(holder.name)},${cell(planned.boardName)},${number},${cell(planned.type.name)}`;
  return `${held},${status},${subStatus},${cell(subCategory)},${yesOrNo(boardAction)}`;
}

/** The PARCEL columns from city to country. */
function placeCells({ holder: { place } }: License): string {
  return `${cell(place.city)},${place.state},${cell(place.county)},${place.zip},${place.country}`;
}

function dateCells({ issued, effective, expires }: Standing): string {
  return `${dayText(issued)},${dayText(effective)},${dayText(expires)}`;
}

function endorsementCells({ number, type, ...standing }: Endorsement): string[] {
  return [
    number,
    type,
    standing.status,
    standing.subStatus,
    '',
    yesOrNo(standing.boardAction),
    dayText(standing.issued),
    dayText(standing.expires),
  ];
}

function specialtyCells(specialty: MedicalSpecialty): string[] {
  return [
    specialty.board,
    specialty.otherBoard,
    specialty.specialty,
    specialty.otherSpecialty,
    specialty.subSpecialty,
    specialty.otherSubSpecialty,
  ];
}

function certificationCells(certification: NationalCertification): string[] {
  return [
    certification.organization,
    dayText(certification.expires),
    certification.specialty,
    certification.focus,
  ];
}

function yesOrNo(value: boolean): string {
  return value ? 'Yes' : 'No';
}

/** A set of numbered column groups of one kind. The groups are adjacent. */
interface GroupColumns {
  readonly width: number;
  /** The cells of all groups when there is no entry. */
  readonly blank: string;
}

const ENDORSEMENTS = groupColumns('ENDORSEMENT_');
const SPECIALTIES = groupColumns('MED_');
const CERTIFICATIONS = groupColumns('NATIONAL_CERTIFICATION_');

function groupColumns(prefix: string): GroupColumns {
  const width = INDIVIDUAL_COLUMNS.filter((name) => name.startsWith(prefix)).length;
  return { width, blank: ','.repeat(width - 1) };
}

function groupCells<T>(
  entries: readonly T[],
  cellsOf: (entry: T) => string[],
  { width, blank }: GroupColumns,
): string {
  if (entries.length === 0) return blank;
  const cells = entries.flatMap(cellsOf).slice(0, width);
  return `${cells.map(cell).join(',')}${','.repeat(width - cells.length)}`;
}

const NEEDS_QUOTES = /[",\r\n]/;

/** A field as RFC 4180 requires: quoted, with doubled quotes, if it contains a comma, a quote or a line break. */
function cell(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
