import { z } from 'zod';
import {
  CHANGE_CAUSES,
  CHANGE_KINDS,
  fieldChange,
  type HistoryChange,
  type StoredChange,
} from '../changes/change.ts';

/** A change of one license in responses. */
export const changeBody = z.object({
  at: z.string().describe('When it was found, ISO 8601'),
  publication: z.string().describe('The publication that went live with it'),
  date: z.string().describe('The run date of that publication, YYYY-MM-DD'),
  kind: z.enum(CHANGE_KINDS),
  cause: z
    .enum(CHANGE_CAUSES)
    .describe(
      'data: the dataset says something else. rollback: an operator made another publication live. rejected_row: ' +
        'the row could not be read, or can be read again. release: the row is the same, and this version of the ' +
        'service reads it differently.',
    ),
  board: z.string(),
  license_number: z.string(),
  full_name: z.string(),
  fields: z
    .record(z.string(), fieldChange)
    .describe(
      'The fields that differ, before and after; attributes of extra_data as extra_data.NAME. erased: the values of ' +
        'a place that the State no longer publishes are not kept.',
    ),
});

/** A change as responses have it. */
export function changeResponse(change: StoredChange): z.output<typeof changeBody> {
  const { at, publication, date, kind, cause, board, license_number, full_name, fields } = change;
  return { at, publication, date, kind, cause, board, license_number, full_name, fields };
}

/** A change in the history of a license. */
export const historyChangeBody = changeBody.extend({
  withdrawn: z
    .literal(true)
    .optional()
    .describe(
      'The dataset that said so was withdrawn by this service: an operator went back to another one. Not part of the ' +
        'license’s history, unless a change without this mark says the same',
    ),
});

/** A change in the history of a license, as responses have it. */
export function historyChangeResponse(change: HistoryChange): z.output<typeof historyChangeBody> {
  return { ...changeResponse(change), ...(change.withdrawn === true && { withdrawn: true }) };
}
