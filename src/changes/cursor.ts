import { hash } from 'node:crypto';

/** A place in a feed. */
export interface FeedPosition {
  /** The feed's id: a new one when a feed begins anew. */
  readonly feed: string;
  /** Where in the feed; greater for later changes. */
  readonly position: number;
}

const CHECK_CHARACTERS = 8;

/** The text that stands for a place in a feed. Clients do not look into it. */
export function cursorText({ feed, position }: FeedPosition): string {
  const text = `${feed}.${position.toString(36)}`;
  return `${text}.${checkOf(text)}`;
}

/** The place that a cursor stands for; `undefined` for a text that is no cursor, or was altered. */
export function readCursor(cursor: string): FeedPosition | undefined {
  const [, text = '', feed = '', position = '', check] = CURSOR.exec(cursor) ?? [];
  return check === undefined || check !== checkOf(text)
    ? undefined
    : { feed, position: Number.parseInt(position, 36) };
}

const CURSOR = /^(([0-9a-z]{1,40})\.([0-9a-z]{1,11}))\.([0-9a-f]{8})$/;

/** Against typing errors and invented cursors. Cursors are no secret. */
function checkOf(text: string): string {
  return hash('sha256', `cursor ${text}`).slice(0, CHECK_CHARACTERS);
}
