import type { Command } from 'commander';
import examples from '../../data/command-examples.json' with { type: 'json' };

/** What the help of each command shows. A command with subcommands shows those of all of them. */
const SETTINGS = /^(?:[A-Z_]+=\S+ )*/;

/** Adds examples to the help of a command and of all below it. */
export function addExamples(command: Command, path = command.name()): void {
  const lines = examples.filter((line) => `${line.replace(SETTINGS, '')} `.startsWith(`${path} `));
  const shown =
    command.parent === null ? ['licenses help publish   # every command has examples in its help'] : lines;
  if (shown.length > 0) command.addHelpText('after', ['', 'Examples:', ...shown.map(indented)].join('\n'));
  for (const each of command.commands) addExamples(each, `${path} ${each.name()}`);
}

function indented(line: string): string {
  return `  ${line}`;
}
