import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { markdownTable } from './markdown-table.ts';

const ROOT = resolve(import.meta.dirname, '..');

const byName = z.record(z.string(), z.string()).default({});
const packageJson = z.object({ dependencies: byName, devDependencies: byName, optionalDependencies: byName });
const lockFile = z.object({
  packages: z.record(z.string(), z.object({ license: z.string().optional() })),
});
const reasonFile = z.record(z.string(), z.string());

function read<Schema extends z.ZodType>(file: string, schema: Schema): z.output<Schema> {
  return schema.parse(JSON.parse(readFileSync(resolve(ROOT, file), 'utf8')));
}

/** The direct dependencies, grouped by purpose. */
export function directDependencies() {
  return read('package.json', packageJson);
}

/** The reason for each direct dependency, as Markdown. */
export function reasons() {
  return read('data/dependencies.json', reasonFile);
}

/** Every package in the lock file, direct and transitive. */
export function lockedPackages() {
  const { '': _own, ...packages } = read('package-lock.json', lockFile).packages;
  return Object.entries(packages).map(([path, { license = 'none' }]) => ({
    name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
    license,
  }));
}

const PERMISSIVE: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
]);

/** The packages with a license that is not permissive, and what it means for this project. */
const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  ['`busboy` (none)', 'MIT, as its package.json says in the older form'],
  ['`streamsearch` (none)', 'MIT, as its package.json says in the older form'],
  ['`axe-core` (MPL-2.0)', 'used unchanged, by tests only'],
  ['`caniuse-lite` (CC-BY-4.0)', 'data about browsers; this service does not show it'],
  ['`fast-sha256` (Unlicense)', 'in the public domain; used by tests only'],
]);

/** Whether a license is allowed: a permissive license, or the known exception for this package. */
export function isAllowed({ name, license }: { readonly name: string; readonly license: string }): boolean {
  return isPermissive(license) || EXCEPTIONS.has(`\`${name}\` (${license})`);
}

/** Whether all parts of an SPDX expression without nested parentheses are permissive. */
function isPermissive(license: string): boolean {
  const parts = license.replaceAll(/[()]/g, '').split(/ (?:AND|OR) /);
  return parts.every((part) => PERMISSIVE.has(part));
}

/** The page as Markdown, made only from files of the checkout. */
export function dependencyPage(): string {
  const { dependencies, devDependencies, optionalDependencies } = directDependencies();
  return `# Dependencies

\`npm run generated-pages\` writes this page from \`package.json\`, \`package-lock.json\` and \`data/dependencies.json\` (why each is used). A test fails if it is out of date, if a dependency has no reason, or if a license is not an allowed one.

Versions are exact, and the lock file has the hash of each package. \`npm outdated\` names newer releases.

## In production

${directTable(dependencies)}

## In development

${directTable(devDependencies)}

## Optional

${directTable(optionalDependencies)}

## All packages

With those that the above depend on, the lock file has ${lockedPackages().length} packages. Their licenses are permissive (${[...PERMISSIVE].join(', ')}), with these exceptions:

${[...EXCEPTIONS].map(([what, note]) => `- ${what}: ${note}`).join('\n')}
`;
}

function directTable(dependencies: Readonly<Record<string, string>>): string {
  const why = reasons();
  const { packages } = read('package-lock.json', lockFile);
  const rows = Object.entries(dependencies).map(([name, version]) => [
    `\`${name}\``,
    version,
    packages[`node_modules/${name}`]?.license ?? '',
    why[name] ?? '',
  ]);
  return markdownTable(['package', 'version', 'license', 'what for'], rows);
}
