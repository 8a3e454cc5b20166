import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { dependencyPage, directDependencies, PAGE, RELEASES, type Releases } from './dependency-page.ts';
import { runProgram } from './programs.ts';

const viewed = z.object({ version: z.string(), time: z.record(z.string(), z.string()) });

/** Asks the package registry for the newest release of each direct dependency. */
async function newestReleases(): Promise<Releases> {
  const { dependencies, devDependencies, optionalDependencies } = directDependencies();
  const newest: Releases['newest'] = {};
  for (const name of Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })) {
    const { code, stdout, stderr } = await runProgram(['npm', 'view', name, 'version', 'time', '--json'], {
      variables: process.env,
    });
    if (code !== 0) throw new Error(`npm view ${name} failed: ${stderr}`);
    const { version, time } = viewed.parse(JSON.parse(stdout));
    newest[name] = { version, released: time[version]?.slice(0, 10) ?? 'unknown' };
  }
  return { read_on: new Date().toISOString().slice(0, 10), newest };
}

/** Writes docs/dependencies.md. With `--refresh`, it first reads the newest releases; else it needs no network. */
const { values } = parseArgs({ options: { refresh: { type: 'boolean', default: false } } });
if (values.refresh) writeFileSync(RELEASES, `${JSON.stringify(await newestReleases(), null, 2)}\n`);
writeFileSync(PAGE, dependencyPage());
