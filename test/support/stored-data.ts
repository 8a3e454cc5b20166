import { readFile, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Store } from '../../src/storage/store.ts';
import { documentsIn } from './documents.ts';

/** Replaces the installation's index prefix in the file. */
const PREFIX = '{prefix}';

/** Settings that OpenSearch itself assigns to an index. */
const OWN_SETTINGS = new Set(['creation_date', 'uuid', 'version', 'provided_name']);

const json = z.record(z.string(), z.unknown());
const aliases = z.record(z.string(), z.object({}));
const storedIndex = z.object({
  index: z.string(),
  aliases,
  mappings: json,
  settings: z.object({ index: json }),
  /** Set after the documents have been written, because one of them forbids writing. */
  blocks: json,
  /** The documents in the order in which they were written. */
  documents: z.array(z.object({ id: z.string(), source: json })),
});

const settings = z.object({ index: z.looseObject({ blocks: json.optional() }) });
const definitions = z.record(z.string(), z.object({ aliases, mappings: json, settings }));

/** Writes every index of an installation to a file, one JSON line each: definition, aliases and documents. */
export async function saveStoredData(store: Store, file: string): Promise<void> {
  await store.client.indices.refresh({ index: `${store.prefix}*` });
  const { body } = await store.client.indices.get({ index: `${store.prefix}*` });
  const lines: string[] = [];
  for (const [index, definition] of Object.entries(definitions.parse(body)).toSorted()) {
    const { blocks = {}, ...others } = definition.settings.index;
    const kept = Object.entries(others).filter(([name]) => !OWN_SETTINGS.has(name));
    const settings = { index: Object.fromEntries(kept) };
    const line = { index, ...definition, settings, blocks, documents: await documentsIn(store, index) };
    lines.push(JSON.stringify(line));
  }
  await writeFile(file, `${lines.join('\n')}\n`.replaceAll(store.prefix, PREFIX));
}

/** Reads a file written by `saveStoredData`. */
export async function readStoredData(file: string, prefix = PREFIX) {
  const text = await readFile(file, 'utf8');
  const lines = text.trimEnd().replaceAll(PREFIX, prefix).split('\n');
  return lines.map((line) => storedIndex.parse(JSON.parse(line)));
}

/** Creates the indices in a file of `saveStoredData` under another prefix, without using index templates. */
export async function loadStoredData(store: Store, file: string): Promise<void> {
  for (const stored of await readStoredData(file, store.prefix)) {
    const { index, documents, blocks, ...definition } = stored;
    await store.client.indices.create({ index, body: definition });
    for (const { id, source } of documents) await store.client.index({ index, id, body: source });
    if (Object.keys(blocks).length > 0) await store.client.indices.putSettings({ index, body: { blocks } });
  }
  await store.client.indices.refresh({ index: `${store.prefix}*` });
}
