import { basename } from 'node:path';
import { z } from 'zod';

/** A gzip or zip file that can't be unpacked, or a zip file without exactly one CSV file. */
export class BrokenSourceError extends Error {}

/** The errors of zlib and of the zip library have a message; those of the file system also have a `syscall`. */
const errorShape = z.object({ message: z.string(), syscall: z.string().optional() });

/** The error to throw for one that occurred while unpacking. File system errors are returned as they are. */
export function unpackingError(path: string, format: 'gzip' | 'zip', error: unknown): unknown {
  const parsed = errorShape.safeParse(error);
  if (error instanceof BrokenSourceError || !parsed.success || parsed.data.syscall !== undefined)
    return error;
  const [reason] = parsed.data.message.split('. ');
  return new BrokenSourceError(
    `${basename(path)} can't be read as a ${format} file (${reason}); fetch or pack it again.`,
    { cause: error },
  );
}
