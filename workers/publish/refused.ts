/** The files must not be published. Trying again with the same files would end the same way. */
export class RefusedError extends Error {
  readonly reasons: readonly string[];

  /** @param reasons each in one sentence that an operator can act on */
  constructor(reasons: readonly string[]) {
    super(reasons.join(' '));
    this.reasons = reasons;
  }
}
