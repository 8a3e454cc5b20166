import { z } from 'zod';
import { boardByText, nearestBoards } from '../licenses/boards.ts';
import { isoDate } from '../licenses/dates.ts';
import { isAcceptable } from './checks.ts';
import type { Outcome } from './output.ts';

const text = z.string();
const flag = z.boolean();
const number = z.coerce.number();
const whole = text.regex(/^[1-9]\d{0,3}$/, 'It must be a whole number from 1 to 9999.').transform(Number);

/** How each option is read, whichever command has it; `data/commands.json` says which a command takes. */
export const OPTIONS = z
  .object({
    ...{ url: text, key: text, out: text, maxMatches: text, proof: text, keys: text, to: text },
    ...{ individual: text, business: text, report: text, rejects: text, csv: text },
    ...{ contact: text, verifiedBy: text, json: flag, check: flag, sync: flag, yes: flag },
    ...{ rows: number, seed: number, changed: number, added: number, removed: number },
    ...{ renamed: number, renumbered: number, limit: whole, days: whole },
    changes: z.union([text, flag]),
    date: text.refine((day) => isoDate(day) === day, 'It must be a day, YYYY-MM-DD.'),
    // A variable that is not set is blank.
    force: text.regex(/\S/, 'A reason is needed.'),
    accept: z.array(text.refine(isAcceptable, 'It must be a guard, such as column_changed:PARCEL_CITY.')),
    /** The board's name, by its code, its name in any case, or words that only its name has. */
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

/** Actions by their commands: `keys create`. */
export type Actions = Readonly<Record<string, Action>>;
