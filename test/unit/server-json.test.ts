import { expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import serverJson from '../../server.json' with { type: 'json' };
import { MCP_PATH } from '../../src/mcp/endpoint.ts';

const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength });

/**
 * What the registry's schema of 2025-12-11, and its own checks beyond the schema, ask of a server that is only
 * reached by address. Stricter than the schema: it has no field that the registry does not know.
 */
const RULES = {
  type: 'object',
  additionalProperties: false,
  required: ['$schema', 'name', 'title', 'description', 'version', 'remotes'],
  properties: {
    $schema: { const: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json' },
    name: {
      ...text(200),
      pattern: '^[a-zA-Z0-9][a-zA-Z0-9.-]*[a-zA-Z0-9]/[a-zA-Z0-9][a-zA-Z0-9._-]*[a-zA-Z0-9]$',
    },
    title: { ...text(100), pattern: '\\S' },
    description: text(100),
    version: { ...text(255), pattern: '^\\d+\\.\\d+\\.\\d+(-[0-9A-Za-z.-]+)?$' },
    websiteUrl: { type: 'string', pattern: '^https://' },
    repository: {
      type: 'object',
      additionalProperties: false,
      required: ['url', 'source'],
      properties: {
        url: { type: 'string', pattern: '^https://(github|gitlab)\\.com/.' },
        source: { enum: ['github', 'gitlab'] },
      },
    },
    remotes: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['type', 'url'],
        properties: {
          type: { const: 'streamable-http' },
          url: { type: 'string', pattern: '^https://(?!localhost|127\\.)[^/]+/' },
          variables: {
            type: 'object',
            additionalProperties: {
              type: 'object',
              additionalProperties: false,
              required: ['description'],
              properties: {
                description: { type: 'string' },
                isRequired: { type: 'boolean' },
                default: { type: 'string' },
                placeholder: { type: 'string' },
              },
            },
          },
        },
      },
    },
  },
};

const isValid = new Ajv({ allErrors: true }).compile(RULES);

const remote = z
  .object({
    url: z.string(),
    variables: z.record(z.string(), z.object({ placeholder: z.string() })).default({}),
  })
  .parse(serverJson.remotes[0]);

/** The address as it is where whoever hosts it is called as the placeholders say. */
const address = new URL(
  Object.entries(remote.variables).reduce(
    (url, [name, { placeholder }]) => url.replaceAll(`{${name}}`, placeholder),
    remote.url,
  ),
);

test('server.json is as the MCP registry takes it', () => {
  isValid(serverJson);
  expect(isValid.errors).toBeNull();
});

test.each([
  ['a name without namespace', { name: 'ohio-license-verification' }],
  ['a name with two slashes', { name: 'com.example/ohio/licenses' }],
  ['a description of 101 characters', { description: 'x'.repeat(101) }],
  ['a title of blanks', { title: ' ' }],
  ['a range of versions', { version: '^0.1.0' }],
  [
    'another schema',
    { $schema: 'https://static.modelcontextprotocol.io/schemas/2025-10-17/server.schema.json' },
  ],
  ['a field that the registry does not know', { tools: [] }],
  [
    'a remote without TLS',
    { remotes: [{ type: 'streamable-http', url: 'http://licenses.example.gov/mcp' }] },
  ],
  ['a remote on loopback', { remotes: [{ type: 'streamable-http', url: 'https://127.0.0.1/mcp' }] }],
  ['another transport', { remotes: [{ type: 'sse', url: 'https://licenses.example.gov/mcp' }] }],
  ['no remote', { remotes: [] }],
])('%s would be noticed', (_, changed) => {
  expect(isValid({ ...serverJson, ...changed })).toBe(false);
});

test('every variable of the address is described, and no other', () => {
  const used = [...remote.url.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  expect(Object.keys(remote.variables)).toEqual(used);
});

test('server.json has the name and the version of package.json', () => {
  expect(serverJson.name.split('/')[1]).toBe(packageJson.name);
  expect(serverJson.version).toBe(packageJson.version);
});

test('the address is the endpoint’s', () => {
  expect(address.pathname).toBe(MCP_PATH);
});
