import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { Ajv, type ValidateFunction } from 'ajv';
import { z } from 'zod';
import serverJson from '../../server.json' with { type: 'json' };
import { describeUnless } from '../support/describe-unless.ts';
import { installedRequirements, pythonIsMissing } from '../support/python.ts';

const REQUIREMENTS = resolve(import.meta.dirname, '../mcp-clients/requirements.txt');
/** A linter that carries the registry's schemas unchanged (MIT). */
const SCHEMA = 'skillsaw/schemas/mcp_registry/v2025_12_11/server.schema.json';
const INSTALLED_WITHIN_MS = 300_000;

const schemaFile = z.looseObject({ $id: z.string() });

describeUnless(pythonIsMissing(), 'server.json, by the schema of the MCP registry', () => {
  let validate: ValidateFunction;

  beforeAll(async () => {
    const text = await readFile(join(await installedRequirements(REQUIREMENTS), SCHEMA), 'utf8');
    const schema = schemaFile.parse(JSON.parse(text));
    expect(schema.$id).toBe(serverJson.$schema);
    validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
  }, INSTALLED_WITHIN_MS);

  test('is valid', () => {
    validate(serverJson);
    expect(validate.errors).toBeNull();
  });

  test.each([
    ['a name without namespace', { name: 'ohio-license-verification' }],
    ['a description of 101 characters', { description: 'x'.repeat(101) }],
    ['a remote without address', { remotes: [{ type: 'streamable-http' }] }],
    ['no version', { version: undefined }],
  ])('would not be with %s', (_, changed) => {
    expect(validate(JSON.parse(JSON.stringify({ ...serverJson, ...changed })))).toBe(false);
  });
});
