/** Keys of `extra_data` that the service itself reads or writes. */
export const EXTRA_DATA_LABELS = {
  boardAction: 'Board Action',
  street: 'Street Address',
  /** Of an endorsement: the number of the license that it endorses. */
  endorsedLicense: 'Endorsed License',
} as const;
