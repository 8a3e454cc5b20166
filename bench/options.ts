import { parseArgs } from 'node:util';
import { z } from 'zod';

/** The number of rows in the State's two files. */
export const ALL_ROWS = 2_600_000;

/** A numeric option with this default. */
export function number(standard: number) {
  return z.coerce.number().default(standard);
}

/** An optional text option. */
export const text = z.string().optional();

/**
 * The options of a measurement: `--NAME VALUE` for each name in the shape.
 *
 * @throws {Error} for an option that the shape does not have
 */
export function optionsOf<Shape extends z.ZodRawShape>(shape: Shape) {
  const names = Object.keys(shape).map((name) => [name, { type: 'string' }] as const);
  const { values } = parseArgs({ args: process.argv.slice(3), options: Object.fromEntries(names) });
  return z.object(shape).parse(values);
}
