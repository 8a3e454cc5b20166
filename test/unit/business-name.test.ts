import { expect, test } from '@jest/globals';
import { matchesBusinessName, searchedWords, tradeNameKey, tradeNames } from '../../src/licenses/names.ts';
import { pairsOf } from '../support/tables.ts';

// What finds a business, and is its name: test/fixtures/typed-forms.ts.
test.each([
  [
    'is',
    'SMITH CO PHARMACY = Smith Pharmacy; ACME LLC OF LIMA = acme of lima; OVER THE TOP SALON = Over Top Salon',
  ],
  ['is', 'LLC SUPPLIES = LLC; THE THERAPY PLACE = the; CAF\u00c9 RX = rx cafe'],
  ['is not', 'ACME PLACE = the; D.B.A = Acme;  = *'],
])('the name of a business %s: %s', (relation, names) => {
  for (const pair of pairsOf(names))
    expect([pair, matchesBusinessName(...pair)]).toEqual([pair, relation === 'is']);
});

test('the words searched for are those that distinguish a name, at most ten', () => {
  const words = pairsOf(`
The Acme & Sons, LLC = ACME SONS; Acme LLC DBA The Widgets Inc = ACME WIDGETS; Shear Delight, The = SHEAR DELIGHT
Smith Co Pharmacy = SMITH CO PHARMACY; the = THE; LLC = LLC; &; D.B.A; ; a1 a2 a3 a4 a5 a6 a7 a8 a9 = A1 A2 A3 A4 A5 A6 A7 A8 A9
the a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 = A1 A2 A3 A4 A5 A6 A7 A8 A9 A10
`);
  expect(words.map(([typed]) => [typed, searchedWords(typed).join(' ')])).toEqual(words);
});

test('the trade names are those before and after D.B.A, however it is written', () => {
  const names = pairsOf(`
ACME LLC = ACME LLC; ACME LLC D.B.A WIDGETS = ACME LLC | WIDGETS; ACME LLC D.B.A. WIDGETS = ACME LLC | WIDGETS
ACME LLC DBA WIDGETS = ACME LLC | WIDGETS; ACME LLC D/B/A WIDGETS = ACME LLC | WIDGETS; ACME LLC d.b.a WIDGETS = ACME LLC | WIDGETS
ACME  D.B.A   WIDGETS  = ACME | WIDGETS; ACME D.B.A WIDGETS DBA GADGETS = ACME | WIDGETS | GADGETS; DBA WIDGETS = WIDGETS
ACME D.B.A = ACME; DBASE SOFTWARE = DBASE SOFTWARE; THE DBASE SHOP = THE DBASE SHOP; BADBAD DOG = BADBAD DOG
MELDBA SALON = MELDBA SALON; ACME DXBXA WIDGETS = ACME DXBXA WIDGETS; 
`);
  expect(names.map(([name]) => [name, tradeNames(name).join(' | ')])).toEqual(names);
});

test('the key of a trade name has no words that many have, unless it has no others', () => {
  const keys = pairsOf(`
A.B.C. HAIR = ABCHAIR; 7 DAY CLINIC #2 = 7DAYCLINIC2; \u5c0f\u660e LLC = \u5c0f\u660e; COMPANY STORE INC = COMPANYSTORE
INC SPOT INC = INCSPOT; LIMITED EDITION HAIR INC = LIMITEDEDITIONHAIR; SMITH CO PHARMACY INC = SMITHCOPHARMACY
ZINC INC = ZINC; TEXACO INC = TEXACO; OVER THE TOP INC = OVERTHETOP; THEODORE INC = THEODORE; BANDAID INC = BANDAID
THE = THE; AND = AND; THE COMPANY = COMPANY; THE & CO = CO; LLC = LLC; INC LLC = INC; AND THE = THE; ;  ; &; ***; "?"; ...
`);
  expect(keys.map(([name]) => [name, tradeNameKey(name)])).toEqual(keys);
});
