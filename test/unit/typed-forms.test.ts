import { expect, test } from '@jest/globals';
import { viewOf } from '../../src/answers/view.ts';
import { REQUEST_WORDS } from '../../src/answers/words.ts';
import { mapHeader } from '../../src/dataset/header.ts';
import { licensesOfRow } from '../../src/dataset/row-to-licenses.ts';
import { BOARDS } from '../../src/licenses/boards.ts';
import { FILTER_NAMES } from '../../src/licenses/filters.ts';
import { fold } from '../../src/licenses/fold.ts';
import { type LicenseDocument, licenseId, storedLicense } from '../../src/licenses/license.ts';
import { problemOf, readLookup } from '../../src/licenses/lookup.ts';
import type { LicenseQuery, PublicationSearch } from '../../src/lookup/search.ts';
import { lookUp } from '../../src/lookup/steps.ts';
import { answerOf as restAnswer } from '../../src/rest/lookup.ts';
import {
  answerOf,
  BUSINESSES,
  expectedAnswer,
  formsBy,
  HOLDERS,
  type TypedForm,
} from '../fixtures/typed-forms.ts';
import { datasetRow } from '../support/dataset-rows.ts';
import { FIXTURES_DATE, type FixtureRow } from '../support/fixtures.ts';

// The same forms as matching.test.ts, without OpenSearch: mutation tests need a test of the keys that takes no time.

const DOCUMENTS = [...documentsOf('individual', HOLDERS), ...documentsOf('business', BUSINESSES)].toSorted(
  ({ keys: one }, { keys: other }) =>
    `${one.name} ${one.number}` < `${other.name} ${other.number}` ? -1 : 1,
);

function documentsOf(file: 'individual' | 'business', rows: readonly FixtureRow[]): LicenseDocument[] {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return rows.flatMap((row) => {
    const read = licensesOfRow(datasetRow(columns, row), mapHeader(file, columns), FIXTURES_DATE);
    return 'documents' in read ? read.documents : [];
  });
}

/** Whether OpenSearch would find a license. Similar names, which are suggested, are left to OpenSearch. */
function isFound(query: LicenseQuery, document: LicenseDocument): boolean {
  const { keys, board, license_number: number } = document;
  switch (query.by) {
    case 'id':
      return licenseId(board, number) === query.id;
    case 'number':
      return keys.number === query.numberKey;
    case 'person':
    case 'business':
    case 'words': {
      const { by, names, filters } = query;
      const all = (by === 'person' ? keys.holder : keys[by]) ?? [];
      const begins = (name: string) => all.some((key) => key.startsWith(name));
      return (
        (by === 'words' ? names.every(begins) : names.some(begins)) &&
        FILTER_NAMES.every((name) => filters[name] === undefined || keys[name].includes(fold(filters[name])))
      );
    }
    case 'near_number':
      return query.isNear(storedLicense.parse(document));
    default:
      return false;
  }
}

const publication: PublicationSearch = {
  search: async (query) => {
    const found = query === undefined ? [] : DOCUMENTS.filter((document) => isFound(query, document));
    return { licenses: found.map((document) => storedLicense.parse(document)), isComplete: true };
  },
  nearSurnames: async () => [],
};

const LICENSE_TYPES = new Map(
  BOARDS.map(({ name, license_types: types }) => [name, types.map((type) => type.name)]),
);
const ORIGIN = { publication: 'p', date: FIXTURES_DATE, today: FIXTURES_DATE, isSampleData: false };

async function answered(form: TypedForm) {
  const request = readLookup(form.typed, REQUEST_WORDS.rest);
  const detail = problemOf(request, LICENSE_TYPES);
  if (detail !== undefined) return { typed: form.typed, status: 400, body: { detail } };
  const outcome = await lookUp(request, publication, form.by === 'number');
  const sent = { status: 200 };
  const body = restAnswer(sent, viewOf(outcome, ORIGIN));
  return answerOf(form, { ...sent, body });
}

test.each(['number', 'person', 'business'] as const)(
  'each form of a %s finds what it must find',
  async (by) => {
    const forms = formsBy(by).map((form) => (by === 'number' ? form : { ...form, didYouMean: undefined }));
    expect(await Promise.all(forms.map(answered))).toMatchObject(forms.map(expectedAnswer));
  },
);
