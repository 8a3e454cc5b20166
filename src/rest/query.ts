import type { RouterContext } from '@koa/router';
import type { z } from 'zod';
import { BadRequestError, checked } from '../licenses/bad-request.ts';

/**
 * The query parameters of a request.
 *
 * @throws {BadRequestError} with the first message of the schema; for a parameter that is sent twice, with its name
 */
export function queryOf<Schema extends z.ZodType>(
  { query }: Pick<RouterContext, 'query'>,
  schema: Schema,
): z.output<Schema> {
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) throw new BadRequestError(`${name} is sent twice; send it once.`);
  }
  return checked(schema, query);
}
