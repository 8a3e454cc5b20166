import { Counter } from 'prom-client';

/** Counts stored documents that were left out by a reader, each time one is met. The registry of each process has it. */
export const badDocuments = new Counter({
  name: 'licenses_bad_documents_total',
  help: 'Stored documents that a reader left out because they are not valid, by index; each time one is met',
  labelNames: ['index'],
  registers: [],
});
