/** The two status fields of a record (specification 2.2). */
export interface RecordStatus {
  /** The primary status in upper case. */
  readonly status: string | null;
  /** `<Primary>` or `<Primary> - <Sub-status>`, as the board wrote them. */
  readonly raw_status: string | null;
}

/** From the STATUS and SUB_STATUS columns, either of which may be blank. */
export function recordStatus(primary: string, sub: string): RecordStatus {
  return {
    status: primary === '' ? null : primary.toUpperCase(),
    raw_status: [primary, sub].filter((part) => part !== '').join(' - ') || null,
  };
}
