import { expect } from '@jest/globals';
import { z } from 'zod';
import { BOARDS } from '../../src/licenses/boards.ts';
import { CAUTIONS, NOTES } from '../../src/licenses/standing.ts';
import type { ApiAnswer } from './api.ts';

/** The parts of an answer that every interface gives, each in its own form. */
export interface CommonAnswer {
  readonly outcome: 'found' | 'several' | 'none' | 'invalid';
  /** The licenses in the order of the answer. */
  readonly licenses: readonly CommonLicense[];
  /** Whether more licenses match than are listed. */
  readonly isCut?: true;
  /** The reason why a number was not found. */
  readonly reason?: string;
}

export interface CommonLicense {
  readonly board: string | undefined;
  readonly number: string;
  /** The codes of the license's cautions; left out if the interface does not report them. */
  readonly cautions?: string;
  /** The codes of the license's notes; left out if the interface does not report them. */
  readonly notes?: string;
}

const INVALID: CommonAnswer = { outcome: 'invalid', licenses: [] };

const none = (reason?: string): CommonAnswer => ({
  outcome: 'none',
  licenses: [],
  ...(reason && { reason }),
});
const several = (licenses: readonly CommonLicense[], isCut: boolean): CommonAnswer => ({
  ...{ outcome: 'several', licenses, ...(isCut && { isCut }) },
});
const found = (license: CommonLicense): CommonAnswer => ({ outcome: 'found', licenses: [license] });

const license = z
  .object({
    ...{ board: z.string(), license_number: z.string(), cautions: z.array(z.string()) },
    notes: z.array(z.string()),
  })
  .transform(
    ({ board, license_number: number, cautions, notes }): CommonLicense => ({
      board,
      number,
      cautions: cautions.join(' '),
      notes: notes.join(' '),
    }),
  );

const verified = z.object({
  ...{ found: z.boolean().optional(), multiple: z.array(license).optional() },
  ...{ truncated: z.boolean().default(false), reason: z.string().optional() },
});

/** Converts a response of /lookup/verify. */
export function ofVerify({ status, body }: ApiAnswer): CommonAnswer {
  if (status === 400) return INVALID;
  const { found: isFound, multiple, truncated, reason } = verified.parse(body);
  if (status === 404 && reason !== undefined) return none(reason);
  expect(status).toBe(200);
  if (isFound === false) return none();
  return multiple === undefined ? found(license.parse(body)) : several(multiple, truncated);
}

/** A result of /lookup/batch as JSON. */
export const batchResult = z
  .discriminatedUnion('outcome', [
    z.object({ outcome: z.literal('found'), record: license }),
    z.object({ outcome: z.literal('ambiguous'), matches: z.array(license), truncated: z.boolean() }),
    z.object({ outcome: z.literal('not_found'), reason: z.string().optional() }),
    z.object({ outcome: z.literal('invalid') }),
  ])
  .transform((result): CommonAnswer => {
    if (result.outcome === 'found') return found(result.record);
    if (result.outcome === 'ambiguous') return several(result.matches, result.truncated);
    return result.outcome === 'invalid' ? INVALID : none(result.reason);
  });

/**
 * A row in a CSV response of /lookup/batch, or of `licenses verify`. For several matches, the row lists only their
 * numbers.
 */
export const resultRow = z
  .object({
    ...{ board: z.string(), result_outcome: z.enum(['found', 'ambiguous', 'not_found', 'invalid']) },
    ...{ result_license_number: z.string(), result_cautions: z.string(), result_notes: z.string() },
    ...{ result_reason: z.string().transform((reason) => reason || undefined), result_matches: z.string() },
    result_detail: z.string(),
  })
  .transform((row): CommonAnswer => {
    const of = (number: string) => ({ board: row.board, number });
    const { result_outcome: outcome, result_cautions: cautions, result_notes: notes } = row;
    if (outcome === 'invalid') return INVALID;
    if (outcome === 'not_found') return none(row.result_reason);
    if (outcome === 'ambiguous')
      return several(row.result_matches.split('; ').map(of), row.result_detail.startsWith('More than '));
    const tags = { cautions: cautions.replaceAll(';', ' '), notes: notes.replaceAll(';', ' ') };
    return found({ ...of(row.result_license_number), ...tags });
  });

const group = z.looseObject({ types: z.record(z.string(), z.array(z.array(z.unknown()))) });
const toolContent = z.object({
  outcome: z.enum(['found', 'not_found', 'ambiguous']),
  in_common: z.record(z.string(), z.unknown()).default({}),
  licenses: z.array(z.record(z.string(), z.unknown())).default([]),
  ...{ columns: z.array(z.string()).default([]), groups: z.array(group).default([]), truncated: z.boolean() },
  reason: z.string().optional(),
});
const toolResult = z.object({
  isError: z.literal(true).optional(),
  content: z.tuple([z.object({ text: z.string() })]),
  structuredContent: toolContent.optional(),
});

/**
 * Converts the result of a lookup tool. A number with several licenses is `ambiguous` in the tools, and a 404 in REST.
 */
