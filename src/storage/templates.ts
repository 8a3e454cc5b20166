import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Client } from '@opensearch-project/opensearch';
import pLimit from 'p-limit';
import { z } from 'zod';
import { STORED_INDICES } from './collection.ts';
import { isIndexThere, responseStatus } from './errors.ts';
import type { Store } from './store.ts';

const FOLDER = new URL('../../index-templates/', import.meta.url);

const content = z.record(z.string(), z.unknown());
const template = z.object({
  index_patterns: z.array(z.string()),
  priority: z.int(),
  template: z.object({ settings: content, mappings: content }),
});

/** A composable index template as `index-templates/<family>.json` has it, without the installation's prefix. */
export async function indexTemplate(family: string): Promise<z.output<typeof template>> {
  return template.parse(JSON.parse(await readFile(new URL(`${family}.json`, FOLDER), 'utf8')));
}

/**
 * Installs the index templates and creates the indices that hold what must survive, where they are missing.
 *
 * @throws {Error} when an index has the name of the alias of the live publication
 */
export async function prepareIndices(store: Store): Promise<void> {
  const { client } = store;
  await installTemplates(store);
  const lasting = lastingIndices(store);
  if (!(await client.indices.exists({ index: lasting })).body) {
    // OpenSearch starts four new shards at a time, and lets the others wait for seconds.
    const inTurn = pLimit(4);
    await Promise.all(lasting.map((index) => inTurn(() => createIfMissing(client, index))));
  }
  await untilSearchable(client, lasting);
  const { alias } = store.names;
  const { indices } = client;
  if ((await indices.exists({ index: alias })).body && !(await indices.existsAlias({ name: alias })).body) {
    throw new Error(
      `An index is named "${alias}", where the alias of the live publication belongs. Remove it.`,
    );
  }
}

/** Installs the templates. OpenSearch does not change its cluster's state for one that is installed already. */
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

function lastingIndices({ names }: Store): string[] {
  return STORED_INDICES.map((index) => names[index]);
}

/**
 * Creates what an earlier version of the service did not have.
 *
 * @returns whether `prepareIndices` has ever run on this installation; if not, nothing is created
 */
export async function upgradeIndices(store: Store): Promise<boolean> {
  const { indices } = store.client;
  if ((await indices.exists({ index: lastingIndices(store) })).body) return true;
  if (!(await indices.exists({ index: store.names.ledger })).body) return false;
  await prepareIndices(store);
  return true;
}

const NOT_IN_TIME = 408;

/** Another process may have created an index a moment ago: then it exists, but no search of it succeeds yet. */
async function untilSearchable(client: Client, index: string[]): Promise<void> {
  try {
    await client.cluster.health({ index, wait_for_status: 'yellow', timeout: '10s' });
  } catch (error) {
    // What needs the index says what is wrong with it.
    if (responseStatus(error) !== NOT_IN_TIME) throw error;
  }
}

async function createIfMissing(client: Client, index: string): Promise<void> {
  await client.indices.create({ index }).catch((error: unknown) => {
    if (!isIndexThere(error)) throw error;
  });
}
