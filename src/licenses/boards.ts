import { z } from 'zod';
import catalogJson from '../../data/boards.json' with { type: 'json' };

const licenseType = z.strictObject({
  name: z.string().min(1),
  /** The beginning of its numbers, with the separator: `RN.`, `DC-`, `03`. */
  prefix: z.string().min(1),
  /** The end of its numbers, when only that distinguishes them from another type's: `-SUPV`. */
  suffix: z.string().optional(),
  kind: z.enum(['person', 'business']),
  /** The license type that it endorses. Its numbers are in the endorsement columns of that type's rows. */
  endorses: z.string().optional(),
});

const board = z.strictObject({
  code: z.string().regex(/^[A-Z]{3}$/),
  /** The label in the BOARD column, which requests must repeat exactly. */
  name: z.string().min(1),
  /** Other labels of the board in the dataset. */
  aliases: z.array(z.string().min(1)),
  /** The board's own website, where it is known. */
  website: z.url({ protocol: /^https$/ }).optional(),
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

/** The board with exactly this name (BOARDS-02). */
export function boardByName(name: string): Board | undefined {
  return byName.get(name);
}

/** The board of a label in the BOARD column: its name or an alias, ignoring case and punctuation. */
export function boardByLabel(label: string): Board | undefined {
  return byName.get(label) ?? byLabel.get(labelKey(label));
}

/** The name that the catalog has now for the board of a stored license; the label itself where it has none. */
export function currentBoardName(label: string): string {
  return boardByLabel(label)?.name ?? label;
}

const typeNamesByBoard = new Map(
  BOARDS.map((entry) => [entry, new Set(entry.license_types.map(({ name }) => name))] as const),
);

/** Whether the catalog has the license type among the board's. */
export function isLicenseTypeOf(board: Board, licenseType: string): boolean {
  return typeNamesByBoard.get(board)?.has(licenseType) ?? false;
}
