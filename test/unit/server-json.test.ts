import { expect, test } from '@jest/globals';
import packageJson from '../../package.json' with { type: 'json' };
import serverJson from '../../server.json' with { type: 'json' };
import { MCP_PATH } from '../../src/mcp/endpoint.ts';

test('server.json has the version of package.json, and the path of the endpoint', () => {
  expect(serverJson.version).toBe(packageJson.version);
  expect(serverJson.remotes.map(({ url }) => url)).toEqual([
    expect.stringMatching(new RegExp(`^https://[^/]+${MCP_PATH}$`)),
  ]);
});
