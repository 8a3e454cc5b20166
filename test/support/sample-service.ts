import { liveLicensesIndex } from '../../src/publications/metadata.ts';
import { type ReadService, sharedService } from './shared-service.ts';

/** An API process that answers from what `npm start` publishes. */
export interface SampleService extends ReadService {
  /** Where it answers. */
  readonly url: string;
  /** The run date of the sample data, `YYYY-MM-DD`. */
  readonly date: string;
}

export async function startSampleService(): Promise<SampleService> {
  const service = await sharedService('sample');
  const { config, store } = service.environment;
  const live = await liveLicensesIndex(store);
  return { ...service, url: `http://127.0.0.1:${config.PORT}`, date: live?.metadata.date ?? '' };
}
