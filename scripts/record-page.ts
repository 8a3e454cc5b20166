import { z } from 'zod';
import examples from '../data/openapi-examples.json' with { type: 'json' };
import meanings from '../data/status-meanings.json' with { type: 'json' };
import statuses from '../data/statuses.json' with { type: 'json' };
import { type ResponseRecord, responseRecord, toResponseRecord } from '../src/answers/view.ts';
import { CAUTION_WORDS, NOTE_WORDS } from '../src/answers/words.ts';
import { BUSINESS_COLUMNS, type DatasetFile, INDIVIDUAL_COLUMNS } from '../src/dataset/columns.ts';
import { mapHeader } from '../src/dataset/header.ts';
import { licensesOfRow } from '../src/dataset/row-to-licenses.ts';
import { licenseRecord } from '../src/licenses/license.ts';
import { markdownTable } from './markdown-table.ts';

const EXAMPLE = licenseRecord.parse(examples.verify['200'].record);
const EXAMPLE_DATE = '2026-11-20';
const ORIGIN = { date: EXAMPLE_DATE, today: EXAMPLE_DATE, publicUrl: 'https://licenses.example.gov' };
const COLUMNS = { individual: INDIVIDUAL_COLUMNS, business: BUSINESS_COLUMNS };

/** The first license of a row is its own; its numbered endorsements follow. */
const OWN = 0;
const FIRST_ENDORSEMENT = 1;

/** Facts that the name of a column does not tell. */
const EXTRA_NOTES: ReadonlyMap<string, string> = new Map([
  [
    'Board Action',
    '`Yes` if the board has acted on the license, `No` if not; absent if the State does not say',
  ],
  ['Compact Eligibility', 'of nurses: `Multi-State` or `Single-State`'],
  ['County', 'the same as `county`'],
  ['Effective Date', 'the dataset does not explain it'],
  ['Endorsed License', 'the number of the license that this one endorses'],
  ['Endorsed License Status', 'the primary status; `Not stated` if the column is empty'],
  ['Endorsement Number _n_', 'an endorsement with a number is also a license of its own'],
  ['Issue Date', 'the same as `issue_date`'],
  ['Street Address', 'tells the shops of a chain apart'],
]);

const TONES: readonly [tone: string, title: string][] = [
  ['bad', 'Discipline: ask the board'],
  ['ended', 'Not in force, or never issued'],
  ['caution', 'Only the board can say what it allows'],
  ['neutral', 'An application, or an entry that has ended'],
  ['none', 'No more than the primary status'],
];

/**
 * The page as Markdown: the fields of a record and the columns behind each field. The columns are found by changing
 * each column of a row in turn.
 */
export function recordPage(): string {
  return `# The record

\`npm run generated-pages\` writes this page from the code that reads the State's files and from its catalogs. [Integrate](../integrators.md) says how to use a record.

## Fields

Every field is always present, except \`name_match\`, \`name_at_board\` and \`url\`. A missing value is \`null\`, never an empty string: the column is empty or, for a place, \`HIDDEN\`. _n_ is the number of an endorsement, 1 to 7.

${markdownTable(['field', 'type', 'meaning', 'columns', 'columns of an endorsement', 'example'], fieldRows())}

\`board\` and \`license_number\` together identify a license: two boards can have the same number. The dataset has no identity of a person. City, state and county are of the address that the board publishes, which may be outside Ohio. Texts are as the board wrote them: escape them before you show them in a page or a spreadsheet.

## Extra data

\`extra_data\` has every other column of the row that is not empty, and \`County\` and \`Issue Date\` again. Labels are made from column names, values are strings. New columns of the State's appear by themselves, so expect other labels. Dates are \`YYYY-MM-DD\`; one that is not a date is as the board wrote it. A part of the address is left out if it is \`HIDDEN\`.

### Of a person

${extraTable('individual', OWN)}

### Of a business

${extraTable('business', OWN)}

### Of a numbered endorsement

The Endorsed License fields describe the license that it endorses.

${extraTable('individual', FIRST_ENDORSEMENT)}

## Cautions

\`cautions\` has a code for each thing that a reader must not miss, in this order. The codes are the same in REST, MCP and CSV (\`result_cautions\`, joined by \`;\`).

${markdownTable(
  ['caution', 'when'],
  Object.entries(CAUTION_WORDS).map(([code, { meaning }]) => [`\`${code}\``, meaning]),
)}

