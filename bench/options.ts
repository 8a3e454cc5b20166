import { parseArgs } from 'node:util';
import { z } from 'zod';

/** As many rows as the State's two files have. */
export const ALL_ROWS = 2_600_000;

/** A number that the command line may replace. */
export function number(standard: number) {
  return z.coerce.number().default(standard);
}

/** A text that the command line may give. */
export const text = z.string().optional();

/**
 * The options of the measurement: `--NAME VALUE` for each name of the shape.
 *
 * @throws {Error} for an option that the shape does not have
 */
export function optionsOf<Shape extends z.ZodRawShape>(shape: Shape) {
  const names = Object.keys(shape).map((name) => [name, { type: 'string' }] as const);
  const { values } = parseArgs({ args: process.argv.slice(3), options: Object.fromEntries(names) });
  return z.object(shape).parse(values);
}
