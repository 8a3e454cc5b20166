import { z } from 'zod';
import { boardByText, nearestBoards } from '../licenses/boards.ts';
import { isoDate } from '../licenses/dates.ts';
import { isAcceptable } from '../publications/refusals.ts';
import type { Outcome } from './output.ts';

const text = z.string();
const flag = z.boolean();
const number = z.coerce.number();
const whole = text.regex(/^[1-9]\d{0,3}$/, 'It must be a whole number from 1 to 9999.').transform(Number);

/** How each option is read. It is the same for all commands; `data/commands.json` has the options of each command. */
export const OPTIONS = z
  .object({
    ...{ url: text, key: text, out: text, maxMatches: text, proof: text, keys: text, to: text },
    ...{ individual: text, business: text, report: text, rejects: text, csv: text },
    ...{ contact: text, verifiedBy: text, json: flag, check: flag, sync: flag, yes: flag },
    ...{ rows: number, seed: number, changed: number, added: number, removed: number },
    ...{ renamed: number, renumbered: number, limit: whole, days: whole },
    changes: z.union([text, flag]),
    date: text.refine((day) => isoDate(day) === day, 'It must be a day, YYYY-MM-DD.'),
    // The blank value of a shell variable that is not set is not a reason.
    force: text.regex(/\S/, 'A reason is needed.'),
    accept: z.array(text.refine(isAcceptable, 'It must be a guard, such as column_changed:PARCEL_CITY.')),
    /** A board by its code, its name in any case, or words that no other board's name has. */
    board: text.transform((label, context) => {
      const nearest = nearestBoards(label).map(({ code, name }) => `${name} (${code})`);
      const board = boardByText(label)?.name;
      if (board === undefined)
        context.addIssue(`The nearest is: ${nearest.join('; ')}. "licenses boards" lists all.`);
      return board;
    }),
  })
  .exactPartial();

export type Options = z.output<typeof OPTIONS>;

/** What a command does with its arguments and options. */
export type Action = (given: readonly string[], options: Options) => Promise<Outcome>;

/** Actions by command, such as `keys create`. */
export type Actions = Readonly<Record<string, Action>>;
