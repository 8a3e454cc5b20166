/** The steps of a publication, in order. */
export const PUBLISH_STEPS = [
  'downloading',
  'reading',
  'loading',
  'verifying',
  'comparing',
  'making durable',
  'going live',
] as const;

export type PublishStep = (typeof PUBLISH_STEPS)[number];

/** The steps whose beginning is an event in the ledger. */
const RECORDED_STEPS = ['reading', 'loading', 'verifying'] as const satisfies readonly PublishStep[];

/** The states of a publication: the event that the ledger has last. */
export const PUBLICATION_STATES = [
  'queued',
  ...RECORDED_STEPS,
  'live',
  'superseded',
  'rolled_back',
  'refused',
  'skipped',
  'failed',
] as const;

export type PublicationState = (typeof PUBLICATION_STATES)[number];
