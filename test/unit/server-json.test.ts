import { expect, test } from '@jest/globals';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import serverJson from '../../server.json' with { type: 'json' };
import { MCP_PATH } from '../../src/mcp/endpoint.ts';

test('server.json has the version of package.json, and the path of the endpoint', () => {
  expect(serverJson.version).toBe(packageJson.version);
  expect(serverJson.remotes.map(({ url }) => url)).toEqual([
    expect.stringMatching(new RegExp(`^https://[^/]+${MCP_PATH}$`)),
  ]);
});

/** What the schema of the registry asks of a server. `npm run check` has the registry's own schema. */
const described = z.object({
  name: z
    .string()
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  version: z.string().max(255),
  websiteUrl: z.url(),
  icons: z.array(z.strictObject({ src: z.url(), mimeType: z.string(), sizes: z.array(z.string()) })).min(1),
});

test('server.json describes the server, where its source is, and what to show', () => {
  const repository = z.strictObject({ url: z.url(), source: z.literal('github') });
  expect(described.extend({ repository }).safeParse(serverJson).error).toBeUndefined();
});
