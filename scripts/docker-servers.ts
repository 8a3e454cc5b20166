import { run } from './processes.ts';
import { isInstalled } from './program-path.ts';

const DAEMON_MS = 5_000;
const INNER_PORTS = { opensearch: '9200', redis: '6379' } as const;
const SCHEMES = { opensearch: 'http', redis: 'redis' } as const;

/** The servers a checkout needs. */
export type ServerName = 'opensearch' | 'redis';

/** The addresses of running servers. */
export type Addresses = Partial<Record<ServerName, string>>;

/**
 * Starts the servers in `docker-compose.yml`, published on loopback ports chosen by docker.
 *
 * @param project the compose project name for this checkout
 * @returns `undefined` if docker, its compose plugin or a running daemon is missing
 */
export async function startDockerServers(
  project: string,
  wanted: readonly ServerName[],
  signal: AbortSignal,
): Promise<{ readonly addresses: Addresses; stop(): Promise<void> } | undefined> {
  if (!isInstalled('docker')) return undefined;
  // Other services in the file require settings that these two do not need.
  const env = { ...process.env, MCP_ALLOWED_HOSTS: 'localhost' };
  const compose = (args: readonly string[], options: Parameters<typeof run>[2] = {}) =>
    run('docker', ['compose', '--project-name', project, ...args], { env, ...options });
  const stop = async () => {
    await compose(['stop', ...wanted]);
  };
  try {
    await compose(['ps'], { withinMs: DAEMON_MS, signal });
  } catch {
    return undefined;
  }
  try {
    await compose(['up', '--wait', ...wanted], { signal });
    const addresses: Addresses = {};
    for (const name of wanted) {
      const published = await compose(['port', name, INNER_PORTS[name]], { signal });
      addresses[name] = `${SCHEMES[name]}://${published.trim()}`;
    }
    return { addresses, stop };
  } catch (error) {
    await stop().catch(() => undefined);
    throw error;
  }
}
