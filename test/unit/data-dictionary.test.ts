import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import meanings from '../../data/status-meanings.json' with { type: 'json' };
import statuses from '../../data/statuses.json' with { type: 'json' };
import { BUSINESS_COLUMNS, type DatasetFile, INDIVIDUAL_COLUMNS } from '../../src/dataset/columns.ts';
import { mapHeader } from '../../src/dataset/header.ts';
import { licensesOfRow } from '../../src/dataset/row-to-licenses.ts';
import { CAUTION_MEANINGS } from '../../src/licenses/cautions.ts';
import {
  type LicenseDocument,
  type ResponseRecord,
  responseRecord,
  toResponseRecord,
} from '../../src/licenses/license.ts';
import { EXAMPLE, EXAMPLE_DATE, EXAMPLE_ORIGIN } from '../../src/rest/verify-response.ts';
import { documentedTables } from '../support/documented.ts';

const FILE = 'docs/integrators.md';
const ORIGIN = { ...EXAMPLE_ORIGIN, publicUrl: 'https://licenses.example.gov' };
const COLUMNS = { individual: INDIVIDUAL_COLUMNS, business: BUSINESS_COLUMNS };
const FIELDS = documentedTables(FILE, 'field')[0]?.rows ?? [];

/** The code spans of a cell. */
function codeIn(cell = ''): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

/** A row in which every column has a value of its own, with some replaced. */
function fullRow(file: DatasetFile, replaced: Readonly<Record<string, string>> = {}): string[] {
  return COLUMNS[file].map((name, at) => replaced[name] ?? cell(name, at));
}

function cell(name: string, at: number): string {
  if (name === 'QUERY_RUN_DATE') return EXAMPLE_DATE;
  if (name === 'BOARD') return 'Nursing Board';
  return name.includes('_DATE') ? `20${10 + (at % 80)}-01-01` : `${name} ${at}`;
}

function licensesIn(file: DatasetFile, fields: readonly string[]): readonly LicenseDocument[] {
  const header = mapHeader(file, COLUMNS[file]);
  const licenses = licensesOfRow({ line: 2, fields, raw: '' }, header, EXAMPLE_DATE);
  if (!('documents' in licenses)) throw new Error(licenses.rejection);
  return licenses.documents;
}

/** The response record of a row: of its own license, or of the endorsement with this number. */
function recordIn(file: DatasetFile, fields: readonly string[], endorsement = 0): ResponseRecord {
  const license = licensesIn(file, fields)[endorsement];
  if (license === undefined) throw new Error('The row has no such license.');
  return toResponseRecord(license, ORIGIN);
}

/** The columns of which a field is made: those whose change changes the field. */
function columnsOf(field: keyof ResponseRecord, file: DatasetFile, endorsement = 0): string[] {
  const before = recordIn(file, fullRow(file), endorsement)[field];
  return COLUMNS[file].filter((name) => {
    if (name === 'QUERY_RUN_DATE') return false;
    const other = name.includes('_DATE') ? '1999-12-31' : 'OTHER 999';
    return recordIn(file, fullRow(file, { [name]: other }), endorsement)[field] !== before;
  });
}

describe('the record', () => {
  const FROM_ROW = FIELDS.flatMap(([name]) => {
    const field = responseRecord.keyof().parse(codeIn(name)[0]);
    return ['extra_data', 'cautions', 'last_scraped'].includes(field) ? [] : [field];
  });

  function documented(field: string, column: number): string[] {
    return codeIn(FIELDS.find(([name]) => name === `\`${field}\``)?.[column]);
  }

  test('has every field of a response, in its order, with an example', () => {
    const record = toResponseRecord(EXAMPLE, ORIGIN, true);
    const { extra_data: extra, ...shown } = record;
    expect(FIELDS.map(([name]) => codeIn(name)[0])).toEqual(Object.keys(record));
    expect(FIELDS.map(([name]) => name)).toEqual(FIELDS.map(([name]) => `\`${codeIn(name)[0]}\``));
    const examples = FIELDS.flatMap(([name, , , , , example]) =>
      example === '' ? [] : [[codeIn(name)[0], JSON.parse(codeIn(example)[0] ?? '')]],
    );
    expect(Object.fromEntries(examples)).toEqual(shown);
    expect(Object.keys(extra)).not.toHaveLength(0);
  });

  test('has the types of the schema', () => {
    const schema = z
      .object({ properties: z.record(z.string(), z.unknown()), required: z.array(z.string()) })
      .parse(z.toJSONSchema(responseRecord));
    const types = FIELDS.map(([name = '']) => {
      const field = codeIn(name)[0] ?? '';
      return typeName(schema.properties[field]) + (schema.required.includes(field) ? '' : ', may be absent');
    });
    expect(FIELDS.map(([, type]) => type)).toEqual(types);
  });

  test.each(FROM_ROW)('%s is made of the documented columns', (field) => {
    const named = documented(field, 2);
    for (const file of ['individual', 'business'] as const) {
      expect(columnsOf(field, file)).toEqual(named.filter((name) => COLUMNS[file].includes(name)));
    }
    expect(columnsOf(field, 'individual', 3)).toEqual(
      documented(field, 3).map((name) => name.replace(/_n$/, '_3')),
    );
  });
});

