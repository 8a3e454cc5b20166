/** The metric series in `/metrics` of an admin port, by name and labels. */
export async function seriesAt(port: number, host = '127.0.0.1'): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`http://${host}:${port}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}

/** The value of one series. @throws {Error} when the series does not exist */
export async function valueAt(port: number, name: string): Promise<number> {
  const value = (await seriesAt(port)).get(name);
  if (value === undefined) throw new Error(`There is no series ${name}.`);
  return value;
}

/** The number of requests that an interface has answered or given up on. */
export async function requestsEnded(port: number, ofInterface: 'rest' | 'mcp'): Promise<number> {
  const ended = new RegExp(`^licenses_request_seconds_count\\{.*interface="${ofInterface}"`);
  const counts = [...(await seriesAt(port))].filter(([name]) => ended.test(name));
  return counts.reduce((sum, [, count]) => sum + count, 0);
}
