import { unaccent } from './fold.ts';

const SEPARATORS = /[\s./\p{Pd}\u2212]/gu;

/**
 * The key of a license number, the same for every way of writing it: upper case, without blanks, dots, slashes and
 * dashes of any kind. The key of `rn 987654321`, `RN/987654321` and `RN.987654321` is `RN987654321`. Other characters are kept, so
 * that the key of a pattern such as `RN.987654321*` matches no license.
 */
export function numberKey(written: string): string {
  return unaccent(written).replace(SEPARATORS, '');
}

/**
 * The last group of digits of a number, without leading zeros. Numbers that differ only in zeros, prefix or suffix
 * have the same. `APRN.CNP.0912345678` → `912345678`, `E.987654321-SUPV` → `987654321`; empty without digits.
 */
export function numberDigits(written: string): string {
  return /(\d+)\D*$/.exec(unaccent(written).replace(/\s/g, ''))?.[1]?.replace(/^0+(?=\d)/, '') ?? '';
}

/** Whether the text is the number itself, ignoring case and blanks around it. */
export function isExactNumber(written: string, licenseNumber: string): boolean {
  return written.trim().toUpperCase() === licenseNumber.toUpperCase();
}
