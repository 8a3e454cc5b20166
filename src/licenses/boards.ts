import { z } from 'zod';
import catalogJson from '../../data/boards.json' with { type: 'json' };

const licenseType = z.strictObject({
  name: z.string().min(1),
  /** What its numbers begin with, separator included: `RN.`, `DC-`, `03`. */
  prefix: z.string().min(1),
  /** What its numbers end with, where that makes another license of them: `-SUPV`. */
  suffix: z.string().optional(),
  kind: z.enum(['person', 'business']),
  /** Set where its numbers stand in the endorsement columns of another type's rows. */
  endorses: z.string().optional(),
});

const board = z.strictObject({
  code: z.string().regex(/^[A-Z]{3}$/),
  /** The label in the BOARD column, which requests must repeat exactly. */
  name: z.string().min(1),
  /** Other labels that the board has gone by in the dataset. */
  aliases: z.array(z.string().min(1)),
  license_types: z.array(licenseType).min(1),
});

export type LicenseType = z.output<typeof licenseType>;
export type Board = z.output<typeof board>;

/** The 24 boards of `data/boards.json`, in its order. */
export const BOARDS: readonly Board[] = z.array(board).parse(catalogJson);

const byName = new Map(BOARDS.map((entry) => [entry.name, entry]));

function labelKey(label: string): string {
  return label.toUpperCase().replace(/[^A-Z0-9]/g, '');
}

const byLabel = new Map(
  BOARDS.flatMap((entry) => [entry.name, ...entry.aliases].map((label) => [labelKey(label), entry] as const)),
);

/** The board whose name is exactly this one (specification 2.1). */
export function boardByName(name: string): Board | undefined {
  return byName.get(name);
}

/** The board that a BOARD column's label means: its name or an alias, whatever the case and punctuation. */
export function boardByLabel(label: string): Board | undefined {
  return byName.get(label) ?? byLabel.get(labelKey(label));
}

const typesOf = new Map(
  BOARDS.map((entry) => [entry, new Set(entry.license_types.map(({ name }) => name))] as const),
);

/** Whether the catalog knows the license type as one of the board's. */
export function isLicenseTypeOf(board: Board, licenseType: string): boolean {
  return typesOf.get(board)?.has(licenseType) ?? false;
}
