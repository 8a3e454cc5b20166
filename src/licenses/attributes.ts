/** Readable labels of attributes in `extra_data` that the service itself reads. */
export const ATTRIBUTES = {
  boardAction: 'Board Action',
  street: 'Street Address',
} as const;
