import { z } from 'zod';
import { addTo, countsByName } from '../licenses/counts.ts';
import type { ChangeCause, ChangeKind } from './change.ts';

/** How many changes a publication or rollback made, by kind, by cause, and by the board's name. */
export const changeCounts = z.object({
  kinds: z.record(z.string(), z.int()),
  causes: z.record(z.string(), z.int()),
  boards: countsByName,
});

export type ChangeCounts = z.output<typeof changeCounts>;

/** Counts the changes of one publication or rollback. */
export interface ChangeCounter {
  /** Counts one more change. */
  count(change: { readonly kind: ChangeKind; readonly cause: ChangeCause; readonly board: string }): void;
  total(): number;
  counts(): ChangeCounts;
}

export function changeCounter(): ChangeCounter {
  const [kinds, causes, boards] = [
    new Map<string, number>(),
    new Map<string, number>(),
    new Map<string, number>(),
  ];
  let total = 0;
  return {
    count: ({ kind, cause, board }) => {
      total += 1;
      addTo(kinds, kind);
      addTo(causes, cause);
      addTo(boards, board);
    },
    total: () => total,
    counts: () => ({
      kinds: Object.fromEntries(kinds),
      causes: Object.fromEntries(causes),
      boards: Object.fromEntries(boards),
    }),
  };
}

/** The counts where nothing changed. */
export function noChanges(): ChangeCounts {
  return changeCounter().counts();
}
