/** OpenSearch did not answer in time, or not in full. */
export class SearchUnavailableError extends Error {}

/** More is asked than can be answered in time. */
export class TooBusyError extends Error {}
