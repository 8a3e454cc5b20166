import { z } from 'zod';
import businessNamesJson from '../data/business-names.json' with { type: 'json' };
import type { People } from './people.ts';
import { below, chance, pick, type Random, weightedText } from './random.ts';

const words = z.array(z.string().min(1)).min(1);
const NAMES = z
  .strictObject({
    adjectives: words,
    nicknames: words,
    /** Keyed by license type. */
    trades: z.record(z.string(), words),
    /** For license types that have no trades in the list above. */
    other_trades: words,
    legal_forms: z.record(z.string(), z.number().positive()),
    doing_business_as_share: z.number().min(0).max(1),
  })
  .parse(businessNamesJson);

const drawLegalForm = weightedText(NAMES.legal_forms);

/** A BUSINESS_NAME: `NAME` or `NAME D.B.A OTHER NAME`. */
export function drawBusinessName(random: Random, people: People, licenseType: string, city: string): string {
  const trades = NAMES.trades[licenseType] ?? NAMES.other_trades;
  const tradeName = drawTradeName(random, people, pick(random, trades), city);
  if (!chance(random, NAMES.doing_business_as_share)) return `${tradeName}${drawLegalForm(random)}`;
  const owner = drawTradeName(random, people, pick(random, NAMES.other_trades), '');
  return `${owner}${drawLegalForm(random)} D.B.A ${tradeName}`;
}

function drawTradeName(random: Random, people: People, trade: string, city: string): string {
  const { drawSurname, drawFirstName } = people;
  const drawn = random();
  if (drawn < 0.22) return `${drawSurname(random)} ${trade}`;
  if (drawn < 0.3) return `${drawSurname(random)} & ${drawSurname(random)} ${trade}`;
  if (drawn < 0.4) return `${drawFirstName(random)}'S ${trade}`;
  if (drawn < 0.45) return `${drawSurname(random)} AND ${drawSurname(random)} ${trade}`;
  if (drawn < 0.48) return `${drawSurname(random)}, ${drawSurname(random)} & ${drawSurname(random)} ${trade}`;
  if (drawn < 0.49)
    return `${drawFirstName(random)} "${pick(random, NAMES.nicknames)}" ${drawSurname(random)} ${trade}`;
  if (drawn < 0.55) return `THE ${pick(random, NAMES.adjectives)} ${trade}`;
  if (drawn < 0.6) return `${pick(random, NAMES.adjectives)} ${trade} #${1 + below(random, 4000)}`;
  if (drawn < 0.78 && city !== '' && city !== 'HIDDEN') return `${city.toUpperCase()} ${trade}`;
  return `${pick(random, NAMES.adjectives)} ${trade}`;
}
