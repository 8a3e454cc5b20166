/** Keys of `extra_data` that the service itself reads or writes. */
export const EXTRA_DATA_LABELS = {
  boardAction: 'Board Action',
  street: 'Street Address',
  /** Of an endorsement: the number of the license that it endorses. */
  endorsedLicense: 'Endorsed License',
} as const;

/** Keys of `extra_data` with which an endorsement says how the license that it endorses stands. */
export const ENDORSED_LICENSE_LABELS = {
  status: 'Endorsed License Status',
  subStatus: 'Endorsed License Sub Status',
  expirationDate: 'Endorsed License Expiration Date',
  boardAction: 'Endorsed License Board Action',
} as const;
