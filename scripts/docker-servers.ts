import { isInstalled } from './program-path.ts';
import { run } from './programs.ts';
import { type Addresses, checkoutName, type ServerName } from './shared-servers.ts';

const DAEMON_MS = 5_000;
const INNER_PORTS = { opensearch: '9200', redis: '6379' } as const;
const SCHEMES = { opensearch: 'http', redis: 'redis' } as const;

/** Servers in containers. */
export interface DockerServers {
  readonly addresses: Addresses;
  stop(): Promise<void>;
}

/** Whether containers can be started here: the client, its compose plugin and a daemon that answers. */
export async function dockerAnswers(): Promise<boolean> {
  if (!isInstalled('docker')) return false;
  try {
    await run('docker', ['compose', 'version'], { withinMs: DAEMON_MS });
    await run('docker', ['info'], { withinMs: DAEMON_MS });
    return true;
  } catch {
    return false;
  }
}

/** Starts the servers of `docker-compose.yml`, published on loopback ports that docker picks. */
export async function startDockerServers(
  stateDir: string,
  wanted: readonly ServerName[],
  signal: AbortSignal,
): Promise<DockerServers> {
  const compose = (args: readonly string[], interruptible?: AbortSignal) =>
    run('docker', ['compose', '--project-name', checkoutName(stateDir), ...args], {
      // The file's other services name settings that these two don't need.
      env: { ...process.env, MCP_ALLOWED_HOSTS: 'localhost' },
      ...(interruptible === undefined ? {} : { signal: interruptible }),
    });
  const stop = async () => {
    await compose(['stop', ...wanted]);
  };
  try {
    await compose(['up', '--wait', ...wanted], signal);
    const addresses: Addresses = {};
    for (const name of wanted) {
      const published = await compose(['port', name, INNER_PORTS[name]], signal);
      addresses[name] = `${SCHEMES[name]}://${published.trim()}`;
    }
    return { addresses, stop };
  } catch (error) {
    await stop().catch(() => undefined);
    throw error;
  }
}
