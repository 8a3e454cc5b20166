/** The environment variable that names the file in which the tests note what they saw of each fault. */
export const TABLE_VARIABLE = 'FAULTS_SEEN';

/** What one test saw of one fault: a line of JSON. */
export interface RecordedFault {
  readonly fault: string;
  readonly hasPassed: boolean;
  /** From the fault to the end of the publication. */
  readonly seconds?: number;
  readonly outcome: string;
}
