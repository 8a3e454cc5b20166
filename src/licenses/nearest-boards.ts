import { closest } from 'fastest-levenshtein';
import MiniSearch from 'minisearch';
import { BOARDS, type Board, boardByLabel } from './boards.ts';

const LONGEST_LABEL = 100;
const MOST = 3;

/** Words in so many boards' names that they identify none. */
const COMMON_WORDS: ReadonlySet<string> = new Set(
  'and board department for license licensing of ohio professional professionals state the'.split(' '),
);

/** Shorter words must match exactly: one letter makes another word of them. */
const SHORTEST_MISTYPED = 5;

/** The share of a word's letters that may be wrong, and a larger share to try if nothing is found. */
const MISTYPED = 0.2;
const BADLY_MISTYPED = 0.35;

/** The share of the best board's score that another board needs to be named too. */
const NEARLY_AS_GOOD = 0.5;

const byId = new Map(BOARDS.map((board) => [board.code, board]));
const labels = BOARDS.flatMap(({ name, aliases }) => [name, ...aliases]).map((label) => label.toUpperCase());

function mistyped(letters: number) {
  return (word: string) => (word.length < SHORTEST_MISTYPED ? false : letters);
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
    fuzzy: mistyped(MISTYPED),
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
 * The boards that a label means most likely, best first: by the words of their names, former names and license
 * types (`Ohio State Board of Nursing`, `dentists`, `CPA`), else the one whose name is spelled most like it.
 *
 * @returns one to three boards
 */
export function nearestBoards(label: string): readonly [Board, ...Board[]] {
  const asked = label.slice(0, LONGEST_LABEL);
  const same = boardByLabel(asked);
  if (same !== undefined) return [same];
  const clear = index.search(asked);
  const found = clear.length > 0 ? clear : index.search(asked, { fuzzy: mistyped(BADLY_MISTYPED) });
  const enough = (found[0]?.score ?? 0) * NEARLY_AS_GOOD;
  const [best, ...others] = found
    .filter(({ score }) => score >= enough)
    .slice(0, MOST)
    .flatMap(({ id }) => byId.get(id) ?? []);
  return best === undefined ? [speltMostLike(asked)] : [best, ...others];
}

function speltMostLike(label: string): Board {
  const nearest = boardByLabel(closest(label.toUpperCase(), labels));
  if (nearest === undefined) throw new Error('The catalog has no boards.');
  return nearest;
}
