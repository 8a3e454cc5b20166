import { z } from 'zod';
import { daysBefore } from '../licenses/dates.ts';

/** When the data of a board last changed, and how many of its licenses usually change per day. */
export const boardActivity = z
  .object({
    last_changed: z
      .string()
      .nullable()
      .describe(
        'The run date, YYYY-MM-DD, of the last change of a license of the board; null if none is known',
      ),
    usual_changes_per_day: z
      .number()
      .nullable()
      .describe(
        'How many of its licenses change with a publication: the mean of the last 90 days, without the 10% of ' +
          'publications with the most changes; null until seven publications are known',
      ),
  })
  .meta({ id: 'BoardActivity' });

export type BoardActivity = Readonly<z.output<typeof boardActivity>>;

const WINDOW_DAYS = 90;
const FEWEST_PUBLICATIONS = 7;
const BUSIEST_SHARE = 0.1;

/** A publication's run date and how many licenses of each board it changed. */
export interface PublishedChanges {
  readonly date: string;
  readonly boards: ReadonlyMap<string, number>;
}

/**
 * Returns the activity of each board, by its name.
 *
 * @param published the publications whose changes are known, the earliest first
 * @param boards the names of the boards
 */
export function activityOf(published: readonly PublishedChanges[], boards: readonly string[]) {
  const last = published.at(-1)?.date ?? '';
  const window = published.filter(({ date }) => date > daysBefore(last, WINDOW_DAYS));
  const usual = (board: string) => {
    const counts = window.map(({ boards }) => boards.get(board) ?? 0).toSorted((one, other) => one - other);
    const kept = counts.slice(0, counts.length - Math.ceil(counts.length * BUSIEST_SHARE));
    return Math.round((100 * kept.reduce((sum, count) => sum + count, 0)) / kept.length) / 100;
  };
  return new Map(
    boards.map((board) => [
      board,
      {
        last_changed: published.findLast(({ boards }) => (boards.get(board) ?? 0) > 0)?.date ?? null,
        usual_changes_per_day: window.length < FEWEST_PUBLICATIONS ? null : usual(board),
      },
    ]),
  );
}
