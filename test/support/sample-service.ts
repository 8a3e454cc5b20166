import { writeSampleData } from '../../sample-data/write-sample-data.ts';
import { startSample } from '../../scripts/welcome.ts';
import { startService, type TestService } from './service.ts';

/** An API process that answers from what `npm start` publishes. */
export interface SampleService extends TestService {
  /** Where it answers. */
  readonly url: string;
  /** The run date of the sample data, `YYYY-MM-DD`. */
  readonly date: string;
}

export async function startSampleService(): Promise<SampleService> {
  const sample = startSample();
  const service = await startService({
    files: (folder) => writeSampleData({ directory: folder, ...sample }),
  });
  return { ...service, url: `http://127.0.0.1:${service.environment.config.PORT}`, date: sample.date };
}
