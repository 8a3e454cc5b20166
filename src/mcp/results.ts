import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Outcome } from '../access/usage.ts';
import { dataAge, dataAgeDays, type Origin } from '../answers/origin.ts';
import { missFacts, type ResponseRecord, responseRecord, sentencesOf, type View } from '../answers/view.ts';
import { AUTHORITY, ageSentence, NOT_GIVEN, SAMPLE_DATA_NOTICE } from '../answers/words.ts';
import { memoize } from '../licenses/fold.ts';
import { MAX_MATCHES } from '../licenses/lookup.ts';
import { isPartOfSurname } from '../licenses/names.ts';
import { EXTRA_DATA_LABELS } from '../licenses/standing.ts';
import type { MatchCounts } from '../lookup/steps.ts';
import { joined } from './parameters.ts';

/** Fields of a record that a result has once and not in each license. */
const OF_RESULT = { found: true, source: true, last_scraped: true, data_age_days: true } as const;

const license = responseRecord
  .omit(OF_RESULT)
  .extend({
    // Any string is allowed, because a later release may add cautions and notes.
    cautions: z.array(z.string()),
    notes: z.array(z.string()),
    /** Null if the State gives no board action. */
    board_action: z.string().nullable(),
    street: z.string().optional(),
  })
  .partial()
  .required({ license_number: true, full_name: true });

/** `common` are the fields without those that only the whole record has. */
const { days_until_expiry, issue_date, extra_data, name_match, name_at_board, ...common } = license.shape;

/** A license in the result of a roster or a history. */
export const compactLicense = z.object(common);

const ALL = license.keyof().options;
const COMPACT = compactLicense.keyof().options;
/** The fields of each of several licenses. Without `url`: 100 addresses are as long as all other fields together. */
const IN_LIST = compactLicense.omit({ url: true }).keyof().options;

type Name = keyof z.output<typeof license>;

type Fields = Readonly<Partial<Record<Name, unknown>>>;

/** A tool's result and the outcome that the metrics count. */
export interface ToolResult {
  readonly outcome: Outcome;
  readonly content: Readonly<Record<string, unknown>> & { readonly message: string };
}

/** The fields of every result that tell where its data comes from. */
export const resultOrigin = {
  /** The run date of the dataset that answered, `YYYY-MM-DD`. */
  data_as_of: z.string(),
  ...dataAge,
  /** What the model should tell its user, and what to do next. */
  message: z.string(),
};

type DataOrigin = Pick<Origin, 'date' | 'today' | 'isSampleData'>;

export function originOf(origin: Omit<DataOrigin, 'isSampleData'>) {
  return { data_as_of: origin.date, data_age_days: dataAgeDays(origin) };
}

/** The message of a result: these sentences, plus the ones that every result has. */
export function messageOf(origin: DataOrigin, ...sentences: readonly string[]): string {
  const age = ageSentence(origin);
  // The sentences about a miss already include the age.
  const isAgeSaid = sentences.some((sentence) => sentence.includes(age));
  return joined(origin.isSampleData ? SAMPLE_DATA_NOTICE : '', ...sentences, isAgeSaid ? '' : age, AUTHORITY);
}

/** The reason code of a miss, and suggestions of what may have been meant. */
export const missResult = missFacts.partial().extend({ reason: z.string().optional() }).shape;

/** The fields that tell whether a license may be relied on. They have few distinct values, so licenses group well. */
const STANDING: readonly Name[] = ['status', 'raw_status', 'cautions', 'notes', 'board_action'];

/** Licenses with the same standing, as rows of cells, by type (and by board, if there are several). */
const group = z.looseObject({ types: z.record(z.string(), z.array(z.array(z.string().nullable()))) });

/** The result of every lookup tool. */
export const lookupResult = z.object({
  outcome: z.enum(['found', 'not_found', 'ambiguous']),
  ...resultOrigin,
  searched: z.record(z.string(), z.string()),
  /** How many licenses are listed. */
  count: z.int(),
  /** For several matches: how many there are, in total and by status. */
  total: z.int().optional(),
  by_status: z.record(z.string(), z.int()).optional(),
  /** Whether more match than are listed. */
  truncated: z.boolean(),
  /** For several matches: the fields that are equal in all listed licenses. */
  in_common: z.record(z.string(), z.unknown()).optional(),
  /** A single match has its whole record. Several have the fields not in `in_common`. Absent if there is a table. */
  licenses: z.array(license).optional(),
  /** For a table: the names of the columns. */
  columns: z.array(z.string()).optional(),
  /** For a table: the rows, grouped by the fields that must not be mistaken for a neighboring column. */
  groups: z.array(group).optional(),
  ...missResult,
  did_you_mean: z.array(z.string()),
});

