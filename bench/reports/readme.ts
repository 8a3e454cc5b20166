import { markdownTable } from '../../scripts/markdown-table.ts';
import { medianOf, rateOf } from '../rounds.ts';
import type { McpReport } from './lookups.ts';
import type { PublishReport } from './publish.ts';
import type { RostersReport } from './rosters.ts';

/** The reports with the README's figures. */
interface ReadmeReports {
  readonly rosters: RostersReport;
  readonly mcp: McpReport;
  readonly publish: PublishReport;
}

const START = '<!-- `npm run bench report` makes this table. -->';
const END = '<!-- The end of the table. -->';

/** The README's table of users, with a figure, a command and a page for each kind of user. */
function usersTable({ rosters, mcp, publish }: ReadmeReports): string {
  const { rows, seconds } = rosters.verifyCommand;
  const count = (value: number) => Math.round(value).toLocaleString('en-US');
  const longest = Math.max(...publish.publications.map((each) => each.seconds));
  return markdownTable(
    ['You have', 'Measured on two cores, without rate limits', 'Command', 'Read'],
    [
      [
        'a list of names',
        `${count(rows / seconds)} rows verified a second, half of them by name`,
        '`npx licenses verify ROSTER --out FILE`',
        '[Rosters](docs/api.md#rosters)',
      ],
      [
        'an assistant',
        `${count(medianOf(mcp.results, 'number, MCP 2025', rateOf))} tool calls a second, no key needed`,
        '`claude mcp add --transport http ohio-licenses http://127.0.0.1:8080/mcp`',
        '[Assistants](docs/mcp.md)',
      ],
      [
        "the State's files",
        `${count(publish.rows)} rows live in ${count(longest)} s, without downtime`,
        '`npx licenses publish --individual FILE --business FILE`',
        '[Every day](docs/every-day.md)',
      ],
    ],
  );
}

/**
 * The README with a new table of users.
 *
 * @throws {Error} if the README lacks the comments around the table
 */
export function withFigures(readme: string, reports: ReadmeReports): string {
  const [before, rest] = readme.split(START);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`README.md lacks ${START} or ${END}`);
  return `${before}${START}\n\n${usersTable(reports)}\n\n${END}${after}`;
}
