import { once } from 'node:events';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { RunningProcess } from '../../scripts/processes.ts';

const ROOT = `${pathToFileURL(resolve(import.meta.dirname, '../..')).href}/`;

const reply = z.object({ id: z.int(), result: z.unknown() });

const coverage = z.object({
  result: z.array(
    z.object({
      url: z.string(),
      functions: z.array(z.object({ ranges: z.array(z.object({ count: z.int() })).min(1) })),
    }),
  ),
});

/**
 * Finds which files of `src` a process executes, using V8's precise coverage. The same work calls the same files on
 * every machine.
 *
 * @param started a process with `NODE_OPTIONS=--inspect=127.0.0.1:0`
 */
export async function calledFiles(started: RunningProcess) {
  const [address = ''] = /ws:\/\/\S+/.exec(started.output()) ?? [];
  const socket = new WebSocket(address);
  await once(socket, 'open');

  /** Sends one command and waits for its result. */
  async function send(method: string, params: object = {}): Promise<unknown> {
    socket.send(JSON.stringify({ id: 1, method, params }));
    const [{ data }] = z.tuple([z.object({ data: z.string() })]).parse(await once(socket, 'message'));
    return reply.parse(JSON.parse(data)).result;
  }

  await send('Profiler.enable');
  await send('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return {
    /** The files whose functions are called during the work. */
    during: async (work: () => Promise<unknown>): Promise<readonly string[]> => {
      await send('Profiler.takePreciseCoverage');
      await work();
      const { result } = coverage.parse(await send('Profiler.takePreciseCoverage'));
      return result
        .filter(({ functions }) => functions.some(({ ranges: [whole] }) => (whole?.count ?? 0) > 0))
        .flatMap(({ url }) => (url.startsWith(`${ROOT}src/`) ? [url.slice(ROOT.length)] : []))
        .toSorted();
    },
    close: () => socket.close(),
  };
}
