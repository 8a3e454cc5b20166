import { writeFile } from 'node:fs/promises';
import { generatedFiles } from './reports/documents.ts';

/** Writes the tables and charts of the documents from the raw results in docs/performance. */
for (const [path, text] of await generatedFiles()) await writeFile(path, text);
