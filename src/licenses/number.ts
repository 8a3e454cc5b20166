import { unaccent } from './fold.ts';

const SEPARATORS = /[\s./\p{Pd}\u2212]/gu;

/**
 * The key that all written forms of one license number share: upper case, without blanks, dots, slashes and
 * dashes of any kind. `rn 123456`, `RN/123456` and `RN.123456` give `RN123456`. Any other character stays, so
 * that a pattern such as `RN.1234*` has a key that no license has.
 */
export function numberKey(written: string): string {
  return unaccent(written).replace(SEPARATORS, '');
}

/**
 * The last group of digits of a number, without leading zeros: what numbers have in common that differ by
 * zeros, prefix or suffix. `APRN.CNP.0014484` → `14484`, `E.1234567-SUPV` → `1234567`; empty without digits.
 */
export function numberDigits(written: string): string {
  return /(\d+)\D*$/.exec(unaccent(written).replace(/\s/g, ''))?.[1]?.replace(/^0+(?=\d)/, '') ?? '';
}

/** Whether a written form is the number itself, case and blanks around it aside. */
export function isExactNumber(written: string, licenseNumber: string): boolean {
  return written.trim().toUpperCase() === licenseNumber.toUpperCase();
}
