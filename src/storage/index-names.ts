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

const DIGESTS = 'license-digests';

/** The index of the digest of a publication, by the name of its index of licenses. */
export function digestIndexName(prefix: string, licensesIndex: string): string {
  return `${prefix}${DIGESTS}${licensesIndex.slice(prefix.length + FAMILY.length)}`;
}

/** The parts of a name that `licensesIndexName` made with this prefix; `undefined` for any other name. */
export function parseLicensesIndexName(prefix: string, name: string): LicensesIndexName | undefined {
  if (!name.startsWith(prefix)) return undefined;
  const [, date, run] = NAME.exec(name.slice(prefix.length)) ?? [];
  return date === undefined || run === undefined ? undefined : { date, run };
}

/** The names of an installation's indices and of its alias. */
export interface IndexNames {
  /** The alias whose one index is the live publication. */
  readonly alias: string;
  /** The pattern of all physical indices of licenses. */
  readonly licensesPattern: string;
  /** The ledger of publications: appended events, and the epoch. */
  readonly ledger: string;
  /** The pattern of all indices of digests. */
  readonly digestsPattern: string;
  /** What changed from publication to publication. */
  readonly changes: string;
  /** What people saw of a license and saved. */
  readonly savedRecords: string;
  /** The rows that publications rejected. */
  readonly rejectedRows: string;
  /** The businesses that hold API keys. */
  readonly accounts: string;
  readonly apiKeys: string;
  /** What each API key was used for, by day. */
  readonly apiKeyUsage: string;
  /** What operators did. */
  readonly audit: string;
}

export function indexNames(prefix: string): IndexNames {
  return {
    alias: `${prefix}${FAMILY}`,
    licensesPattern: `${prefix}${FAMILY}-*`,
    digestsPattern: `${prefix}${DIGESTS}-*`,
    changes: `${prefix}changes`,
    savedRecords: `${prefix}saved-records`,
    ledger: `${prefix}publications`,
    rejectedRows: `${prefix}rejected-rows`,
    accounts: `${prefix}accounts`,
    apiKeys: `${prefix}api-keys`,
    apiKeyUsage: `${prefix}api-key-usage`,
    audit: `${prefix}audit`,
  };
}
