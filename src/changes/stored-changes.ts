import { collection } from '../storage/collection.ts';
import { storedChange } from './change.ts';

/** The changes, under their positions. */
export const CHANGES = collection('changes', storedChange, {
  isStoredUnder: (id, { position }) => id === String(position),
});
