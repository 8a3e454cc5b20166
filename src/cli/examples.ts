import type { Command } from 'commander';

/** What the help of each command shows. A command with subcommands shows those of all of them. */
const EXAMPLES: readonly string[] = [
  'licenses serve',
  'PORT=8081 ADMIN_PORT=9474 licenses serve',
  'licenses work',
  'licenses publish',
  'licenses publish --individual individual.csv --business business.csv',
  'licenses publish --individual https://data.example/individual.csv.gz --business business.csv.gz --json',
  'licenses publish --check --report report.md',
  'licenses publish --accept column_changed:PARCEL_CITY --accept many_changes',
  'licenses publish --force "board X closed 300 licenses, confirmed by phone"',
  'licenses publications',
  'licenses publications show mwwrwvb2c0448190',
  'licenses publications show mwwrwvb2c0448190 --rejects rejects.csv --changes changes.csv',
  'licenses publications diff mwwrwvb2c0448190 live',
  'licenses publications diff live --individual individual.csv --business business.csv --csv changes.csv',
  'licenses rollback',
  'licenses rollback --to mwwrwvb2c0448190',
  'licenses prune',
  'KEEP_PUBLICATIONS=1 licenses prune',
  'licenses keys create "Acme Staffing" --contact grace@acme.example --verified-by "Ada Operator"',
  'licenses keys list',
  'licenses keys usage a0ed96c4f80b --days 7',
  'licenses keys rotate a0ed96c4f80b',
  'licenses keys revoke a0ed96c4f80b',
  'licenses accounts list',
  'licenses accounts deactivate "Acme Staffing"',
  'licenses accounts activate "Acme Staffing"',
  'licenses audit --limit 20',
  'licenses backup /var/backups/licenses.backup',
  'licenses restore /var/backups/licenses.backup',
  'licenses sample-data day-1 --rows 20000',
  'licenses sample-data day-2 --rows 20000 --date 2026-11-25 --changed 0.01',
  'licenses status',
  'licenses status --url https://licenses.example --json',
  'licenses lookup RN.987654321',
  'licenses lookup RN.987654321 --board NUR --json',
  'licenses boards',
  'licenses verify roster.csv --out result.csv --board NUR',
  'licenses watch roster.csv --board NUR',
  'licenses webhooks list --json',
];

const SETTINGS = /^(?:[A-Z_]+=\S+ )*/;

/** Adds examples to the help of a command and of all below it. */
export function addExamples(command: Command, path = command.name()): void {
  const lines = EXAMPLES.filter((line) => `${line.replace(SETTINGS, '')} `.startsWith(`${path} `));
  const shown =
    command.parent === null ? ['licenses help publish   # every command has examples in its help'] : lines;
  if (shown.length > 0) command.addHelpText('after', ['', 'Examples:', ...shown.map(indented)].join('\n'));
  for (const each of command.commands) addExamples(each, `${path} ${each.name()}`);
}

function indented(line: string): string {
  return `  ${line}`;
}
