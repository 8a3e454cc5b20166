/** The message of the error of this class with which work is refused. @throws {Error} where it is not, or fails otherwise */
export function refusalOf(kind: new (message: string) => Error, work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof kind) return error.message;
    throw error;
  }
  throw new Error('It was not refused.');
}
