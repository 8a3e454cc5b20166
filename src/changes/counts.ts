import { z } from 'zod';
import type { ChangeCause, ChangeKind } from './change.ts';

const byName = z.record(z.string(), z.int());

/** How many changes a publication or rollback made, by kind, by cause, and by the board's name. */
export const changeCounts = z.object({ kinds: byName, causes: byName, boards: byName });

export type ChangeCounts = z.output<typeof changeCounts>;

export function noChanges(): ChangeCounts {
  return { kinds: {}, causes: {}, boards: {} };
}

/** Counts one more change. */
export function countChange(
  { kinds, causes, boards }: ChangeCounts,
  { kind, cause, board }: { kind: ChangeKind; cause: ChangeCause; board: string },
): void {
  kinds[kind] = (kinds[kind] ?? 0) + 1;
  causes[cause] = (causes[cause] ?? 0) + 1;
  boards[board] = (boards[board] ?? 0) + 1;
}

/** How many changes were counted. */
export function numberOfChanges({ kinds }: ChangeCounts): number {
  return Object.values(kinds).reduce((sum, count) => sum + count, 0);
}