/** The call that a result answers. */
export interface LookupCall {
  /** The values of the call's parameters, without the limit. */
  readonly searched: Readonly<Record<string, unknown>>;
  /** Unused parameters that could narrow the search. */
  readonly unusedFilters: readonly string[];
  /** The most licenses to list. */
  readonly limit: number;
  /** The counts of the matches, if several licenses match. */
  readonly counts: MatchCounts;
}

/** Turns the answer of a lookup into a tool result. The result never says that somebody is unlicensed. */
export function lookupToolResult(view: View, call: LookupCall) {
  const { searched, limit, counts } = call;
  const listed = view.records.slice(0, limit);
  const facts = view.outcome === 'not_found' ? view.facts : { did_you_mean: [] };
  const { did_you_mean: numbers, did_you_mean_name_match: matches, ...others } = facts;
  // Do not suggest the number that was asked for.
  const offered = [...numbers.keys()].filter((at) => numbers[at] !== searched.license_number);
  const isList = view.outcome !== 'found';
  const rows = isList ? listed.map((record) => fieldsOf(record, IN_LIST)) : listed.map(whole);
  const common = isList ? namesInCommon(rows) : [];
  const { note = '', ...shown } = isList ? severalLicenses(rows, common) : { licenses: rows };
  return {
    outcome: listed.length > 0 ? 'found' : facts.reason === 'ambiguous' ? 'ambiguous' : 'not_found',
    ...originOf(view.origin),
    message: messageOf(
      view.origin,
      ...(view.outcome === 'ambiguous' ? severalMatch(view, listed, call) : sentencesOf(view, 'tool')),
      ...nameSentences(listed, searched.last_name),
      boardActionNotGiven(rows),
      note,
    ),
    searched,
    count: listed.length,
    ...(counts && { total: counts.total, by_status: Object.fromEntries(counts.byStatus) }),
    truncated: view.truncated || listed.length < view.records.length,
    ...(view.outcome === 'ambiguous' && { in_common: picked(rows[0] ?? {}, common) }),
    ...shown,
    ...others,
    did_you_mean: offered.map((at) => numbers[at] ?? ''),
    ...(matches && { did_you_mean_name_match: offered.map((at) => matches[at] === true) }),
  };
}

/** The fields with these names, without undefined ones. */
function picked(fields: Fields, names: readonly Name[]): Fields {
  const some: Partial<Record<Name, unknown>> = {};
  for (const name of names) if (fields[name] !== undefined) some[name] = fields[name];
  return some;
}

/** The names of the fields that are equal in all these licenses. */
function namesInCommon([first = {}, ...others]: readonly Fields[]): readonly Name[] {
  return IN_LIST.filter(
    (name) => !OF_EACH.includes(name) && others.every((each) => isDeepStrictEqual(each[name], first[name])),
  );
}

/** Fields that each listed license keeps, even if they are equal in all. */
const OF_EACH: readonly Name[] = ['license_number', 'full_name'];

/** If they are longer as JSON, licenses come as a table: 100 varied ones would fill 60 KB, as a result has them twice. */
const MAX_CHARACTERS = 12_800;
const isShort = (listed: object) => JSON.stringify(listed).length <= MAX_CHARACTERS;

/** The columns that a table drops one by one while it is too long. */
const OMITTED_FIRST: readonly Name[] = ['street', 'state', 'county'];

/** Several licenses, as objects or as a table, which has less than half the length. */
function severalLicenses(rows: readonly Fields[], common: readonly Name[]) {
  const own: readonly Name[] = IN_LIST.filter((name) => !common.includes(name));
  const licenses = rows.map((row) => picked(row, own));
  if (isShort(licenses)) return { licenses };
  const inGroups: readonly Name[] = ['license_type', 'board', ...STANDING];
  const ofRows = own.filter(
    (name) => !inGroups.includes(name) && licenses.some((each) => each[name] !== undefined),
  );
  const omissible = OMITTED_FIRST.filter((name) => ofRows.includes(name));
  for (let count = 0; ; count += 1) {
    const omitted = omissible.slice(0, count);
    const columns = ofRows.filter((name) => !omitted.includes(name));
    const groups = groupsOf(rows, common, columns);
    const note = count === 0 ? '' : `The rows omit ${omitted.join(', ')}: verify_license has them.`;
    if (count === omissible.length || isShort(groups)) return { columns, groups, note };
  }
}

