import { once } from 'node:events';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { RunningProcess } from '../../scripts/processes.ts';

/** Code of this service and of its packages, and what a package compiled itself; Node's own is left out. */
const ROOT = pathToFileURL(resolve(import.meta.dirname, '../..')).href;
const COUNTED = new RegExp(`^($|${ROOT}/(src|node_modules)/)`);

const reply = z.object({ id: z.int(), result: z.unknown() });

const coverage = z.object({
  result: z.array(
    z.object({
      url: z.string(),
      functions: z.array(z.object({ ranges: z.array(z.object({ count: z.int() })).min(1) })),
    }),
  ),
});

/** Counts the function calls of a process. */
export interface FunctionCalls {
  /** How many calls a piece of work causes. */
  during(work: () => Promise<unknown>): Promise<number>;
  /** The files of `src` whose functions a piece of work calls. */
  filesDuring(work: () => Promise<unknown>): Promise<readonly string[]>;
  close(): void;
}

/**
 * Counts by V8's precise coverage, which is exact: the same work makes the same calls on every machine.
 *
 * @param started with `NODE_OPTIONS=--inspect=127.0.0.1:0`
 */
export async function functionCalls(started: RunningProcess): Promise<FunctionCalls> {
  const [address = ''] = /ws:\/\/\S+/.exec(started.output()) ?? [];
  const socket = new WebSocket(address);
  await once(socket, 'open');
  const waiting = new Map<number, (result: unknown) => void>();
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = reply.parse(JSON.parse(String(data)));
    waiting.get(id)?.(result);
    waiting.delete(id);
  });

  let sent = 0;
  function send(method: string, params: object = {}): Promise<unknown> {
    sent += 1;
    const id = sent;
    socket.send(JSON.stringify({ id, method, params }));
    return new Promise((answered) => waiting.set(id, answered));
  }

  /** The calls since the last time, by file. */
  async function taken(): Promise<readonly { readonly url: string; readonly count: number }[]> {
    const scripts = coverage.parse(await send('Profiler.takePreciseCoverage')).result;
    return scripts
      .filter(({ url }) => COUNTED.test(url))
      .map(({ url, functions }) => ({
        url,
        count: functions.reduce((sum, { ranges }) => sum + (ranges[0]?.count ?? 0), 0),
      }));
  }

  await send('Profiler.enable');
  await send('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return {
    during: async (work) => {
      await taken();
      await work();
      return (await taken()).reduce((sum, { count }) => sum + count, 0);
    },
    filesDuring: async (work) => {
      await taken();
      await work();
      const called = (await taken()).filter(({ url, count }) => url.startsWith(`${ROOT}/src/`) && count > 0);
      return called.map(({ url }) => url.slice(`${ROOT}/`.length)).toSorted();
    },
    close: () => socket.close(),
  };
}
