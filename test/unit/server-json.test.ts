import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import serverJson from '../../server.json' with { type: 'json' };
import { MCP_PATH } from '../../src/mcp/endpoint.ts';
import { serverCard } from '../../src/mcp/server-card.ts';

test('server.json has the version of package.json, and the path of the endpoint', () => {
  expect(serverJson.version).toBe(packageJson.version);
  expect(serverJson.remotes.map(({ url }) => url)).toEqual([
    expect.stringMatching(new RegExp(`^https://[^/]+${MCP_PATH}$`)),
  ]);
});

/** What SEP-2127 and the schema of the registry both ask of a server. `npm run check` has the registry's own schema. */
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

const CARD_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json';
const VERSION = /^20\d\d-\d\d-\d\d$/;
const card = described.extend({
  $schema: z.literal(CARD_SCHEMA),
  remotes: z.tuple([
    z.strictObject({
      type: z.literal('streamable-http'),
      url: z.url(),
      supportedProtocolVersions: z.array(z.string().regex(VERSION)).min(2),
    }),
  ]),
});

test('server.json describes the server, where its source is, and what to show', () => {
  const repository = z.strictObject({ url: z.url(), source: z.literal('github') });
  expect(described.extend({ repository }).safeParse(serverJson).error).toBeUndefined();
});

describe('the server card', () => {
  test.each([
    ['https://licenses.example.gov', 'gov.example.licenses'],
    ['https://licenses.example.gov:8443', 'gov.example.licenses'],
    ['http://10.0.0.1:8080', '1.0.0.10'],
    ['http://[2001:db8::1]', '-2001-db8--1-'],
  ])('of %s has a name in %s, and the address to connect to', (publicUrl, namespace) => {
    const { name, remotes, websiteUrl } = card.parse(serverCard({ PUBLIC_URL: publicUrl }));
    expect(name).toBe(`${namespace}/ohio-license-verification`);
    expect([websiteUrl, remotes[0].url]).toEqual([publicUrl, `${publicUrl}${MCP_PATH}`]);
  });

  test('does not say where to connect without a public address', () => {
    const { $schema, name, ...others } = serverCard({ PUBLIC_URL: undefined });
    expect([$schema, name]).toEqual([CARD_SCHEMA, 'localhost/ohio-license-verification']);
    expect(Object.keys(others)).toEqual(['title', 'description', 'version']);
  });
});
