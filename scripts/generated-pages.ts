import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { dependencyPage } from './dependency-page.ts';
import { limitsPage } from './limits-page.ts';
import { metricsPage } from './metrics-page.ts';
import { questionsPage } from './questions-page.ts';
import { recordPage } from './record-page.ts';
import { refusalsPage } from './refusals-page.ts';
import { requirementsPage } from './requirements-page.ts';
import { settingsPage } from './settings-page.ts';

/**
 * The pages that `npm run generated-pages` writes, by name, each with a function that makes it from the checkout alone.
 */
export const PAGES: ReadonlyMap<string, () => string> = new Map([
  ['dependencies.md', dependencyPage],
  ['limits.md', limitsPage],
  ['metrics.md', metricsPage],
  ['questions.md', questionsPage],
  ['record.md', recordPage],
  ['refusals.md', refusalsPage],
  ['requirements.md', requirementsPage],
  ['settings.md', settingsPage],
]);

/** The folder of these pages. It also contains the pages of measured tables. */
export const FOLDER = 'docs/generated';

if (import.meta.main) {
  for (const [name, page] of PAGES) writeFileSync(resolve(import.meta.dirname, '..', FOLDER, name), page());
}
