import { writeFile } from 'node:fs/promises';
import { runProgram } from '../../scripts/processes.ts';
import { answered, type FileAnswer, fileServer } from './file-server.ts';
import type { SampleService } from './shared-service.ts';
import type { temporaryFolder } from './temporary-folder.ts';

/** An example program that reads a roster, with the command that starts it in its folder. */
export interface RosterProgram {
  readonly folder: () => string;
  readonly command: readonly [string, ...string[]];
}

/** The input of a program. */
export interface RosterRun {
  readonly roster: string;
  /** The name of another file that the program should read. */
  readonly file?: string;
  readonly address?: string;
  readonly key?: string;
  /** Whether the roster is piped to standard input. */
  readonly isPiped?: boolean;
}

/** A service with sample data, and a folder for rosters. */
export interface RosterContext {
  readonly service: SampleService;
  readonly folder: ReturnType<typeof temporaryFolder>;
}

/** The environment of a program. Python must not write compiled modules into the checkout. */
export const programVariables = (address: string, key: string): Record<string, string> => ({
  LICENSES_URL: address,
  LICENSES_KEY: key,
  PYTHONDONTWRITEBYTECODE: '1',
});

/** Runs the program on this roster, and parses its output lines as JSON. */
export async function verifyRoster(
  { service, folder }: RosterContext,
  program: RosterProgram,
  { roster, address = service.url, key = service.rest.key, file = 'roster.csv', isPiped = false }: RosterRun,
) {
  await writeFile(folder.path('roster.csv'), roster);
  const path = folder.path(file);
  const started = performance.now();
  const result = await runProgram([...program.command, ...(isPiped ? [] : [path])], {
    cwd: program.folder(),
    variables: programVariables(address, key),
    ...(isPiped ? { input: roster } : {}),
  });
  const printed = result.stdout.split('\n').filter((line) => line !== '');
  const lines: unknown[] = printed.map((line) => JSON.parse(line));
  return { ...result, lines, milliseconds: performance.now() - started };
}

/** A roster with its header and these lines. */
export const rosterOf = (...rows: string[]): string =>
  ['board,license_number,last_name', ...rows, ''].join('\n');

/** A JSON response of a file server. */
export const json = (status: number, body: object, headers: Record<string, string> = {}): FileAnswer =>
  answered(status, { 'content-type': 'application/json', ...headers }, JSON.stringify(body));

/** Runs the program against a server that sends these responses. The last one is repeated. */
export async function runAgainst(
  context: RosterContext,
  program: RosterProgram,
  roster: string,
  ...answers: readonly FileAnswer[]
) {
  const server = await fileServer(...answers);
  try {
    const result = await verifyRoster(context, program, { roster, address: new URL(server.url).origin });
    return { ...result, requests: server.requests };
  } finally {
    await server.close();
  }
}
