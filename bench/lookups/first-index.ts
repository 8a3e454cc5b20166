import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@opensearch-project/opensearch';

/** Splits `SURNAME, GIVEN` and leaves out what only this service's own queries use. */
const FIRST_FIELDS = `
  String name = ctx._source.full_name;
  int comma = name.indexOf(', ');
  ctx._source.last_name = comma < 0 ? name : name.substring(0, comma);
  ctx._source.first_name = comma < 0 ? '' : name.substring(comma + 2);
  ctx._source.remove('keys');`;

/**
 * The licenses of an index in one as one makes it first: a keyword each for board, surname and given names, no
 * order. What an earlier measurement made is used again.
 */
export async function firstIndex(
  client: Client,
  { from, to }: { from: string; to: string },
): Promise<string> {
  if (await isWhole(client, { from, to })) return to;
  await client.indices.delete({ index: to, ignore_unavailable: true });
  const keyword = { type: 'keyword' } as const;
  await client.indices.create({
    index: to,
    body: {
      settings: {
        'index.number_of_shards': 1,
        'index.number_of_replicas': 0,
        'index.refresh_interval': '1s',
      },
      mappings: {
        dynamic: false,
        properties: { board: keyword, last_name: keyword, first_name: keyword },
      },
    },
  });
  // Waited for, it answers with a warning in its headers for every batch: more than a client reads.
  await client.reindex({
    body: {
      source: { index: from, size: 5000 },
      dest: { index: to },
      script: { lang: 'painless', source: FIRST_FIELDS },
    },
    wait_for_completion: false,
  });
  while (!(await isWhole(client, { from, to }))) await sleep(2000);
  return to;
}

async function isWhole(client: Client, { from, to }: { from: string; to: string }): Promise<boolean> {
  const { body: isThere } = await client.indices.exists({ index: to });
  if (!isThere) return false;
  const [wanted, copied] = await Promise.all([from, to].map((index) => client.count({ index })));
  return wanted?.body.count === copied?.body.count;
}
