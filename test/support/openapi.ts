import { expect } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import type { ApiAnswer } from './api.ts';

const example = z.looseObject({ value: z.unknown() });
const media = z.looseObject({ schema: z.unknown(), examples: z.record(z.string(), example).default({}) });
const content = z.record(z.string(), media).default({});
const headers = z.record(z.string(), z.unknown()).default({});
const operation = z.looseObject({
  responses: z.record(z.string(), z.looseObject({ description: z.string(), headers, content })),
  parameters: z.array(z.looseObject({ in: z.string(), name: z.string() })).default([]),
  requestBody: z.looseObject({ content }).optional(),
});
const key = z.looseObject({ description: z.string() });
const openApiShape = z.looseObject({
  openapi: z.string(),
  components: z.looseObject({ securitySchemes: z.object({ key }) }),
  paths: z.record(z.string(), z.record(z.string(), operation)),
});

export type OpenApi = z.output<typeof openApiShape>;

/** The OpenAPI document in a server's response. */
export function openApiIn(answer: ApiAnswer): OpenApi {
  expect(answer.status).toBe(200);
  return openApiShape.parse(answer.body);
}

/** The request bodies that the document gives as examples. */
export function requestExamples(document: OpenApi, method: string, path: string): unknown[] {
  const media = document.paths[path]?.[method]?.requestBody?.content[JSON_TYPE];
  return Object.values(media?.examples ?? {}).map(({ value }) => value);
}

/** The response bodies that the document gives as examples, by name. */
export function responseExamples(document: OpenApi, method: string, path: string, status: string) {
  const media = document.paths[path]?.[method]?.responses[status]?.content[JSON_TYPE];
  return Object.fromEntries(Object.entries(media?.examples ?? {}).map(([name, { value }]) => [name, value]));
}

/** The document's description of API keys. */
export const keyScheme = (document: OpenApi): { description: string } =>
  document.components.securitySchemes.key;

const JSON_TYPE = 'application/json';

const described = z.looseObject({ enum: z.array(z.unknown()).optional() });

/** Converts `nullable` of OpenAPI 3.0 to a null type in JSON Schema. */
function withNullTypes(part: unknown): object {
  const text = JSON.stringify(part, (_name, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('nullable' in value)) return value;
    const { nullable, type, enum: values, ...rest } = described.parse(value);
    if (nullable !== true) return value;
    if (type === undefined) return { anyOf: [rest, { type: 'null' }] };
    return { ...rest, type: [type, 'null'], ...(values && { enum: [...values, null] }) };
  });
  return z.looseObject({}).parse(JSON.parse(text));
}

/** Validates values against the schemas in the document. */
function schemasOf(document: OpenApi) {
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { uri: URL.canParse } });
  ajv.addSchema(withNullTypes(document), 'openapi.json');
  return (place: readonly string[], value: unknown): void => {
    const path = place.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
    const validate = ajv.getSchema(`openapi.json#${encodeURI(path)}`);
    if (validate === undefined) throw new Error(`The document has no schema at ${path}.`);
    validate(value);
    expect([path, validate.errors ?? []]).toEqual([path, []]);
  };
}

/**
 * Returns a check that fails unless the document covers a response: its status, headers, media type and every field of
 * its body.
 */
export function answerChecker(document: OpenApi) {
  const check = schemasOf(document);
  return (method: string, path: string, { status, headers, body }: ApiAnswer): void => {
    const response = document.paths[path]?.[method]?.responses[String(status)];
    if (response === undefined) throw new Error(`${method} ${path} is not documented to answer ${status}.`);
    for (const name of Object.keys(response.headers)) expect([name, headers.has(name)]).toEqual([name, true]);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    check(['paths', path, method, 'responses', String(status), 'content', JSON_TYPE, 'schema'], body);
  };
}

/** Fails unless every example fits its schema. Returns the number of examples. */
export function checkExamples(document: OpenApi): number {
  const check = schemasOf(document);
  let checked = 0;
  function checkAll(place: readonly string[], { [JSON_TYPE]: media }: z.output<typeof content>): void {
    for (const { value } of Object.values(media?.examples ?? {})) {
      check([...place, 'content', JSON_TYPE, 'schema'], value);
      checked += 1;
    }
  }
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { requestBody, responses }] of Object.entries(methods)) {
      if (requestBody !== undefined) checkAll(['paths', path, method, 'requestBody'], requestBody.content);
      for (const [status, response] of Object.entries(responses))
        checkAll(['paths', path, method, 'responses', status], response.content);
    }
  }
  return checked;
}
