/** Keys of `extra_data` that the service itself reads. */
export const EXTRA_DATA_LABELS = {
  boardAction: 'Board Action',
  street: 'Street Address',
} as const;
