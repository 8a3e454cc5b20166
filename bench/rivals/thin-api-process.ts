import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { freePort } from '../../scripts/ports.ts';
import { type RunningProcess, startProcess } from '../../scripts/processes.ts';
import type { Contender } from '../rosters/measure.ts';
import { MARK, postLoad } from './rival.ts';

interface ThinApi {
  readonly name: string;
  readonly engine: string;
  readonly engineUrl: string;
  readonly engineIndex?: string;
  readonly redis: string;
}

/** Starts a thin API over an engine. */
export async function startThinApi({ name, engine, engineUrl, engineIndex = '', redis }: ThinApi): Promise<{
  readonly process: RunningProcess;
  readonly load: Omit<Contender['load'], 'path'>;
}> {
  const port = await freePort();
  const key = randomBytes(24).toString('hex');
  const api = startProcess(name, process.execPath, [join(import.meta.dirname, 'thin-api.ts')], {
    env: {
      PATH: process.env.PATH,
      [MARK]: name,
      ENGINE: engine,
      ENGINE_URL: engineUrl,
      ENGINE_INDEX: engineIndex,
      REDIS_URL: redis,
      PORT: String(port),
      KEY_SHA256: createHash('sha256').update(key).digest('hex'),
    },
  });
  await api.printed('ready');
  return { process: api, load: postLoad(port, key) };
}
