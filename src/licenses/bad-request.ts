/** The request can't be understood; the message says what to send instead. */
export class BadRequestError extends Error {}
