import { closest } from 'fastest-levenshtein';
import MiniSearch from 'minisearch';
import { BOARDS, type Board, boardByLabel } from './boards.ts';

const LONGEST_LABEL = 100;
const MOST = 3;

/** Words of so many boards' names that they tell none of them. */
const COMMON_WORDS: ReadonlySet<string> = new Set(
  'and board department for license licensing of ohio professional professionals state the'.split(' '),
);

/** Shorter words are taken as they are: a letter more or less makes another of them. */
const SHORTEST_MISTYPED = 5;

/** Of a word's letters, how many may be wrong; and how many where nothing is found by that. */
const MISTYPED = 0.2;
const BADLY_MISTYPED = 0.35;

/** Of the best one's score, what another must have to be named beside it. */
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
