import { globSync } from 'node:fs';
import { join, resolve } from 'node:path';
import serverJson from '../server.json' with { type: 'json' };
import { installedRequirements, NO_PYTHON } from '../test/support/python.ts';
import { print, runProgram } from './processes.ts';

const ROOT = resolve(import.meta.dirname, '..');
const REQUIREMENTS = resolve(import.meta.dirname, 'lint/requirements.txt');

/** The MCP registry's schema that `server.json` names, from an installed requirement. */
function registrySchema(installed: string): string {
  const [, version = ''] = /\/schemas\/([\d-]+)\//.exec(serverJson.$schema) ?? [];
  const folder = `v${version.replaceAll('-', '_')}`;
  return join(installed, 'skillsaw/schemas/mcp_registry', folder, 'server.schema.json');
}

/** The checks that need neither Docker nor a CI runner: each is an installed program with its arguments. */
function checks(installed: string): readonly (readonly [string, ...string[]])[] {
  const workflows = globSync('.github/workflows/*.yml', { cwd: ROOT });
  const program = (name: string) => join(installed, 'bin', name);
  const schema = ['python3', '-m', 'check_jsonschema'] as const;
  return [
    [program('hadolint'), '--failure-threshold', 'warning', 'Dockerfile'],
    [program('zizmor'), '--offline', '--quiet', ...workflows],
    [...schema, '--builtin-schema', 'vendor.github-workflows', ...workflows],
    [...schema, '--builtin-schema', 'vendor.dependabot', '.github/dependabot.yml'],
    [...schema, '--builtin-schema', 'vendor.compose-spec', 'docker-compose.yml'],
    [...schema, '--schemafile', registrySchema(installed), 'server.json'],
  ];
}

if (NO_PYTHON !== undefined && process.env.CI !== 'true') {
  print(`The Dockerfile, docker-compose.yml, the workflows and server.json were not checked: ${NO_PYTHON}.`);
} else {
  const installed = await installedRequirements(REQUIREMENTS);
  const variables = { PYTHONPATH: installed, PYTHONNOUSERSITE: '1' };
  for (const check of checks(installed)) {
    const { code, output } = await runProgram(check, { cwd: ROOT, variables });
    if (code === 0) continue;
    print(output);
    process.exitCode = 1;
  }
}
