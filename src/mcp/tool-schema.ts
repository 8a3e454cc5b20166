import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';

type JsonSchemaOf = StandardSchemaWithJSON['~standard']['jsonSchema']['input'];

/**
 * The same schema, its JSON Schemas computed once: each request has a server of its own, and the SDK asks for them
 * at every call (measured: a third of a call's CPU).
 */
export function computedOnce<Input, Output>(
  schema: StandardSchemaWithJSON<Input, Output>,
): StandardSchemaWithJSON<Input, Output> {
  const { jsonSchema, ...standard } = schema['~standard'];
  return {
    '~standard': {
      ...standard,
      jsonSchema: { input: once(jsonSchema.input), output: once(jsonSchema.output) },
    },
  };
}

/** As `computedOnce`, for results that the compiler has checked: they are not checked again at every call. */
export function trusted(schema: StandardSchemaWithJSON): StandardSchemaWithJSON {
  const standard = computedOnce(schema)['~standard'];
  return { '~standard': { ...standard, validate: (value) => ({ value }) } };
}

function once(convert: JsonSchemaOf): JsonSchemaOf {
  let converted: ReturnType<JsonSchemaOf> | undefined;
  return (options) => {
    converted ??= convert(options);
    return converted;
  };
}
