import { expect, test } from '@jest/globals';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import serverJson from '../../server.json' with { type: 'json' };
import { MCP_PATH } from '../../src/mcp/endpoint.ts';

const remote = z
  .object({
    type: z.literal('streamable-http'),
    url: z.string(),
    variables: z.record(z.string(), z.object({ placeholder: z.string() })),
  })
  .parse(serverJson.remotes[0]);

/** The address where whoever hosts it is called as the placeholders say. */
const address = new URL(
  Object.entries(remote.variables).reduce(
    (url, [name, { placeholder }]) => url.replaceAll(`{${name}}`, placeholder),
    remote.url,
  ),
);

test('server.json has the name and the version of package.json', () => {
  expect(serverJson.name.split('/')[1]).toBe(packageJson.name);
  expect(serverJson.version).toBe(packageJson.version);
});

test('server.json has the address of the endpoint, with https and without unresolved variables', () => {
  expect([address.protocol, address.pathname]).toEqual(['https:', MCP_PATH]);
  const used = [...remote.url.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  expect(Object.keys(remote.variables)).toEqual(used);
});
