/** The environment variable that names the file in which the tests note what they saw of each fault. */
export const TABLE_VARIABLE = 'FAULTS_SEEN';

/** What one test saw of one fault: a line of JSON. */
export interface RecordedFault {
  readonly fault: string;
  readonly hasPassed: boolean;
  /** What the fault hit: the step of a publication, or how many requests. */
  readonly hit: string;
  /** From the fault to the end of what it disturbed. */
  readonly seconds?: number;
  /** How it ended, beside what is checked after every fault. */
  readonly outcome: string;
}
