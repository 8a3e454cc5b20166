import { unaccent } from './fold.ts';

const SEPARATORS = /[\s./\p{Pd}\u2212]/gu;

/**
 * The key of a license number, the same for every way of writing it: upper case, without blanks, dots, slashes and
 * dashes of any kind. The key of `rn 123456`, `RN/123456` and `RN.123456` is `RN123456`. Other characters are kept, so
 * that the key of a pattern such as `RN.1234*` matches no license.
 */
export function numberKey(written: string): string {
  return unaccent(written).replace(SEPARATORS, '');
}

/**
 * The last group of digits of a number, without leading zeros. Numbers that differ only in zeros, prefix or suffix
 * have the same. `APRN.CNP.0014484` → `14484`, `E.1234567-SUPV` → `1234567`; empty without digits.
 */
export function numberDigits(written: string): string {
  return /(\d+)\D*$/.exec(unaccent(written).replace(/\s/g, ''))?.[1]?.replace(/^0+(?=\d)/, '') ?? '';
}

/** Whether the text is the number itself, ignoring case and blanks around it. */
export function isExactNumber(written: string, licenseNumber: string): boolean {
  return written.trim().toUpperCase() === licenseNumber.toUpperCase();
}
