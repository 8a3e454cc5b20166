const FAMILY = 'licenses';
const NAME = /^licenses-(\d{4}-\d{2}-\d{2})-([a-z0-9]+)$/;

/** What the name of a physical index of licenses says. */
export interface LicensesIndexName {
  /** The dataset's run date, `YYYY-MM-DD`. */
  readonly date: string;
  /** The build, unique for each attempt. */
  readonly run: string;
}

/** `licenses-<date>-<run>`, behind the prefix of this installation. */
export function licensesIndexName(prefix: string, { date, run }: LicensesIndexName): string {
  return `${prefix}${FAMILY}-${date}-${run}`;
}

/** The parts of a name that `licensesIndexName` made with this prefix; `undefined` for any other name. */
export function parseLicensesIndexName(prefix: string, name: string): LicensesIndexName | undefined {
  if (!name.startsWith(prefix)) return undefined;
  const [, date, run] = NAME.exec(name.slice(prefix.length)) ?? [];
  return date === undefined || run === undefined ? undefined : { date, run };
}

/** The pattern of all physical indices of licenses. */
export function licensesIndexPattern(prefix: string): string {
  return `${prefix}${FAMILY}-*`;
}

/** The alias whose one index is the live publication. */
export function licensesAlias(prefix: string): string {
  return `${prefix}${FAMILY}`;
}

/** The ledger of publications: appended events, and the epoch. */
export function ledgerIndex(prefix: string): string {
  return `${prefix}publications`;
}

/** The rows that publications rejected. */
export function rejectedRowsIndex(prefix: string): string {
  return `${prefix}rejected-rows`;
}

/** The API keys. */
export function apiKeysIndex(prefix: string): string {
  return `${prefix}api-keys`;
}

/** What each API key was used for, by day. */
export function apiKeyUsageIndex(prefix: string): string {
  return `${prefix}api-key-usage`;
}

/** The businesses that hold API keys. */
export function accountsIndex(prefix: string): string {
  return `${prefix}accounts`;
}

/** What operators did. */
export function auditIndex(prefix: string): string {
  return `${prefix}audit`;
}
