import type { z } from 'zod';
import { badDocuments } from '../telemetry/registry.ts';
import { SearchUnavailableError } from './errors.ts';

/** A stored document that is invalid, in whole or in part. */
export interface BadDocument {
  readonly index: string;
  readonly id: string;
  /** The invalid part and what is wrong with it, but never its value. */
  readonly problem: string;
}

/** A stored document is invalid, and there is no substitute for it. */
export class BadDocumentError extends SearchUnavailableError {
  constructor({ index, id, problem }: BadDocument) {
    super(`The document ${id} of ${index} is not valid: ${problem}.`);
  }
}

export interface Checked<Stored> {
  /** The parsed document; `undefined` if it is unusable. */
  readonly document?: Stored;
  /** The stored document without its invalid parts. */
  readonly kept?: object | undefined;
  readonly problem?: string;
}

/** @param keepsValidParts only for documents that mean the same without a missing part */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  stored: unknown,
  keepsValidParts = false,
): Checked<z.output<Schema>> {
  const result = schema.safeParse(stored);
  if (typeof stored !== 'object' || stored === null) return { problem: 'it is no object' };
  if (result.success) return { document: result.data, kept: stored };
  const { issues } = result.error;
  const path = (issues[0]?.path ?? []).map(String).join('.').slice(0, MAX_PATH_CHARACTERS);
  const problem = `${path === '' ? 'the document' : JSON.stringify(path)} ${issues[0]?.code}`;
  if (!keepsValidParts) return { problem };
  const wrong = new Set(issues.map(({ path }) => path[0]));
  const kept = Object.fromEntries(Object.entries(stored).filter(([name]) => !wrong.has(name)));
  const { data: document } = schema.safeParse(kept);
  return document === undefined ? { problem } : { document, kept, problem };
}

const MAX_PATH_CHARACTERS = 200;
const MAX_REPORTED = 10_000;

/** Counts every invalid document that a reader meets, and reports each one once. */
export function badDocumentReport(report: (bad: BadDocument) => void): (bad: BadDocument) => void {
  const reported = new Set<string>();
  return (bad) => {
    badDocuments.inc({ index: bad.index });
    const key = `${bad.index}/${bad.id}`;
    if (reported.has(key) || reported.size >= MAX_REPORTED) return;
    reported.add(key);
    report(bad);
  };
}

/** The log message for an invalid document. */
export const BAD_DOCUMENT =
  'a stored document is not valid, so it is left out, or the part that is not valid';
