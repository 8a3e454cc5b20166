import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFile(join(ROOT, path), 'utf8');

describe('files for those who fork the project', () => {
  test('.nvmrc, package.json and the development container name the same version of Node', async () => {
    const version = (await read('.nvmrc')).trim();
    expect(packageJson.engines.node).toBe(`>=${version}`);
    expect(await read('.devcontainer/devcontainer.json')).toContain(`typescript-node:${version}"`);
  });

  test('the workflow runs .ci/run with the least permissions', async () => {
    const workflow = z
      .object({
        permissions: z.record(z.string(), z.string()),
        jobs: z.object({
          test: z.object({
            steps: z.array(z.object({ run: z.string().optional(), uses: z.string().optional() })),
          }),
        }),
      })
      .parse(parse(await read('.github/workflows/ci.yml')));
    expect(workflow.permissions).toEqual({ contents: 'read' });
    const { steps } = workflow.jobs.test;
    expect(steps.at(-1)?.run).toBe('bash .ci/run');
    for (const { uses } of steps) if (uses !== undefined) expect(uses).toMatch(/^actions\/[\w-]+@v\d+$/);
  });

  test('dependency updates name folders that have dependencies', async () => {
    const manifests: Readonly<Record<string, string>> = {
      npm: 'package.json',
      pip: 'requirements.txt',
      docker: 'Dockerfile',
      'docker-compose': 'docker-compose.yml',
      'github-actions': '.github/workflows',
    };
    const { updates } = z
      .object({
        updates: z.array(
          z.object({
            'package-ecosystem': z.string(),
            directory: z.string().optional(),
            directories: z.array(z.string()).optional(),
          }),
        ),
      })
      .parse(parse(await read('.github/dependabot.yml')));
    for (const { 'package-ecosystem': ecosystem, directory = '', directories = [directory] } of updates) {
      for (const each of directories) {
        expect([ecosystem, each, existsSync(join(ROOT, each, manifests[ecosystem] ?? 'none'))]).toEqual([
          ecosystem,
          each,
          true,
        ]);
      }
    }
  });
});
