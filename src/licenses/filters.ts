import { distinctKeys, fold, memoize, visibleText } from './fold.ts';

/** What filters read of a license. */
type Filtered = Readonly<
  Record<'license_type' | 'status' | 'raw_status' | 'city' | 'county', string | null> & {
    extra_data: Record<string, string>;
  }
>;

/** A filter of searches by name. A license matches when one of its keys is the filter's folded value. */
export interface Filter {
  /** The folded values of a license. They are stored in `keys`, under the filter's name. */
  readonly keysOf: (license: Filtered) => readonly string[];
  readonly description: string;
  readonly examples: Readonly<Record<'person' | 'business', readonly [string, ...string[]]>>;
}

const foldedKey = memoize((text) => distinctKeys([fold(text)]));

/** The folded forms of a license type. `Registered Nurse (RN)` has three: the whole, the name and the abbreviation. */
export const licenseTypeKeys = memoize((written) => {
  const licenseType = visibleText(written);
  const open = licenseType.indexOf('(');
  if (open < 0 || !licenseType.endsWith(')')) return distinctKeys([fold(licenseType)]);
  return distinctKeys([licenseType, licenseType.slice(0, open), licenseType.slice(open)].map(fold));
});

function statusKeys({ status, raw_status: raw }: Filtered): readonly string[] {
  const [primary, whole] = [foldedKey(status ?? ''), foldedKey(raw ?? '')];
  return primary[0] === whole[0] ? primary : [...primary, ...whole];
}

/**
 * The filters of every interface. To add one, add its name here and its key to `index-templates/licenses.json`. The
 * compiler then reports the other places, all of them in this file.
 */
export const FILTER_NAMES = ['license_type', 'status', 'city', 'county'] as const;

export type FilterName = (typeof FILTER_NAMES)[number];

const FILTERS: Readonly<Record<FilterName, Filter>> = {
  license_type: {
    keysOf: ({ license_type: type }) => licenseTypeKeys(type ?? ''),
    description: 'Only licenses of this type, as the list of boards names it, or its abbreviation',
    examples: {
      person: ['Registered Nurse (RN)', 'LPN'],
      business: ['Terminal Distributor of Dangerous Drugs'],
    },
  },
  status: {
    keysOf: statusKeys,
    description: 'Only licenses with this primary status or whole raw_status',
    examples: { person: ['ACTIVE', 'INACTIVE', 'CLOSED'], business: ['ACTIVE', 'INACTIVE', 'CLOSED'] },
  },
  city: {
    keysOf: ({ city }) => foldedKey(city ?? ''),
    description: 'Only holders in this city',
    examples: { person: ['Columbus'], business: ['Columbus'] },
  },
  county: {
    keysOf: ({ county }) => foldedKey(county ?? ''),
    description: 'Only holders in this county; one of another state may have the same name',
    examples: { person: ['Franklin'], business: ['Franklin'] },
  },
};

/** The filters of a request, as typed. */
export type Filters = { readonly [Name in FilterName]?: string | undefined };

/** Whether any filter is set. */
export function hasFilters(filters: Filters): boolean {
  return FILTER_NAMES.some((name) => filters[name] !== undefined);
}

/** Applies a function to each filter and returns the results by filter name. */
export function mapFilters<Result>(
  make: (filter: Filter, name: FilterName) => Result,
): Record<FilterName, Result> {
  const made = (name: FilterName) => make(FILTERS[name], name);
  return {
    license_type: made('license_type'),
    status: made('status'),
    city: made('city'),
    county: made('county'),
  };
}