/** A type in words. */
function typeName(schema: unknown): string {
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
    .parse(schema);
  if (anyOf !== undefined) return anyOf.map(typeName).join(' or ');
  return value === undefined ? [type].flat().join(' or ') : JSON.stringify(value);
}

describe('extra data', () => {
  /** The labels of a documented table with their columns and formats; `n` stands for each number from 1. */
  function documentedLabels(rows: readonly (readonly string[])[], formatAt: number) {
    return rows.flatMap(([label = '', column = '', numbered = '', ...others]) => {
      const format = formatAt === 2 ? numbered : others[formatAt - 3];
      const last = formatAt === 2 || numbered === '' ? 1 : Number(numbered);
      return Array.from({ length: last }, (_, at) => ({
        label: label.replace(/ n$/, ` ${at + 1}`),
        column: (codeIn(column)[0] ?? '').replace(/_n$/, `_${at + 1}`),
        format,
      }));
    });
  }

  const byLabel = (one: { label: string }, other: { label: string }) => (one.label < other.label ? -1 : 1);
  const formatOf = ({ isPlace, isDate }: { isPlace: boolean; isDate: boolean }) =>
    isPlace ? 'place' : isDate ? 'date' : 'text';
  const [ofPersons, ofBusinesses, ofEndorsements] = documentedTables(FILE, 'label');

  test.each([
    ['individual', ofPersons],
    ['business', ofBusinesses],
  ] as const)('of the %s file has the documented labels, columns and formats', (file, table) => {
    const columns = mapHeader(file, COLUMNS[file]).extra.map((column) => ({
      label: column.label,
      column: COLUMNS[file][column.position],
      format: formatOf(column),
    }));
    const documented = documentedLabels(table?.rows ?? [], 3);
    expect(documented.toSorted(byLabel)).toEqual(columns.toSorted(byLabel));
    const [own] = licensesIn(file, fullRow(file));
    expect(Object.keys(own?.extra_data ?? {}).toSorted()).toEqual(
      documented.map(({ label }) => label).toSorted(),
    );
  });

  test('of an endorsement has the documented labels, made of the documented columns', () => {
    const row = fullRow('individual');
    const extra = licensesIn('individual', row)[1]?.extra_data ?? {};
    const documented = documentedLabels(ofEndorsements?.rows ?? [], 2);
    expect(
      Object.fromEntries(
        documented.map(({ label, column }) => [label, row[INDIVIDUAL_COLUMNS.indexOf(column)]]),
      ),
    ).toEqual(extra);
  });
});

test('the cautions are those of the code, with its meanings', () => {
  const rows = documentedTables(FILE, 'caution')[0]?.rows.map(([code, meaning]) => [
    codeIn(code)[0],
    meaning,
  ]);
  expect(rows).toEqual(Object.entries(CAUTION_MEANINGS));
});

describe('statuses', () => {
  test('are those of the catalog, with its meanings', () => {
    const rows = documentedTables(FILE, '`status`')[0]?.rows.map(([status, meaning]) => [
      codeIn(status)[0],
      meaning,
    ]);
    expect(rows).toEqual(Object.entries(meanings.primary).map(([status, { meaning }]) => [status, meaning]));
    expect(new Set(rows?.map(([status]) => status))).toEqual(
      new Set(statuses.primary.map((status) => status.toUpperCase())),
    );
  });

  test('have the sub-statuses of the catalog, grouped by their tone', () => {
    const tones = new Map(
      Object.entries(meanings.sub).map(([name, entry]) => [name, 'tone' in entry ? entry.tone : 'none']),
    );
    const byTone = Map.groupBy(statuses.sub, (name) => tones.get(name.toUpperCase()));
    const rows = documentedTables(FILE, 'says')[0]?.rows.map(([, names]) => names?.split(', '));
    expect(rows).toEqual(['bad', 'caution', 'neutral', 'none'].map((tone) => byTone.get(tone)));
  });
});
