import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { markdownTable } from './markdown-table.ts';
import { run } from './processes.ts';

const ROOT = resolve(import.meta.dirname, '..');

/** The page, and the file with what the registry said last. */
export const PAGE = resolve(ROOT, 'docs/dependencies.md');
export const RELEASES = resolve(ROOT, 'data/dependency-releases.json');

const byName = z.record(z.string(), z.string()).default({});
const packageJson = z.object({ dependencies: byName, devDependencies: byName, optionalDependencies: byName });
const lockFile = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string(), license: z.string().optional(), dev: z.boolean().default(false) }),
  ),
});
const reasonFile = z.record(z.string(), z.strictObject({ why: z.string(), decision: z.string().optional() }));

/** What the registry said of each direct dependency, and when. */
export const releaseFile = z.object({
  read_on: z.string(),
  newest: z.record(z.string(), z.object({ version: z.string(), released: z.string() })),
});

export type Releases = z.output<typeof releaseFile>;

function read<Schema extends z.ZodType>(file: string, schema: Schema): z.output<Schema> {
  return schema.parse(JSON.parse(readFileSync(resolve(ROOT, file), 'utf8')));
}

/** The direct dependencies, by what they are for. */
export function directDependencies() {
  return read('package.json', packageJson);
}

/** Why each direct dependency is there. */
export function reasons() {
  return read('data/dependencies.json', reasonFile);
}

interface LockedPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** Whether only development needs it. */
  readonly isForDevelopment: boolean;
}

/** Every package in the lock file, direct and transitive. */
export function lockedPackages(): LockedPackage[] {
  const { '': _own, ...packages } = read('package-lock.json', lockFile).packages;
  return Object.entries(packages).map(([path, { version, license = 'none', dev }]) => ({
    name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
    version,
    license,
    isForDevelopment: dev,
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

/** The packages that have another license, each with what it means here. */
const OTHER_LICENSES: ReadonlyMap<string, { readonly license: string; readonly note: string }> = new Map([
  [
    '@uswds/uswds',
    {
      license: 'SEE LICENSE IN LICENSE.md',
      note: 'in the public domain, with fonts and icons under the SIL Open Font License 1.1, Apache-2.0 and MIT',
    },
  ],
  ['axe-core', { license: 'MPL-2.0', note: 'used unchanged, by tests only' }],
  ['caniuse-lite', { license: 'CC-BY-4.0', note: 'data about browsers; this service does not show it' }],
]);

/** Whether a license is allowed: a permissive one, or the known other one of this package. */
export function isAllowed({ name, license }: Pick<LockedPackage, 'name' | 'license'>): boolean {
  return isPermissive(license) || OTHER_LICENSES.get(name)?.license === license;
}

/** Whether an SPDX expression without nested parentheses is permissive in all its parts. */
function isPermissive(license: string): boolean {
  const parts = license.replaceAll(/[()]/g, '').split(/ (?:AND|OR) /);
  return parts.every((part) => PERMISSIVE.has(part));
}

/** The page as Markdown, from the files of the checkout alone. */
export function dependencyPage(): string {
  const { dependencies, devDependencies, optionalDependencies } = directDependencies();
  const releases = read(RELEASES, releaseFile);
  const packages = lockedPackages();
  const production = packages.filter(({ isForDevelopment }) => !isForDevelopment);
  return `# Dependencies

\`npm run dependency-page\` writes this page from \`package.json\`, \`package-lock.json\`, \`data/dependencies.json\` (why each is used) and \`data/dependency-releases.json\` (the newest releases). A test fails if it is out of date, if a dependency has no reason, or if a license is not an allowed one.

Versions are exact, and the lock file has the hash of each package. \`npm run dependency-page -- --refresh\` asks the package registry for the newest releases and their dates; those below were read on ${releases.read_on}. A registry that mirrors another may give the day on which it copied a release.

## In production

${directTable(dependencies, releases)}

## In development

${directTable(devDependencies, releases)}

## Optional

${directTable(optionalDependencies, releases)}

## All packages

The lock file has ${packages.length} packages with those that the above depend on: ${production.length} that production may install (some only on one platform) and ${packages.length - production.length} for development only.

${licenseTable(packages)}

These licenses are not simply permissive:

${otherLicenses(packages)}
`;
}

function directTable(dependencies: Readonly<Record<string, string>>, { newest }: Releases): string {
  const why = reasons();
  const locked = new Map(lockedPackages().map((each) => [`${each.name}@${each.version}`, each.license]));
  const rows = Object.entries(dependencies).map(([name, version]) => {
    const reason = why[name];
    const decision =
      reason?.decision === undefined
        ? ''
        : ` [Decision ${Number(reason.decision.slice(0, 3))}](decisions/${reason.decision})`;
    const latest = newest[name];
    return [
      `\`${name}\``,
      version,
      locked.get(`${name}@${version}`) ?? '',
      `${reason?.why ?? ''}${decision}`,
      latest === undefined ? '' : `${latest.version}, ${latest.released}`,
    ];
  });
  return markdownTable(['package', 'version', 'license', 'what for', 'newest release'], rows);
}

function licenseTable(packages: readonly LockedPackage[]): string {
  const counts = [...Map.groupBy(packages, ({ license }) => license)].map(
    ([license, { length }]) => [license, length] as const,
  );
  counts.sort(([one, oneCount], [other, otherCount]) => otherCount - oneCount || (one < other ? -1 : 1));
  return markdownTable(
    ['license', 'packages'],
    counts.map(([license, count]) => [license, String(count)]),
  );
}

function otherLicenses(packages: readonly LockedPackage[]): string {
  return packages
    .filter(({ license }) => !isPermissive(license))
    .map(
      ({ name, license }) =>
        `- \`${name}\` (${license}): ${OTHER_LICENSES.get(name)?.note ?? 'not known here'}`,
    )
    .join('\n');
}

const viewed = z.object({ version: z.string(), time: z.record(z.string(), z.string()) });

/** Asks the package registry for the newest release of each direct dependency. */
async function newestReleases(): Promise<Releases> {
  const { dependencies, devDependencies, optionalDependencies } = directDependencies();
  const newest: Releases['newest'] = {};
  for (const name of Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })) {
    const { version, time } = viewed.parse(
      JSON.parse(await run('npm', ['view', name, 'version', 'time', '--json'])),
    );
    newest[name] = { version, released: time[version]?.slice(0, 10) ?? 'unknown' };
  }
  return { read_on: new Date().toISOString().slice(0, 10), newest };
}

/** Writes docs/dependencies.md. With `--refresh`, it first reads the newest releases; else it needs no network. */
if (import.meta.main) {
  const { values } = parseArgs({ options: { refresh: { type: 'boolean', default: false } } });
  if (values.refresh) writeFileSync(RELEASES, `${JSON.stringify(await newestReleases(), null, 2)}\n`);
  writeFileSync(PAGE, dependencyPage());
}
