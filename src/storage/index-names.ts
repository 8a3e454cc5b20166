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
export type IndexNames = Readonly<ReturnType<typeof indexNames>>;

/** @param prefix the installation's `INDEX_PREFIX` */
export function indexNames(prefix: string) {
  return {
    /** The alias whose one index is the live publication. */
    alias: `${prefix}${FAMILY}`,
    /** The pattern of all physical indices of licenses. */
    licensesPattern: `${prefix}${FAMILY}-*`,
    /** The pattern of all indices of digests. */
    digestsPattern: `${prefix}${DIGESTS}-*`,
    /** What changed from publication to publication. */
    changes: `${prefix}changes`,
    /** What people saw of a license and saved. */
    savedRecords: `${prefix}saved-records`,
    /** The ledger of publications: appended events, and the epoch. */
    ledger: `${prefix}publications`,
    /** The rows that publications rejected. */
    rejectedRows: `${prefix}rejected-rows`,
    /** The businesses that hold API keys. */
    accounts: `${prefix}accounts`,
    apiKeys: `${prefix}api-keys`,
    /** What each API key was used for, by day. */
    apiKeyUsage: `${prefix}api-key-usage`,
    /** What operators did. */
    audit: `${prefix}audit`,
  };
}
