import type { StoredChange } from '../changes/change.ts';
import { cursorText } from '../changes/cursor.ts';
import type { FeedPage } from '../changes/service.ts';
import { numberKey } from '../licenses/number.ts';
import { EXAMPLE, EXAMPLE_DATE } from './verify-examples.ts';

const FEED = '0f3a9c2be871';
const POSITION = 335_544_321;

/** A renewal, as the examples of responses have it. */
export const CHANGE_EXAMPLE: StoredChange = {
  feed: FEED,
  epoch: 20,
  position: POSITION,
  at: `${EXAMPLE_DATE}T09:12:44.120Z`,
  publication: 'p-20',
  date: EXAMPLE_DATE,
  kind: 'changed',
  cause: 'data',
  license: `NUR/${EXAMPLE.license_number}`,
  board: EXAMPLE.board,
  license_number: EXAMPLE.license_number,
  number: numberKey(EXAMPLE.license_number),
  full_name: EXAMPLE.full_name,
  fields: { expiry_date: { before: '2025-10-31', after: EXAMPLE.expiry_date } },
};

const cursor = cursorText({ feed: FEED, position: POSITION });

/** A page of the feed with one change. */
export const CHANGES_EXAMPLE: FeedPage = {
  changes: [{ cursor, change: CHANGE_EXAMPLE }],
  next: cursor,
  more: false,
};
