/** @long @room clients */
import { spawnSync } from 'node:child_process';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { runProgram } from '../../scripts/processes.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { installedFolder } from '../support/installed-folder.ts';
import { installedRequirements, NO_PYTHON, runPython } from '../support/python.ts';
import { type SampleService, startSampleService } from '../support/shared-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A client is made of this service's OpenAPI document without a warning, compiled, and finds a license. */
const PROGRAMS = resolve(import.meta.dirname, '../generated-clients');

const OPENAPI_GENERATOR = 'org.openapitools:openapi-generator-cli:7.25.0';
const OAPI_CODEGEN = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';

/** What openapi-generator warns of whatever the document: what it itself can't do, or makes up. */
const OWN_WARNINGS = /Failed to get the schema name: null|Codegen property is null|Ignoring complex example/;

const WITHIN_MS = 1_200_000;
/** Generators and compilers take minutes where nothing is cached. */
const slowTest = (name: string, work: () => Promise<void>) => test(name, work, WITHIN_MS);

function missing(): string | undefined {
  const absent = (['mvn', 'java', 'go'] as const).filter((each) => spawnSync('which', [each]).status !== 0);
  if (absent.length > 0) {
    return `${absent.join(', ')} missing; install Maven, a JDK from 17 and Go (Debian: apt-get install maven default-jdk-headless golang)`;
  }
  return NO_PYTHON;
}

const folder = temporaryFolder();

describeUnless(missing(), 'a generated client finds a license:', () => {
  let service: SampleService;
  let document: string;
  let requirements: string;

  beforeAll(async () => {
    service = await startSampleService();
    document = folder.path('openapi.json');
    await writeFile(document, (await service.rest.get('/openapi.json')).text);
    requirements = await installedRequirements(join(PROGRAMS, 'requirements.txt'));
  }, WITHIN_MS);

  async function succeeds(cwd: string, ...command: [string, ...string[]]): Promise<string> {
    const { code, output, stdout } = await runProgram(command, {
      variables: process.env,
      cwd,
      withinMs: WITHIN_MS,
    });
    expect([command[0], code, code === 0 ? '' : output]).toEqual([command[0], 0, '']);
    return stdout + output;
  }

  /** A client of openapi-generator in a folder of its own. */
  async function generated(language: string, options: readonly string[] = []): Promise<string> {
    const repository = await installedFolder('openapi-generator', [OPENAPI_GENERATOR], async (into) => {
      const get = ['-q', 'dependency:copy', `-Dartifact=${OPENAPI_GENERATOR}`, `-DoutputDirectory=${into}`];
      await succeeds(into, 'mvn', ...get);
    });
    const [, name, version] = OPENAPI_GENERATOR.split(':');
    const jar = join(repository, `${name}-${version}.jar`);
    const output = folder.path(language);
    const generate = ['generate', '-i', document, '-g', language, '-o', output, ...options];
    const said = await succeeds(folder.path(), 'java', '-jar', jar, ...generate);
    const warnings = said.split('\n').filter((line) => /WARN|ERROR/.test(line) && !OWN_WARNINGS.test(line));
    expect(warnings).toEqual([]);
    return output;
  }

  const asked = () => [service.url, service.rest.key] as const;

  /** Runs a program of `PROGRAMS` as the main package beside a generated one. */
  async function runGo(module: string, program: string): Promise<string> {
    await mkdir(join(module, 'cmd'));
    await cp(join(PROGRAMS, program), join(module, 'cmd', 'main.go'));
    await succeeds(module, 'go', 'mod', 'tidy');
    await succeeds(module, 'go', 'vet', './client', './cmd');
    return succeeds(module, 'go', 'run', './cmd', ...asked());
  }

  slowTest('openapi-generator, Python', async () => {
    const client = await generated('python');
    const { code, stdout, output } = await runProgram(
      ['python3', join(PROGRAMS, 'openapi_generator_client.py'), ...asked()],
      { variables: { PYTHONPATH: `${client}:${requirements}`, PYTHONNOUSERSITE: '1' } },
    );
    expect([code, code === 0 ? '' : output]).toEqual([0, '']);
    expect(stdout.trim()).toBe('EXAMPLE, PAT SAMPLE');
  });

  slowTest('openapi-generator, Go', async () => {
    const client = await generated('go', ['--additional-properties', 'packageName=client,withGoMod=false']);
    const module = folder.path('go-module');
    await cp(client, join(module, 'client'), {
      recursive: true,
      filter: (path) => !path.endsWith('/test'),
    });
    await writeFile(join(module, 'go.mod'), 'module generated\n\ngo 1.24\n');
    expect(await runGo(module, 'openapi_generator_client.go')).toContain('EXAMPLE, PAT SAMPLE');
  });

  slowTest('openapi-generator, Java', async () => {
    const client = await generated('java', ['--additional-properties', 'hideGenerationTimestamp=true']);
    const lib = `-DoutputDirectory=${client}/lib`;
    await succeeds(
      client,
      'mvn',
      '-q',
      '-Dmaven.test.skip=true',
      'compile',
      'dependency:copy-dependencies',
      lib,
    );
    const found = await succeeds(
      client,
      ...([
        'java',
        '-cp',
        `${client}/target/classes:${client}/lib/*`,
        join(PROGRAMS, 'Verify.java'),
        ...asked(),
      ] as const),
    );
    expect(found).toContain('EXAMPLE, PAT SAMPLE');
  });

  slowTest('openapi-generator, C#: every file once', async () => {
    await generated('csharp');
  });

  slowTest('openapi-python-client', async () => {
    const output = folder.path('openapi-python-client');
    const generate = ['generate', '--path', document, '--output-path', output, '--fail-on-warning'];
    const made = await runPython(requirements, ['-m', 'openapi_python_client', ...generate], {
      cwd: folder.path(),
      withinMs: WITHIN_MS,
      variables: { PATH: `${requirements}/bin:${process.env.PATH}` },
    });
    expect([made.code, made.code === 0 ? '' : made.output]).toEqual([0, '']);
    const {
      code,
      stdout,
      output: said,
    } = await runProgram(['python3', join(PROGRAMS, 'python_client.py'), ...asked()], {
      variables: { PYTHONPATH: `${output}:${requirements}`, PYTHONNOUSERSITE: '1', PYTHONSAFEPATH: '1' },
    });
    expect([code, code === 0 ? '' : said]).toEqual([0, '']);
    expect(stdout.trim()).toBe('EXAMPLE, PAT SAMPLE');
  });

  slowTest('oapi-codegen', async () => {
    const module = folder.path('oapi-codegen');
    await mkdir(join(module, 'client'), { recursive: true });
    await writeFile(join(module, 'go.mod'), 'module generated\n\ngo 1.24\n');
    const into = ['-package', 'client', '-o', 'client/client.go'];
    const said = await succeeds(
      module,
      'go',
      'run',
      OAPI_CODEGEN,
      '-generate',
      'types,client',
      ...into,
      document,
    );
    expect(said).not.toMatch(/warn/i);
    expect(await runGo(module, 'oapi_codegen_client.go')).toContain('EXAMPLE, PAT SAMPLE');
  });
});
