import { closest } from 'fastest-levenshtein';
import MiniSearch from 'minisearch';
import { BOARDS, type Board, boardByLabel } from './boards.ts';

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

const byId = new Map(BOARDS.map((board) => [board.code, board]));
const labels = BOARDS.flatMap(({ name, aliases }) => [name, ...aliases]).map((label) => label.toUpperCase());

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

/**
 * The boards that a label most likely means, best first: by the words of their names, aliases and license types
 * (`Ohio State Board of Nursing`, `dentists`, `CPA`), else the board whose name has the most similar spelling.
 *
 * @returns one to three boards
 */
export function nearestBoards(label: string): readonly [Board, ...Board[]] {
  const start = label.slice(0, MAX_LABEL_LENGTH);
  const same = boardByLabel(start);
  if (same !== undefined) return [same];
  const close = index.search(start);
  const found = close.length > 0 ? close : index.search(start, { fuzzy: fuzzy(LARGER_FUZZINESS) });
  const minScore = (found[0]?.score ?? 0) * MIN_SHARE_OF_BEST_SCORE;
  const [best, ...others] = found
    .filter(({ score }) => score >= minScore)
    .slice(0, MAX_BOARDS)
    .flatMap(({ id }) => byId.get(id) ?? []);
  return best === undefined ? [mostSimilarBoard(start)] : [best, ...others];
}

function mostSimilarBoard(label: string): Board {
  const nearest = boardByLabel(closest(label.toUpperCase(), labels));
  if (nearest === undefined) throw new Error('The catalog has no boards.');
  return nearest;
}
