#!/usr/bin/env node
import { Command } from 'commander';
import { loadEnvironmentFile, SERVICE_VERSION } from '../config.ts';
import { fileTrouble } from '../storage/errors.ts';
import { accountsCommand, auditCommand, keysCommand } from './access.ts';
import { addExamples } from './examples.ts';
import { boardsCommand, lookupCommand, statusCommand } from './lookup.ts';
import { printError } from './output.ts';
import { pruneCommand, publicationsCommand, publishCommand, rollbackCommand } from './publications.ts';
import type { CheckFiles } from './publish.ts';
import { sampleDataCommand } from './sample-data.ts';
import { signingKeysCommand } from './signing-keys.ts';
import { backupCommand, restoreCommand } from './stored-documents.ts';
import { verifyCommand } from './verify.ts';
import { verifyRecordCommand } from './verify-record.ts';
import { watchCommand } from './watch.ts';
import { webhooksCommand } from './webhooks.ts';

/** `licenses` with all its commands, in the order of who uses them. */
export const program = new Command('licenses')
  .description('Operates the Ohio License Verification Service, and asks one that runs')
  .version(SERVICE_VERSION)
  .configureHelp({ subcommandDescription: (command) => command.description().split(/[:;.,] /)[0] ?? '' })
  .showHelpAfterError('licenses --help lists the commands.');

const serveCommand = new Command('serve')
  .description('run the API process: REST, MCP and the website')
  .action(async () => {
    const { serve } = await import('../server.ts');
    await serve();
  });
const workCommand = new Command('work')
  .description('run the worker process, which publishes')
  .action(async () => {
    const { work } = await import('../../workers/main.ts');
    await work();
  });

/** What `publish --check` and `publications diff` do to files, in this process. */
const checkFiles: CheckFiles = async (...given) => {
  const { checkFiles: check } = await import('../../workers/publish/check.ts');
  return check(...given);
};

const GROUPS: readonly (readonly [heading: string, commands: readonly Command[]])[] = [
  [
    'You have licenses to check, and an API key:',
    [lookupCommand(), verifyCommand(), watchCommand(), statusCommand(), boardsCommand()],
  ],
  ['You have a signed record:', [verifyRecordCommand()]],
  [
    "You publish the State's files:",
    [
      publishCommand(checkFiles),
      publicationsCommand(checkFiles),
      rollbackCommand(),
      pruneCommand(),
      sampleDataCommand(),
    ],
  ],
  ['You run the service:', [serveCommand, workCommand, keysCommand(), backupCommand(), restoreCommand()]],
  ['Also:', [accountsCommand(), webhooksCommand(), signingKeysCommand(), auditCommand()]],
];
for (const [heading, commands] of GROUPS) {
  program.commandsGroup(heading);
  for (const command of commands) program.addCommand(command);
}
program.commandsGroup('Help:');
addExamples(program);

/** What a program that SIGPIPE ends exits with. */
const EXIT_PIPE_CLOSED = 141;

if (import.meta.main) {
  // As by `licenses audit | head`, which has read enough.
  process.stdout.on('error', () => process.exit(EXIT_PIPE_CLOSED));
  try {
    loadEnvironmentFile();
    await program.parseAsync();
  } catch (error) {
    const words = fileTrouble(error) ?? (error instanceof Error ? error.message : String(error));
    printError(words.split('\n'));
    // `serve` and `work` may have begun to listen.
    process.exit(1);
  }
}
