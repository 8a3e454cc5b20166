/** The request is invalid. The message says what to send instead. */
export class BadRequestError extends Error {}