function groupsOf(rows: readonly Fields[], common: readonly Name[], columns: readonly Name[]) {
  const standing = STANDING.filter((name) => !common.includes(name));
  const groups = Map.groupBy(rows, (row) => JSON.stringify(picked(row, standing)));
  const cells = (row: Fields) => columns.map((name) => row[name] ?? null);
  const ofBoard = ({ board }: Fields) => (common.includes('board') ? '' : `, ${board}`);
  const keyOf = (row: Fields) => `${row.license_type ?? NOT_GIVEN}${ofBoard(row)}`;
  return [...groups.values()].map((group) => {
    const byType = [...Map.groupBy(group, keyOf)];
    const types = Object.fromEntries(byType.map(([type, each]) => [type, each.map(cells)]));
    return { ...picked(group[0] ?? {}, standing), types };
  });
}

/** Attributes from `extra_data` that a model needs even in a list. */
function attributes({ extra_data: extra }: ResponseRecord): Fields {
  const street = extra[EXTRA_DATA_LABELS.street];
  return {
    board_action: extra[EXTRA_DATA_LABELS.boardAction] ?? null,
    ...(street !== undefined && { street }),
  };
}

function fieldsOf(record: ResponseRecord, names: readonly Name[]): Fields {
  return picked({ ...record, ...attributes(record) }, names);
}

/** A license for the result of a roster or a history. */
export function compact(record: ResponseRecord): Fields {
  return fieldsOf(record, COMPACT);
}

/** The field with the name of an attribute; null if there is none. */
const fieldOf = memoize((label) => ALL.find((key) => key === label.toLowerCase().replace(' ', '_')) ?? null);

/** A whole license. Its `extra_data` does not repeat attributes that are separate fields. */
function whole(record: ResponseRecord): Fields {
  const { found: _found, source: _source, last_scraped: _read, data_age_days: _age, ...told } = record;
  const fields: Fields = { ...told, ...attributes(record) };
  const further = Object.entries(record.extra_data).filter(([label, value]) => {
    const field = fieldOf(label);
    return label !== EXTRA_DATA_LABELS.street && (field === null || fields[field] !== value);
  });
  return { ...fields, extra_data: Object.fromEntries(further) };
}

const NEXT_BY_NAME =
  'Next, search by the name that was given: search_licenses_by_name, or verify_business_license for a business.';
const NO_BOARD_ACTION_GIVEN =
  'board_action null is not given by the State: it does not mean that the board has not acted.';

/** A sentence if the State gives no board action for one of these licenses, else an empty text. */
export function boardActionNotGiven(licenses: readonly Fields[]): string {
  return licenses.some((each) => each.board_action === null) ? NO_BOARD_ACTION_GIVEN : '';
}

/** Sentences about a name mismatch or a half-matched surname. @param lastName the surname that was sent */
export function nameSentences(records: readonly ResponseRecord[], lastName: unknown): string[] {
  const [first, another] = records;
  if (first?.name_match === false) return first.name_at_board === true ? [] : [NEXT_BY_NAME];
  const surname = String(lastName ?? '');
  const inPart = records.filter(({ full_name }) => isPartOfSurname(full_name, surname)).length;
  const whose = another ? ` in ${inPart} of those listed` : `: the holder is ${first?.full_name}`;
  return inPart === 0 ? [] : [`Matched by one half of the surname${whose}.`];
}

/** Sentences that say how many licenses match, and how to list fewer or more. */
function severalMatch(
  view: View,
  listed: readonly ResponseRecord[],
  { unusedFilters, limit, counts }: LookupCall,
): string[] {
  const { records, truncated } = view;
  const cautioned = listed.filter(({ cautions }) => cautions.length > 0).length;
  const cautions =
    cautioned === 0 ? [] : [`Of those listed, ${cautioned} have cautions: tell them with the license.`];
  if (!truncated && listed.length === records.length) return [...sentencesOf(view, 'tool'), ...cautions];
  const narrowing = unusedFilters.length === 0 ? '' : `; narrow the search by ${unusedFilters.join(', ')}`;
  const higher = limit < MAX_MATCHES ? ` A higher limit (up to ${MAX_MATCHES}) lists more.` : '';
  return [
    `${counts?.total} licenses match (${listed.length} listed, exact names first)${narrowing}.${higher}`,
    ...cautions,
  ];
}
