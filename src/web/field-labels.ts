const EXTRA_DATA = 'extra_data.';

const LABELS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    license_number: 'License number',
    full_name: 'Name',
    board: 'Board',
    license_type: 'License type',
    status: 'Status',
    raw_status: 'Status',
    expiry_date: 'Expiry date',
    issue_date: 'Issue date',
    city: 'City',
    state: 'State',
    county: 'County',
  }),
);

/** The label of a field of a record, or of an attribute of its extra data (`extra_data.ZIP`). */
export function fieldLabel(name: string): string {
  return LABELS.get(name) ?? (name.startsWith(EXTRA_DATA) ? name.slice(EXTRA_DATA.length) : name);
}
