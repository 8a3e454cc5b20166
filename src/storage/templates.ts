import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import pLimit from 'p-limit';
import { z } from 'zod';
import { type Store, storedIndices } from './store.ts';

const FOLDER = new URL('../../index-templates/', import.meta.url);

const content = z.record(z.string(), z.unknown());
const template = z.object({
  index_patterns: z.array(z.string()),
  priority: z.int(),
  template: z.object({ settings: content, mappings: content }),
});

/** A composable index template from `index-templates/<family>.json`, without the installation's prefix. */
export async function indexTemplate(family: string): Promise<z.output<typeof template>> {
  return template.parse(JSON.parse(await readFile(new URL(`${family}.json`, FOLDER), 'utf8')));
}

const NOT_IN_TIME = 408;

/**
 * Installs the index templates, and creates the missing indices for data that must survive.
 *
 * @throws {Error} when an index has the name of the alias of the live publication
 */
export async function prepareIndices(store: Store): Promise<void> {
  const { indices, cluster } = store.client;
  await installTemplates(store);
  const lasting = Object.values(storedIndices(store.prefix));
  if (!(await indices.exists({ index: lasting })).body) {
    // OpenSearch starts four new shards at a time; the others wait for seconds.
    const inTurn = pLimit(4);
    await Promise.all(lasting.map((index) => inTurn(() => createIfMissing(store, index))));
  }
  // Another process may have created an index a moment ago. Such an index exists but cannot be searched yet. If waiting
  // times out, the first request that needs the index reports the problem.
  const untilSearchable = { index: lasting, wait_for_status: 'yellow', timeout: '10s' } as const;
  await cluster.health(untilSearchable, { ignore: [NOT_IN_TIME] });
  const { alias } = store.names;
  if ((await indices.exists({ index: alias })).body && !(await indices.existsAlias({ name: alias })).body) {
    throw new Error(
      `An index is named "${alias}", where the alias of the live publication belongs. Remove it.`,
    );
  }
}

/** Installs the templates. OpenSearch does not update its cluster state for a template that is already installed. */
async function installTemplates({ client, prefix }: Store): Promise<void> {
  const families = (await readdir(FOLDER)).map((file) => basename(file, '.json'));
  await Promise.all(
    families.map(async (family) => {
      const body = await indexTemplate(family);
      const index_patterns = body.index_patterns.map((pattern) => `${prefix}${pattern}`);
      await client.indices.putIndexTemplate({ name: prefix + family, body: { ...body, index_patterns } });
    }),
  );
}

async function createIfMissing({ client }: Store, index: string): Promise<void> {
  await client.indices.create({ index }).catch((error: unknown) => {
    const isThere = error instanceof Error && error.message.startsWith('resource_already_exists_exception');
    if (!isThere) throw error;
  });
}

/**
 * Creates the indices that an earlier version of the service did not have.
 *
 * @returns whether `prepareIndices` has ever run on this installation; if not, nothing is created
 */
export async function upgradeIndices(store: Store): Promise<boolean> {
  const { indices } = store.client;
  if ((await indices.exists({ index: Object.values(storedIndices(store.prefix)) })).body) return true;
  const isPrepared = (await indices.exists({ index: store.names.ledger })).body;
  if (isPrepared) await prepareIndices(store);
  return isPrepared;
}
