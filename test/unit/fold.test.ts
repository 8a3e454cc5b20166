import { expect, test } from '@jest/globals';
import { fold, unaccent, visibleText } from '../../src/licenses/fold.ts';
import { pairsOf } from '../support/tables.ts';

/** Only letters and digits, in upper case, without accents, ligatures and special letters; those of other scripts stay. */
const FOLDED = pairsOf(`
O'Brien = OBRIEN; O\u2019Brien = OBRIEN; O\u02bcBrien = OBRIEN; Ka\u02bbahumanu = KAAHUMANU; de la Cruz = DELACRUZ
St. John = STJOHN; SMITH-JONES = SMITHJONES; SMITH\u2010JONES = SMITHJONES; SMITH\u2011JONES = SMITHJONES
SMITH\u2013JONES = SMITHJONES; SMITH\u00adJONES = SMITHJONES;   a\tb\rc\u00a0d  = ABCD; Room 12b = ROOM12B
Mu\u00f1oz = MUNOZ; Mun\u0303oz = MUNOZ; Bj\u00f8rk = BJORK; \u0141uczak = LUCZAK; \u0142uczak = LUCZAK
Wei\u00df = WEISS; WEI\u1e9e = WEISS; \u00c6gir = AEGIR; c\u0153ur = COEUR; \u00deor = THOR; Gu\u00f0r\u00fan = GUDRUN
\u0110or\u0111e = DORDE; \u0126amrun = HAMRUN; I\u015f\u0131k = ISIK; \u0130zmir = IZMIR; Nguy\u1ec5n = NGUYEN
\ufb01nch = FINCH; \uff33mith = SMITH; M\u00aa = MA; N\u00ba 5 = NO5; *?"\\()[]{}~^|&+!:/; 
\u0391\u03bb\u03b5\u03be\u03af\u03bf\u03c5 = \u0391\u039b\u0395\u039e\u0399\u039f\u03a5
\u0418\u0432\u0430\u043d\u043e\u0432 = \u0418\u0412\u0410\u041d\u041e\u0412; \u738b-\u5c0f \u660e = \u738b\u5c0f\u660e
\u0645\u062d\u0645\u062f = \u0645\u062d\u0645\u062f; \u1fb3\u1f80 = \u0391\u0391; \u0130\u0131 = II
`);

test('the folded form of each text', () => {
  expect(FOLDED.map(([text]) => [text, fold(text)])).toEqual(FOLDED);
});

test('the folded form of a folded text is the same', () => {
  for (const text of FOLDED.flat()) expect(fold(fold(text))).toBe(fold(text));
});

test('the first thousand normalized characters of a text of up to 200 are folded, and all of a longer one', () => {
  expect([200, 201].map((length) => fold('\ufdfa'.repeat(length)).length)).toEqual([833, 201 * 15]);
});

test('the folded form does not depend on the case', () => {
  for (const name of ['\u00e9clair', '\u00f8stg\u00e5rd', 'wei\u00df', '\u03ac\u03c3\u03c2'])
    expect(fold(name.toUpperCase())).toBe(fold(name.toLowerCase()));
});

/** Zero width, soft hyphen, direction marks, byte order mark, NUL, a Hangul filler and a blank of Braille. */
const INVISIBLE = [
  ...'\u200b\u200c\u200d\u2060\u00ad\u200e\u200f\u202a\u202e\u2066\u2069\ufeff\u0000\u0001\u001f\u007f',
  ...'\u034f\u061c\u115f\u3164\uffa0\u180e\ufe0f\u{e0001}\u2800',
];

test.each(INVISIBLE)('what nobody sees %j is ignored in each place of a text', (invisible) => {
  for (const text of ['Smith', 'O\u2019Brien', 'Mu\u00f1oz', '\u738b']) {
    for (let at = 0; at <= text.length; at += 1) {
      const written = text.slice(0, at) + invisible + text.slice(at);
      expect([at, fold(written), unaccent(written)]).toEqual([at, fold(text), unaccent(text)]);
      expect([at, visibleText(written)]).toEqual([at, text]);
    }
  }
});

test('what nobody sees is not tabs, line breaks and blanks', () => {
  expect(visibleText(' a\tb\r\nc\u00a0d\u2028e\u3000')).toBe(' a\tb\r\nc\u00a0d\u2028e\u3000');
});

test('the text without accents keeps punctuation and blanks', () => {
  const texts = pairsOf(`
Jos\u00e9 O'Neil-Nu\u00f1ez, Jr. = JOSE O'NEIL-NUNEZ, JR.; plain text & more = PLAIN TEXT & MORE
Soci\u00e9t\u00e9 & S\u00f8n = SOCIETE & SON; O\u02bcBrien, Ka\u02bbahumanu = O'BRIEN, KA'AHUMANU
`);
  expect(texts.map(([text]) => [text, unaccent(text)])).toEqual(texts);
});
