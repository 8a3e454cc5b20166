/** @long @room lookups */
import { execFile } from 'node:child_process';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '../support/temporary-folder.ts';

const COPIED = [
  'data',
  'package.json',
  'sample-data',
  'scripts',
  'server.json',
  'src',
  'tsconfig.json',
  'workers',
];
const FILE = 'src/licenses/filters.ts';
const NAMES = "'city', 'county'] as const";

const ENTRY = `
  zip: {
    keysOf: ({ extra_data: extra }) => foldedKey(extra.ZIP ?? ''),
    description: 'Only holders with this ZIP',
    label: 'ZIP',
    examples: { person: ['43215'], business: ['43215'] },
  },
  city: {`;

/** Where the filter is, in each interface and in the document of a license. */
const ASKED = `
import examples from './data/openapi-examples.json' with { type: 'json' };
import { licenseDocument, licenseRecord } from './src/licenses/license.ts';
import { lookupFields } from './src/licenses/lookup.ts';
import { personParameters } from './src/mcp/parameters.ts';
import { searchForm } from './src/web/search-form.ts';
console.log(JSON.stringify({
  rest: Object.hasOwn(lookupFields.shape, 'zip'),
  mcp: Object.hasOwn(personParameters.shape, 'zip'),
  form: String(searchForm({})).includes('name="zip"'),
  keys: licenseDocument(licenseRecord.parse(examples.verify['200'].record), 'person', 'individual:2:0').keys.zip,
}));
`;

const folder = temporaryFolder();

function node(...args: string[]): Promise<string> {
  return new Promise((done) => {
    execFile(process.execPath, args, { cwd: folder.path() }, (_error, output) => done(output));
  });
}

/** The files of the service in which the compiler finds errors. */
async function filesWithErrors(): Promise<string[]> {
  const output = await node('node_modules/typescript/bin/tsc', '--noEmit', '--pretty', 'false');
  return [
    ...new Set(
      [...output.matchAll(/^((?:src|workers)\/[^\s(]+)\(\d+,\d+\): error/gm)].map(([, file = '']) => file),
    ),
  ];
}

async function change(from: string, to: string): Promise<void> {
  const text = await readFile(folder.path(FILE), 'utf8');
  expect(text).toContain(from);
  await writeFile(folder.path(FILE), text.replace(from, to));
}

test('a filter is added in one source file, where the compiler names what is missing, and has its place in every interface', async () => {
  for (const name of COPIED) await cp(name, folder.path(name), { recursive: true });
  await symlink(resolve('node_modules'), folder.path('node_modules'));
  await change(NAMES, `'zip', ${NAMES}`);
  expect(await filesWithErrors()).toEqual([FILE]);
  await change('\n  city: {', ENTRY);
  await change("    city: made('city'),", "    zip: made('zip'),\n    city: made('city'),");
  expect(await filesWithErrors()).toEqual([]);
  const places: unknown = JSON.parse(await node('--input-type=module', '--eval', ASKED));
  expect(places).toEqual({ rest: true, mcp: true, form: true, keys: ['43215'] });
});
