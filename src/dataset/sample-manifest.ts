import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { InspectedFile } from './source-file.ts';

const sampleManifest = z.object({
  generated: z.literal(true),
  sha256: z.object({ individual: z.string(), business: z.string() }),
});

/** Whether `licenses sample-data` wrote the file: the manifest in its folder lists its hash. */
export async function isSampleFile(file: InspectedFile): Promise<boolean> {
  try {
    const text = await readFile(join(dirname(file.path), 'sample.json'), 'utf8');
    const { sha256 } = sampleManifest.parse(JSON.parse(text));
    return sha256.individual === file.sha256 || sha256.business === file.sha256;
  } catch {
    return false;
  }
}