## Notes

\`notes\` has a code for what else a reader should know (\`result_notes\` in CSV). A license with notes alone is clear.

${markdownTable(
  ['note', 'when'],
  Object.entries(NOTE_WORDS).map(([code, { meaning }]) => [`\`${code}\``, meaning]),
)}

A license without cautions can still be the wrong one: compare the name, the type and the place. Endorsements in a publication of version 0.2.0 never have \`endorsed_license\`.

## Statuses

\`raw_status\` is authoritative: \`PRIMARY\`, or \`PRIMARY - SUB-STATUS\`, in the board's spelling. \`status\` is the primary part in upper case. A license without STATUS has \`status: null\`; its \`raw_status\` is then the sub-status alone, or null. Boards add statuses: expect values that are not listed, and compare without regard to case.

${markdownTable(
  ['`status`', 'meaning'],
  statuses.primary.map((status) => [
    `\`${status.toUpperCase()}\``,
    meaningOf(meanings.primary, status).meaning,
  ]),
)}

## Sub-statuses

${TONES.map(([tone, title]) => `### ${title}\n\n${markdownTable(['sub-status', 'meaning'], subStatusRows(tone))}`).join('\n\n')}
`;
}

const catalog = z.record(z.string(), z.object({ tone: z.string().default('none'), meaning: z.string() }));

/** @throws {Error} for a status that has no meaning in the catalog */
function meaningOf(entries: unknown, status: string): z.output<typeof catalog>[string] {
  const found = new Map(Object.entries(catalog.parse(entries))).get(status.toUpperCase());
  if (found === undefined) throw new Error(`data/status-meanings.json lacks ${status}.`);
  return found;
}

function subStatusRows(tone: string): string[][] {
  return statuses.sub
    .map((status) => ({ status, ...meaningOf(meanings.sub, status) }))
    .filter((each) => each.tone === tone)
    .map(({ status, meaning }) => [status, meaning]);
}

const schema = z
  .object({
    properties: z.record(z.string(), z.looseObject({ description: z.string().optional() })),
    required: z.array(z.string()),
  })
  .parse(z.toJSONSchema(responseRecord));

function fieldRows(): string[][] {
  const properties = new Map(Object.entries(schema.properties));
  const person = columnsBehind('individual', OWN);
  const business = columnsBehind('business', OWN);
  const endorsement = columnsBehind('individual', FIRST_ENDORSEMENT);
  return Object.entries(toResponseRecord(EXAMPLE, ORIGIN, { nameMatch: true })).map(([name, example]) => {
    const field = responseRecord.keyof().parse(name);
    const property = properties.get(field);
    const type = typeName(property) + (schema.required.includes(field) ? '' : ', may be absent');
    // `extra_data` and `cautions` are explained below, and the run date belongs to the whole file.
    if (field === 'extra_data') return [`\`${field}\``, type, '[as below](#extra-data)', '', '', ''];
    if (field === 'cautions') return [`\`${field}\``, type, '[as below](#cautions)', '', '', '`[]`'];
    if (field === 'notes') return [`\`${field}\``, type, '[as below](#notes)', '', '', '`[]`'];
    const runDate = field === 'last_scraped' ? ['QUERY_RUN_DATE'] : [];
    const own = new Set([...runDate, ...(person.get(field) ?? []), ...(business.get(field) ?? [])]);
    const ofEndorsement = [...runDate, ...(endorsement.get(field) ?? [])].map(withN);
    const meaning = property?.description ?? '';
    return [
      `\`${field}\``,
      type,
      meaning,
      spans(own),
      spans(ofEndorsement),
      `\`${JSON.stringify(example)}\``,
    ];
  });
}

