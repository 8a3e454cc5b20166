import type { z } from 'zod';
import { badDocuments } from '../telemetry/process.ts';
import { SearchUnavailableError } from './errors.ts';

/** A stored document that is not valid, or a part of one. */
export interface BadDocument {
  readonly index: string;
  readonly id: string;
  /** The part that is wrong and in what way; never what it says. */
  readonly problem: string;
}

/** A stored document is not valid, and nothing can stand in for it. */
export class BadDocumentError extends SearchUnavailableError {
  constructor({ index, id, problem }: BadDocument) {
    super(`The document ${id} of ${index} is not valid: ${problem}.`);
  }
}

/** The result of checking a stored document. */
export interface Checked<Stored> {
  /** As the schema gives it; `undefined` when the document is of no use. */
  readonly document?: Stored;
  /** The stored document, without the parts that are not valid. */
  readonly kept?: object | undefined;
  readonly problem?: string;
}

/** Makes a valid document from the valid parts of one that is not valid. */
export type Salvage = (validParts: Readonly<Record<string, unknown>>) => object;

/** Only for documents whose meaning does not depend on a missing part. */
export const WITHOUT_BAD_PARTS: Salvage = (validParts) => validParts;

export function checked<Schema extends z.ZodType>(
  schema: Schema,
  stored: unknown,
  salvage?: Salvage,
): Checked<z.output<Schema>> {
  const result = schema.safeParse(stored);
  if (typeof stored !== 'object' || stored === null) return { problem: 'it is no object' };
  if (result.success) return { document: result.data, kept: stored };
  const { issues } = result.error;
  const problem = problemOf(issues[0]);
  if (salvage === undefined) return { problem };
  const wrong = new Set(issues.map(({ path }) => path[0]));
  const kept = salvage(Object.fromEntries(Object.entries(stored).filter(([name]) => !wrong.has(name))));
  const rest = schema.safeParse(kept);
  return rest.success ? { document: rest.data, kept, problem } : { problem };
}

const MAX_PATH_CHARACTERS = 200;

function problemOf(issue: z.core.$ZodIssue | undefined): string {
  const path = (issue?.path ?? []).map(String).join('.');
  const named = path === '' ? 'the document' : JSON.stringify(path.slice(0, MAX_PATH_CHARACTERS));
  return `${named} ${issue?.code ?? 'is wrong'}`;
}

const MAX_REPORTED = 10_000;

/** Counts each bad document that a reader meets, and reports each once. */
export function badDocumentReport(tell: (bad: BadDocument) => void): (bad: BadDocument) => void {
  const told = new Set<string>();
  return (bad) => {
    badDocuments.inc({ index: bad.index });
    const key = `${bad.index}/${bad.id}`;
    if (told.has(key) || told.size >= MAX_REPORTED) return;
    told.add(key);
    tell(bad);
  };
}

/** What operators read of a bad document. */
export const BAD_DOCUMENT =
  'a stored document is not valid, so it is left out, or the part that is not valid';

/** Reports a bad document on standard error, as commands do. */
export function printBadDocument(bad: BadDocument): void {
  process.stderr.write(`${BAD_DOCUMENT}: ${bad.id} of ${bad.index} (${bad.problem})\n`);
}
