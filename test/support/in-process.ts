import { jest } from '@jest/globals';
import { run } from '../../src/cli/main.ts';

/**
 * Runs `licenses` in this process with only these settings, for tests that run many commands: starting a process takes
 * half a second of CPU. Only one command may run at a time, because commands share the settings and the output.
 */
export async function command(variables: Readonly<Record<string, string>>, ...parameters: readonly string[]) {
  const written = { stdout: '', stderr: '' };
  const before = { env: process.env, exitCode: process.exitCode, listeners: listeners() };
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    jest.spyOn(process[stream], 'write').mockImplementation((text) => {
      written[stream] += String(text);
      return true;
    }),
  );
  process.env = { ...variables };
  process.exitCode = 0;
  try {
    const code = await run(parameters);
    return { code, ...written, output: written.stdout + written.stderr };
  } finally {
    process.env = before.env;
    process.exitCode = before.exitCode;
    for (const spy of spies) spy.mockRestore();
    for (const [signal, listener] of listeners())
      if (!before.listeners.some(([, each]) => each === listener)) process.removeListener(signal, listener);
  }
}

const listeners = () =>
  (['SIGINT', 'SIGTERM'] as const).flatMap((signal) =>
    process.listeners(signal).map((listener) => [signal, listener] as const),
  );
