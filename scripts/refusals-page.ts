import refusals from '../data/refusals.json' with { type: 'json' };
import { markdownTable } from './markdown-table.ts';

/** The page as Markdown: each reason for refusing a publication, and what the operator should do. */
export function refusalsPage(): string {
  const rows = Object.entries(refusals).map(([reason, refusal]) => [
    `\`${reason}\``,
    'isFinal' in refusal ? 'no' : 'yes',
    refusal.meaning,
    refusal.remedy,
  ]);
  return `# Why a publication is refused

\`npm run generated-pages\` writes this page from \`data/refusals.json\`. The guards compare the files with the live publication; if nothing is live, as after a restore, with the one that was live last. They never compare with sample data. [Settings](settings.md#guards) have the thresholds. [A publication was refused](../operations.md#a-publication-was-refused) has the commands. A failed verification can't be forced.

${markdownTable(['reason', 'can be forced', 'meaning', 'what to do'], rows)}
`;
}
