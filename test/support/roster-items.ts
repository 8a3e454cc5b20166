import { createRandom } from '../../sample-data/generator/random.ts';
import type { StoredLicense } from '../../src/licenses/license-document.ts';

/** An item of a roster, as a client sends it. */
export type SentItem = Readonly<Record<string, unknown>>;

type Random = () => number;
type Habit = (license: StoredLicense, random: Random) => SentItem;

function surnameOf({ full_name: name }: StoredLicense): string {
  return name.replace(/,.*/, '');
}

function givenOf({ full_name: name }: StoredLicense): string {
  return name.replace(/^[^,]*,\s*/, '');
}

/** Another digit for one of the last four. */
function mistyped(number: string, random: Random): string {
  const at = number.length - 1 - Math.floor(random() * 4);
  return number.slice(0, at) + String(Math.floor(random() * 10)) + number.slice(at + 1);
}

function withoutLetter(text: string, random: Random): string {
  const at = 1 + Math.floor(random() * (text.length - 2));
  return text.slice(0, at) + text.slice(at + 1);
}

const number: Habit = ({ board, license_number }) => ({ board, license_number });

const OF_EVERYBODY: readonly Habit[] = [
  number,
  number,
  ({ board, license_number: written }) => ({
    board,
    license_number: ` ${written.toLowerCase().replace(/\W/g, ' ')}`,
  }),
  ({ board, license_number: written }, random) => ({ board, license_number: mistyped(written, random) }),
  ({ license_number }) => ({ board: 'Dental Board', license_number }),
  ({ board, license_number }) => ({ board, license_number, search_type: 'business' }),
  ({ board, license_number }) => ({ board, license_number, last_name: 'Somebody' }),
  ({ board }) => ({ board, license_number: '9'.repeat(250) }),
  ({ license_number }) => ({ license_number }),
  ({ board }) => ({ board }),
  ({ board, license_number }) => ({ board: board.toLowerCase(), license_number }),
  ({ board }) => ({ board, last_name: ' - ' }),
  ({ board }) => ({ board, license_number: 5 }),
  ({ board }) => ({ board, search_type: 'firm', last_name: 'Smith' }),
];

const OF_PERSONS: readonly Habit[] = [
  (license) => ({ ...number(license, Math.random), last_name: surnameOf(license) }),
  (license) => ({ board: license.board, last_name: surnameOf(license) }),
  (license) => ({
    board: license.board,
    last_name: surnameOf(license),
    first_name: givenOf(license).slice(0, 1),
  }),
  (license) => ({
    board: license.board,
    last_name: surnameOf(license),
    first_name: givenOf(license).slice(0, 3),
  }),
  (license) => ({
    board: license.board,
    last_name: surnameOf(license),
    first_name: givenOf(license).slice(0, 3),
  }),
  (license) => ({ board: license.board, last_name: surnameOf(license), first_name: givenOf(license) }),
  (license) => ({ board: license.board, last_name: surnameOf(license), city: license.city }),
  (license) => ({
    board: license.board,
    last_name: surnameOf(license),
    status: 'active',
    license_type: license.license_type,
  }),
  (license) => ({ board: license.board, last_name: surnameOf(license), license_type: 'Astronaut' }),
  (license) => ({ board: license.board, last_name: surnameOf(license), first_name: 'Xq' }),
  (license, random) => ({ board: license.board, last_name: withoutLetter(surnameOf(license), random) }),
];

const OF_BUSINESSES: readonly Habit[] = [
  (license) => ({
    ...number(license, Math.random),
    search_type: 'business',
    business_name: license.full_name,
  }),
  (license) => ({
    board: license.board,
    search_type: 'business',
    business_name: license.full_name.slice(0, 8),
  }),
  (license) => ({
    board: license.board,
    search_type: 'business',
    business_name: license.full_name,
    city: license.city,
  }),
  (license) => ({
    board: license.board,
    search_type: 'business',
    business_name: license.full_name.split(' ').toReversed().join(' '),
  }),
  (license, random) => ({
    board: license.board,
    search_type: 'business',
    business_name: withoutLetter(license.full_name, random),
  }),
  (license) => ({ board: license.board, business_name: license.full_name }),
];

/** Items as people send them about these licenses: right, mistyped and impossible ones. */
export function itemsAbout(licenses: readonly StoredLicense[], count: number, seed: number): SentItem[] {
  const random = createRandom(seed, 'roster items');
  const anyOf = <Thing>(things: readonly Thing[]): Thing => {
    const thing = things[Math.floor(random() * things.length)];
    if (thing === undefined) throw new Error('There is nothing to choose from.');
    return thing;
  };
  return Array.from({ length: count }, () => {
    const license = anyOf(licenses);
    const own = license.keys.kind === 'person' ? OF_PERSONS : OF_BUSINESSES;
    return anyOf([...own, ...own, ...OF_EVERYBODY])(license, random);
  });
}
