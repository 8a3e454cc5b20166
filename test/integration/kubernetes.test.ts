import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { describeUnless } from '../support/describe-unless.ts';
import { installedRequirements, NO_PYTHON, runPython } from '../support/python.ts';

const FOLDER = resolve(import.meta.dirname, '../../deploy/kubernetes');
const REQUIREMENTS = resolve(import.meta.dirname, '../python/requirements.txt');

describeUnless(NO_PYTHON, 'deploy/kubernetes', () => {
  test.each(['1.31', '1.37'])('has only what Kubernetes %s accepts', async (version) => {
    const files = globSync(['*.yaml', '*.yaml.example'], { cwd: FOLDER });
    const { code, output } = await runPython(
      await installedRequirements(REQUIREMENTS),
      ['-m', 'kubernetes_validate', '--strict', '--kubernetes-version', version, ...files],
      { cwd: FOLDER, withinMs: 60_000 },
    );
    expect([code, output.match(/^ERROR.*$/gm)]).toEqual([0, null]);
    for (const file of files) expect(output).toContain(`INFO ${file} passed`);
  });
});