export function ofTool({ body }: ApiAnswer): CommonAnswer {
  const {
    isError,
    content: texts,
    structuredContent: content,
  } = z.object({ result: toolResult }).parse(body).result;
  if (isError || content === undefined) {
    // An outage is reported in the same form.
    expect(texts[0].text).not.toMatch(/try again|went wrong/);
    return INVALID;
  }
  expect(content.outcome === 'ambiguous').toBe(content.reason === 'ambiguous');
  const { in_common, columns, groups } = content;
  const rows = groups.flatMap(({ types, ...standing }) =>
    Object.entries(types).flatMap(([license_type, ofType]) =>
      ofType.map((cells) => ({
        ...standing,
        ...typeAndBoard(license_type),
        ...Object.fromEntries(cells.map((cell, at) => [columns[at], cell])),
      })),
    ),
  );
  const licenses = [...content.licenses, ...rows].map((each) => license.parse({ ...in_common, ...each }));
  const [only, another] = licenses;
  if (content.outcome !== 'found' || only === undefined) return none(content.reason);
  return another === undefined ? found(only) : several(licenses, content.truncated);
}

/** The type of the licenses in a group, and their board unless it is common to all groups. */
function typeAndBoard(key: string) {
  const board = BOARDS.find(({ name }) => key.endsWith(`, ${name}`))?.name;
  return board === undefined
    ? { license_type: key }
    : { license_type: key.slice(0, -board.length - 2), board };
}

/** A result of verify_roster. */
export const toolRosterItem = z
  .object({
    outcome: z.enum(['found', 'ambiguous', 'not_found', 'invalid']),
    licenses: z.array(license).default([]),
    truncated: z.boolean().default(false),
    reason: z.string().optional(),
  })
  .transform(({ outcome, licenses, truncated, reason }): CommonAnswer => {
    const [first] = licenses;
    if (outcome === 'invalid') return INVALID;
    if (first === undefined) return none(reason);
    return outcome === 'found' ? found(first) : several(licenses, truncated);
  });

/** The rows of the page that `POST /roster` returns, in any order, by the content of their first cell. */
export function ofRosterPage(html: string): ReadonlyMap<string, CommonAnswer> {
  const rows = html
    .split('<section id="')
    .slice(1)
    .flatMap((section) => {
      const need = section.slice(0, section.indexOf('"'));
      return rowsOf(section).map((row) => [need, row] as const);
    });
  const first = (row: string) => /<th[^>]*>([^<]*)</.exec(row)?.[1] ?? '';
  return new Map(rows.map(([need, row]) => [first(row), ofRosterRow(need, row)]));
}

/** @param need the section that contains the row */
function ofRosterRow(need: string, row: string): CommonAnswer {
  if (need === 'invalid') return INVALID;
  if (need === 'not_found') return none(reasonIn(row));
  if (row.includes('>See all matches</a>')) {
    const [, ...matches] = row.split('<p>');
    const licenses = matches.flatMap((match) =>
      licensesIn(match).map((each) => ({ ...each, ...tagsIn(match) })),
    );
    return several(licenses, / data-label="Note">(?:<div>)?More than /.test(row));
  }
  const [only] = licensesIn(row);
  // A row without a license needs attention if a suggested number has the name.
  return only === undefined ? none(reasonIn(row)) : found({ ...only, ...tagsIn(row) });
}

/** The rows of a page's tables, without the header rows. */
const rowsOf = (html: string): string[] =>
  html
    .split(/<tr[ >]/)
    .slice(1)
    .map((row) => row.slice(0, row.indexOf('</tr>')))
    .filter((row) => row.includes('<th scope="row"'));

const licensesIn = (html: string): CommonLicense[] =>
  [...html.matchAll(/ href="(\/licenses\/[^"]*)"/g)].map(([, path = '']) => licenseAt(unescaped(path)));

function licenseAt(path: string): CommonLicense {
  const [, , code, number = ''] = path.split('/');
  const board = BOARDS.find((each) => each.code === code);
  return { board: board?.name, number: decodeURIComponent(number) };
}

/** Replaces the HTML escapes in a page's text. */
export const unescaped = (html: string): string =>
  html
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** The cautions and notes that the tags in a piece of HTML carry, in their defined order. */
function tagsIn(html: string): Pick<CommonLicense, 'cautions' | 'notes'> {
  const codes = new Set(
    [...html.matchAll(/ data-caution="([\w ]+)"/g)].flatMap(([, said]) => said?.split(' ') ?? []),
  );
  const inOrder = (known: readonly string[]) => known.filter((code) => codes.has(code)).join(' ');
  return { cautions: inOrder(CAUTIONS), notes: inOrder(NOTES) };
}

/**
 * A page gives the reason for a number without a license only in words, which differ between a miss and a row of a
 * roster.
 */
const REASONS_IN_WORDS: readonly (readonly [RegExp, string])[] = [
  [/A license with the number .* was in an earlier dataset/, 'removed'],
  [/This service could not read the row with/, 'unreadable'],
  [/ is a person(’|&#39;|')s, not a business/, 'not_a_business'],
  [/ belongs to the .*, not to the /, 'other_board'],
  [/More than one board has |fits more than one license/, 'ambiguous'],
  [/No license with the number /, 'unknown'],
];

const reasonIn = (html: string): string | undefined =>
  REASONS_IN_WORDS.find(([words]) => words.test(html))?.[1];
