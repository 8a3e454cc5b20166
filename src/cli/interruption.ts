/** Aborted by Ctrl-C, and when the process is asked to end. A second Ctrl-C ends it at once. */
export function interruption(): AbortController {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => interrupted.abort(new Error('Interrupted.')));
  return interrupted;
}
