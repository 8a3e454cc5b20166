import { closest } from 'fastest-levenshtein';
import MiniSearch from 'minisearch';
import { z } from 'zod';
import catalogJson from '../../data/boards.json' with { type: 'json' };
import { visibleText } from './fold.ts';

const licenseType = z.strictObject({
  name: z.string().min(1),
  /** The prefix of its license numbers, including the separator: `RN.`, `DC-`, `03`. */
  prefix: z.string().min(1),
  /** The suffix of its license numbers, if only the suffix distinguishes them from another type's: `-SUPV`. */
  suffix: z.string().optional(),
  kind: z.enum(['person', 'business']),
  /**
   * The license type that this type endorses. The numbers of this type are in the endorsement columns of that type's
   * rows.
   */
  endorses: z.string().optional(),
});

const board = z.strictObject({
  code: z.string().regex(/^[A-Z]{3}$/),
  /** The label in the BOARD column, which requests must repeat exactly. */
  name: z.string().min(1),
  /** Other labels of the board in the dataset. */
  aliases: z.array(z.string().min(1)),
  /** The board's own website, if known. */
  website: z.url({ protocol: /^https$/ }).optional(),
  license_types: z.array(licenseType).min(1),
});

export type LicenseType = z.output<typeof licenseType>;
export type Board = z.output<typeof board>;

/** The 24 boards of `data/boards.json`, in its order. */
export const BOARDS: readonly [Board, ...Board[]] = z.tuple([board], board).parse(catalogJson);

const byName = new Map(BOARDS.map((entry) => [entry.name, entry]));

function labelKey(label: string): string {
  return label.toUpperCase().replace(/[^A-Z0-9]/g, '');
}

const labels = BOARDS.flatMap((board) => [board.name, ...board.aliases].map((label) => ({ label, board })));
const byLabel = new Map(labels.map(({ label, board }) => [labelKey(label), board]));

/** The board with exactly this name (BOARDS-02). */
export function boardByName(name: string): Board | undefined {
  return byName.get(name);
}

/** Finds a board by a label from the BOARD column: its name or an alias, ignoring case and punctuation. */
export function boardByLabel(label: string): Board | undefined {
  return byName.get(label) ?? byLabel.get(labelKey(label));
}

/** The catalog's current name for the board of a stored license; the label itself if the catalog lacks the board. */
export function currentBoardName(label: string): string {
  return boardByLabel(label)?.name ?? label;
}

/** Whether the catalog lists this license type for the board. */
export function isLicenseTypeOf(board: Board, licenseType: string): boolean {
  return board.license_types.some(({ name }) => name === licenseType);
}

const byCode = new Map(BOARDS.map((entry) => [entry.code, entry]));

/** The board with this code, in upper or lower case. */
export function boardByCode(code: string): Board | undefined {
  return byCode.get(code.toUpperCase());
}

const MAX_LABEL_LENGTH = 100;
const MAX_BOARDS = 3;

/** Words that are in so many boards' names that they do not identify a board. */
const COMMON_WORDS: ReadonlySet<string> = new Set(
  'and board department for license licensing of ohio professional professionals state the'.split(' '),
);

/** Shorter words must match exactly, because changing one letter often makes another word. */
const MIN_FUZZY_LENGTH = 5;

/** The share of a word's letters that may be wrong, and a larger share to try when nothing is found. */
const FUZZINESS = 0.2;
const LARGER_FUZZINESS = 0.35;

/** Another board is returned too when its score is at least this share of the best board's. */
const MIN_SHARE_OF_BEST_SCORE = 0.5;

function fuzzy(share: number) {
  return (word: string) => (word.length < MIN_FUZZY_LENGTH ? false : share);
}

const index = new MiniSearch({
  fields: ['names', 'licenseTypes'],
  processTerm: (term) => {
    const word = term.toLowerCase();
    return COMMON_WORDS.has(word) ? null : word;
  },
  searchOptions: {
    boost: { names: 3 },
    prefix: true,
    fuzzy: fuzzy(FUZZINESS),
  },
});
index.addAll(
  BOARDS.map(({ code, name, aliases, license_types }) => ({
    id: code,
    names: [name, ...aliases].join(' '),
    licenseTypes: license_types.map((type) => `${type.name} ${type.prefix}`).join(' '),
  })),
);

/** The words of a label that identify a board, sorted: `Ohio State Board of Nursing` → `nursing`. */
function wordsKey(label: string): string {
  const words = label.toLowerCase().split(/[^a-z]+/);
  return [...new Set(words)]
    .filter((word) => word !== '' && !COMMON_WORDS.has(word))
    .toSorted()
    .join(' ');
}

const byWords = new Map(labels.map(({ label, board }) => [wordsKey(label), board]));
const byUpperCase = new Map(labels.map(({ label, board }) => [label.toUpperCase(), board]));

/**
 * The board that a typed text names unambiguously: by its code, by a name in any case, or by words that only its name
 * has (`Nursing`, `ohio board of pharmacy`, `Physical Therapy`). `undefined` if several boards fit, or none.
 */
export function boardByText(text: string): Board | undefined {
  const typed = visibleText(text).trim();
  if (typed === '' || typed.length > MAX_LABEL_LENGTH) return undefined;
  const named = boardByLabel(typed) ?? boardByCode(typed) ?? byWords.get(wordsKey(typed));
  if (named !== undefined) return named;
  const [only, another] = index.search(typed, {
    fields: ['names'],
    combineWith: 'AND',
    prefix: false,
    fuzzy: false,
  });
  return another === undefined ? byCode.get(only?.id) : undefined;
}

/**
 * The boards that a label most likely means, best first: by its code, by the words of their names, aliases and license
 * types (`Ohio State Board of Nursing`, `dentists`, `CPA`), else the board whose name has the most similar spelling.
 *
 * @returns one to three boards
 */
export function nearestBoards(label: string): readonly [Board, ...Board[]] {
  const start = label.slice(0, MAX_LABEL_LENGTH);
  const same = boardByText(start);
  if (same !== undefined) return [same];
  const close = index.search(start);
  const found = close.length > 0 ? close : index.search(start, { fuzzy: fuzzy(LARGER_FUZZINESS) });
  const minScore = (found[0]?.score ?? 0) * MIN_SHARE_OF_BEST_SCORE;
  const [best, ...others] = found
    .filter(({ score }) => score >= minScore)
    .slice(0, MAX_BOARDS)
    .flatMap(({ id }) => byCode.get(id) ?? []);
  if (best !== undefined) return [best, ...others];
  return [byUpperCase.get(closest(start.toUpperCase(), [...byUpperCase.keys()])) ?? BOARDS[0]];
}
