#!/usr/bin/env node
import { Command, CommanderError, Option } from 'commander';
import commands from '../../data/commands.json' with { type: 'json' };
import { loadEnvironmentFile, SERVICE_VERSION } from '../config.ts';
import { type Action, type Actions, OPTIONS } from './options.ts';
import { errorWords, print, printError } from './output.ts';

/**
 * The arguments and options of a command, each with its meaning. A command without examples only groups other commands.
 */
export type CommandWords = { readonly description: string; readonly examples?: readonly string[] } & {
  readonly [Each in 'arguments' | 'required' | 'options']?: Readonly<Record<string, string>>;
};

/** All commands, in groups by who uses them. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, CommandWords>>>> = commands;

const PROCESSES: Actions = {
  serve: async () => (await import('../server.ts')).serve().then(() => ({})),
  work: async () => (await import('../../workers/main.ts')).work().then(() => ({})),
};

/**
 * The modules by the first words of their commands. Only the module of the command is loaded, because loading all of
 * them takes longer than most commands run.
 */
const MODULES: readonly (readonly [words: string, load: () => Promise<{ readonly ACTIONS: Actions }>])[] = [
  ['serve work', async () => ({ ACTIONS: PROCESSES })],
  ['lookup status boards', () => import('./lookup.ts')],
  ['verify', () => import('./verify.ts')],
  ['watch', () => import('./watch.ts')],
  ['publish', () => import('./publish.ts')],
  ['publications rollback prune', () => import('./publications.ts')],
  ['keys accounts webhooks signing-keys audit', () => import('./access.ts')],
  ['backup restore', () => import('./stored-documents.ts')],
  ['sample-data', () => import('./sample-data.ts')],
  ['verify-record', () => import('./verify-record.ts')],
];

/** The action of a command. @throws {Error} for a command without one */
export async function actionOf(path: string): Promise<Action> {
  const [word = ''] = path.split(' ');
  const [, load] = MODULES.find(([words]) => words.split(' ').includes(word)) ?? [];
  const action = new Map(Object.entries((await load?.())?.ACTIONS ?? {})).get(path);
  if (action === undefined) throw new Error(`Nothing is written for the command ${path}.`);
  return action;
}

/** `licenses` with all its commands. */
export const program = new Command('licenses')
  .description('Operates the Ohio License Verification Service, and asks one that runs')
  .version(SERVICE_VERSION)
  .exitOverride()
  .configureHelp({ subcommandDescription: (command) => command.description().split(/[:;.,] /)[0] ?? '' })
  .addHelpText('after', '\nlicenses help publish   # every command has examples in its help');

function addCommand(path: string, words: CommandWords): void {
  const [name = '', below] = path.split(' ');
  const parent = program.commands.find((each) => each.name() === name) ?? program;
  const command = parent.command(below ?? name).description(words.description);
  for (const [name, meaning] of Object.entries(words.arguments ?? {})) command.argument(name, meaning);
  for (const [flags, meaning] of Object.entries({ ...words.required, ...words.options })) {
    const option = new Option(flags, meaning).makeOptionMandatory(Object.hasOwn(words.required ?? {}, flags));
    if (['url', 'key'].includes(option.name())) option.env(`LICENSES_${option.name().toUpperCase()}`);
    command.addOption(option);
  }
  if (words.examples === undefined) return;
  command.addHelpText('after', ['', 'Examples:', ...words.examples.map((line) => `  ${line}`)].join('\n'));
  command.action(async () => {
    const { data: options, error } = OPTIONS.safeParse(command.optsWithGlobals());
    for (const { path, message } of error?.issues ?? [])
      command.error(`error: --${String(path[0])}: ${message}`);
    const ended = await (await actionOf(path))(command.args, options ?? {});
    const isJson = options?.json === true && ended.value !== undefined;
    print(isJson ? JSON.stringify(ended.value) : (ended.words ?? []));
    if (!isJson) printError(ended.errors ?? []);
    process.exitCode = ended.code ?? 0;
  });
}

for (const [heading, group] of Object.entries(GROUPS)) {
  program.commandsGroup(heading);
  for (const [path, words] of Object.entries(group)) addCommand(path, words);
}
// This is not shown after a command's own errors, because the command has its own help.
program.showHelpAfterError('licenses --help lists the commands.');
program.commandsGroup('Help:').helpCommand('help [command]', 'what a command does');

/** Runs a command line. @param prepare called first; its errors are printed, too @returns the exit code */
export async function run(parameters: readonly string[], prepare = () => {}): Promise<number> {
  try {
    prepare();
    await program.parseAsync(parameters, { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    // Commander has printed what is wrong.
    if (error instanceof CommanderError) return error.exitCode;
    printError(errorWords(error).split('\n'));
    return 1;
  }
}

/** The exit code of a program that SIGPIPE ended. */
const EXIT_PIPE_CLOSED = 141;

if (import.meta.main) {
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // The reader has read enough, for example in `licenses audit | head`.
    if (code === 'EPIPE') process.exit(EXIT_PIPE_CLOSED);
    printError(`The output can't be written: ${message}`);
    process.exit(1);
  });
  // If nobody reads the messages, the work still continues.
  process.stderr.on('error', () => undefined);
  process.exitCode = await run(process.argv.slice(2), loadEnvironmentFile);
  // `serve` and `work` may already be listening, which would keep the process alive.
  if (process.exitCode === 1) process.exit();
}
