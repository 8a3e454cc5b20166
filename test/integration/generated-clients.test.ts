/** @long @room clients */
import { spawnSync } from 'node:child_process';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { type CommandResult, runProgram } from '../../scripts/processes.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { installedFolder } from '../support/installed-folder.ts';
import { installedRequirements, NO_PYTHON } from '../support/python.ts';
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
  if (absent.length > 0)
    return `${absent.join(', ')} missing; install Maven, a JDK from 17 and Go (Debian: apt-get install maven default-jdk-headless golang)`;
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

  type Command = Parameters<typeof runProgram>[0];
  type Options = Parameters<typeof runProgram>[1];

  /** Runs a program, which must succeed. */
  async function succeeds(command: Command, options: Options = {}): Promise<CommandResult> {
    const result = await runProgram(command, { variables: process.env, withinMs: WITHIN_MS, ...options });
    expect([command[0], result.code, result.code === 0 ? '' : result.output]).toEqual([command[0], 0, '']);
    return result;
  }

  /** Runs a program that uses a client, and expects that it prints the name of the holder. */
  async function findsLicense(command: Command, options?: Options): Promise<void> {
    const { stdout } = await succeeds([...command, service.url, service.rest.key], options);
    expect(stdout.trim()).toBe('EXAMPLE, PAT SAMPLE');
  }

  /** A program of `PROGRAMS` in Python, with the client in this folder. */
  const findsLicenseInPython = (program: string, client: string) =>
    findsLicense(['python3', join(PROGRAMS, program)], {
      variables: { PYTHONPATH: `${client}:${requirements}`, PYTHONNOUSERSITE: '1', PYTHONSAFEPATH: '1' },
    });

  /** A client of openapi-generator in a folder of its own. */
  async function generated(language: string, options: readonly string[] = []): Promise<string> {
    const repository = await installedFolder('openapi-generator', [OPENAPI_GENERATOR], async (into) => {
      const get = ['-q', 'dependency:copy', `-Dartifact=${OPENAPI_GENERATOR}`, `-DoutputDirectory=${into}`];
      await succeeds(['mvn', ...get], { cwd: into });
    });
    const [, name, version] = OPENAPI_GENERATOR.split(':');
    const jar = join(repository, `${name}-${version}.jar`);
    const output = folder.path(language);
    const generate = ['generate', '-i', document, '-g', language, '-o', output, ...options];
    const said = await succeeds(['java', '-jar', jar, ...generate], { cwd: folder.path() });
    const warnings = said.output
      .split('\n')
      .filter((line) => /WARN|ERROR/.test(line) && !OWN_WARNINGS.test(line));
    expect(warnings).toEqual([]);
    return output;
  }

  /** A Go module of this name, with its client in the folder `client`. */
  async function goModule(name: string): Promise<string> {
    const module = folder.path(name);
    await mkdir(join(module, 'client'), { recursive: true });
    await writeFile(join(module, 'go.mod'), 'module generated\n\ngo 1.24\n');
    return module;
  }

  /** Runs a program of `PROGRAMS` as the main package beside the client. */
  async function findsLicenseInGo(module: string, program: string): Promise<void> {
    await mkdir(join(module, 'cmd'));
    await cp(join(PROGRAMS, program), join(module, 'cmd', 'main.go'));
    await succeeds(['go', 'mod', 'tidy'], { cwd: module });
    await succeeds(['go', 'vet', './client', './cmd'], { cwd: module });
    await findsLicense(['go', 'run', './cmd'], { cwd: module });
  }

  slowTest('openapi-generator, Python', async () => {
    await findsLicenseInPython('openapi_generator_client.py', await generated('python'));
  });

  slowTest('openapi-generator, Go', async () => {
    const client = await generated('go', ['--additional-properties', 'packageName=client,withGoMod=false']);
    const module = await goModule('go-module');
    const filter = (path: string) => !path.endsWith('/test');
    await cp(client, join(module, 'client'), { recursive: true, filter });
    await findsLicenseInGo(module, 'openapi_generator_client.go');
  });

  slowTest('openapi-generator, Java', async () => {
    const client = await generated('java', ['--additional-properties', 'hideGenerationTimestamp=true']);
    const goals = ['compile', 'dependency:copy-dependencies', `-DoutputDirectory=${client}/lib`];
    await succeeds(['mvn', '-q', '-Dmaven.test.skip=true', ...goals], { cwd: client });
    const classes = `${client}/target/classes:${client}/lib/*`;
    await findsLicense(['java', '-cp', classes, join(PROGRAMS, 'Verify.java')], { cwd: client });
  });

  slowTest('openapi-generator, C#: every file once', async () => {
    await generated('csharp');
  });

  slowTest('openapi-python-client', async () => {
    const output = folder.path('openapi-python-client');
    const generate = ['generate', '--path', document, '--output-path', output, '--fail-on-warning'];
    await succeeds(['python3', '-m', 'openapi_python_client', ...generate], {
      cwd: folder.path(),
      variables: {
        ...process.env,
        ...{
          PATH: `${requirements}/bin:${process.env.PATH}`,
          PYTHONPATH: requirements,
          PYTHONNOUSERSITE: '1',
        },
      },
    });
    await findsLicenseInPython('python_client.py', output);
  });

  slowTest('oapi-codegen', async () => {
    const module = await goModule('oapi-codegen');
    const what = ['-generate', 'types,client', '-package', 'client', '-o', 'client/client.go', document];
    const said = await succeeds(['go', 'run', OAPI_CODEGEN, ...what], { cwd: module });
    expect(said.output).not.toMatch(/warn/i);
    await findsLicenseInGo(module, 'oapi_codegen_client.go');
  });
});
