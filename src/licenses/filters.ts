import DESCRIPTIONS from '../../data/filters.json' with { type: 'json' };
import { distinctKeys, fold, memoize, visibleText } from './fold.ts';

/** The fields of a license that filters read. */
type Filtered = Readonly<Record<'license_type' | 'status' | 'raw_status' | 'city' | 'county', string | null>>;

/** A filter of searches by name. A license matches when one of its keys is the filter's folded value. */
export type Filter = (typeof FILTERS)[FilterName];

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
 * compiler then reports the other places, all of them in this file and in `data/filters.json`.
 */
export const FILTER_NAMES = ['license_type', 'status', 'city', 'county'] as const;

export type FilterName = (typeof FILTER_NAMES)[number];

/** The folded values of a license. They are stored in `keys`, under the filter's name. */
type KeysOf = (license: Filtered) => readonly string[];

const FILTERS = {
  license_type: filter('license_type', ({ license_type: type }) => licenseTypeKeys(type ?? '')),
  status: filter('status', statusKeys),
  city: filter('city', ({ city }) => foldedKey(city ?? '')),
  county: filter('county', ({ county }) => foldedKey(county ?? '')),
};

function filter(name: FilterName, keysOf: KeysOf) {
  return { ...DESCRIPTIONS[name], keysOf };
}

/** The filters of a request, as typed. */
export type Filters = { readonly [Name in FilterName]?: string | undefined };

/** Whether any filter is set. */
export function hasFilters(filters: Filters): boolean {
  return FILTER_NAMES.some((name) => filters[name] !== undefined);
}

/** Applies a function to each filter and returns the results by filter name. */
export function mapFilters<Result>(make: (filter: Filter, name: FilterName) => Result) {
  const made = (name: FilterName) => make(FILTERS[name], name);
  return {
    license_type: made('license_type'),
    status: made('status'),
    city: made('city'),
    county: made('county'),
  };
}
