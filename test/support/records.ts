import { type HolderKind, type LicenseRecord, licenseDocument } from '../../src/licenses/license.ts';

/** The record of an invented nurse, with these fields replaced. */
export const nurseRecord = (fields: Partial<LicenseRecord> = {}): LicenseRecord => ({
  ...{ license_number: 'RN.123456', full_name: 'EXAMPLE, JANE Q', board: 'Nursing Board' },
  ...{ license_type: 'Registered Nurse (RN)', status: 'ACTIVE', expiry_date: '2027-10-31', city: 'COLUMBUS' },
  ...{ state: 'OH', raw_status: 'Active', county: 'FRANKLIN', issue_date: '2015-06-01' },
  extra_data: { County: 'FRANKLIN', ZIP: '43215', 'Issue Date': '2015-06-01' },
  ...fields,
});

/** A stored license, as a search returns it. */
export function storedLicense(fields: Partial<LicenseRecord> = {}, kind: HolderKind = 'person') {
  const { keys, ...license } = licenseDocument(nurseRecord(fields), kind, 'individual:2:0');
  return { ...license, keys: { kind, name: keys.name, holder: [...(keys.holder ?? [])] } };
}

/** `storedLicense()` in a response of 2026-11-21 from the publication of 2026-11-20. */
export const ANSWERED_LICENSE = {
  found: true,
  ...nurseRecord(),
  ...{ days_until_expiry: 344, cautions: [], notes: [], source: 'dataset' },
  ...{ last_scraped: '2026-11-20T00:00:00', data_age_days: 1 },
};