function spans(names: Iterable<string>): string {
  return [...names].map((name) => `\`${name}\``).join(', ');
}

/** `ENDORSEMENT_TYPE_1` → `ENDORSEMENT_TYPE_n`. */
function withN(column: string): string {
  return column.replace(/_\d+$/, '_n');
}

/** Describes a JSON Schema type in words. */
function typeName(property: unknown): string {
  const {
    type,
    const: value,
    anyOf,
  } = z
    .looseObject({
      type: z.union([z.string(), z.array(z.string())]).optional(),
      const: z.unknown().optional(),
      anyOf: z.array(z.unknown()).optional(),
    })
    .parse(property);
  if (anyOf !== undefined) return anyOf.map(typeName).join(' or ');
  return value === undefined ? [type ?? []].flat().join(' or ') : JSON.stringify(value);
}

/** A row with a different value in every column, and one column replaced. */
function fullRow(file: DatasetFile, replaced?: string): string[] {
  return COLUMNS[file].map((name, at) => cell(name, name === replaced ? COLUMNS[file].length + at : at));
}

function cell(name: string, number: number): string {
  if (name === 'QUERY_RUN_DATE') return EXAMPLE_DATE;
  if (name === 'BOARD') return number < INDIVIDUAL_COLUMNS.length ? 'Nursing Board' : 'Medical Board';
  if (!name.includes('_DATE')) return `${name} ${number}`;
  return new Date(Date.UTC(2010, 0, number)).toISOString().slice(0, 10);
}

/** The response record for a row's own license or for one of its endorsements. */
function recordIn(file: DatasetFile, fields: readonly string[], which: number): ResponseRecord {
  const header = mapHeader(file, COLUMNS[file]);
  const licenses = licensesOfRow({ line: 2, fields, raw: '' }, header, EXAMPLE_DATE);
  const license = 'documents' in licenses ? licenses.documents[which] : undefined;
  if (license === undefined) throw new Error('The row has no such license.');
  return toResponseRecord(license, ORIGIN);
}

/**
 * The columns behind each value of a record, by the value's name: those that change the value when they are changed.
 */
function columnsBehind(file: DatasetFile, which: number): ReadonlyMap<string, readonly string[]> {
  const before = valuesIn(recordIn(file, fullRow(file), which));
  const columns = new Map([...before.keys()].map((name): [string, string[]] => [name, []]));
  for (const column of COLUMNS[file]) {
    for (const [name, value] of valuesIn(recordIn(file, fullRow(file, column), which))) {
      if (value !== before.get(name)) columns.get(name)?.push(column);
    }
  }
  return columns;
}

const LABEL = 'extra_data.';

/** The values of a record by field name, and of its extra data by label. */
function valuesIn({ extra_data: extra, ...record }: ResponseRecord): ReadonlyMap<string, unknown> {
  const labeled = Object.entries(extra).map(([label, value]) => [`${LABEL}${label}`, value] as const);
  return new Map<string, unknown>([...Object.entries(record), ...labeled]);
}

/** The labels of a license's extra data. Labels that differ only by a number at the end share a row. */
function extraTable(file: DatasetFile, which: number): string {
  const labels = [...columnsBehind(file, which)].filter(([name]) => name.startsWith(LABEL));
  const rows = Map.groupBy(labels, ([name]) => name.slice(LABEL.length).replace(/ \d+$/, ' _n_'));
  return markdownTable(
    ['label', 'column', '_n_', 'note'],
    [...rows].map(([label, same]) => [
      label,
      spans((same[0]?.[1] ?? []).map(withN)),
      same.length > 1 ? `1 to ${same.length}` : '',
      EXTRA_NOTES.get(label) ?? '',
    ]),
  );
}
