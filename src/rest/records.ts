import { z } from 'zod';
import { toResponseRecord, viewOf } from '../answers/view.ts';
import { REQUEST_WORDS } from '../answers/words.ts';
import { accountOf, named, type Route, resource } from '../http/guard.ts';
import { daysBefore } from '../licenses/dates.ts';
import { licenseHistory } from '../lookup/service.ts';
import {
  MAX_NOTE_CHARACTERS,
  RecordRefusedError,
  recordNote,
  recordOfLicense,
  SAVED_RECORD_DAYS,
  savesOf,
  writtenRecordCode,
} from '../records/saved-records.ts';
import { JOSE } from '../signing/keys.ts';
import { historyQuery } from './changes.ts';
import { answerOf, licenseBody, numberNotFoundBody } from './lookup.ts';
import type { RestServices } from './services.ts';
import { NOTHING_SIGNED, signedForm, wantsSigned } from './signing.ts';

/** A note that the client adds to the record. Null and blank text count as absent. */
function note(field: 'checked_by' | 'reference') {
  const words = `${field} takes one line of at most ${MAX_NOTE_CHARACTERS} visible characters.`;
  return z
    .string(words)
    .trim()
    .nullish()
    .transform((text) => text || undefined)
    .refine((text) => text === undefined || recordNote.safeParse(text).success, words);
}

const savingFields = { ...historyQuery.shape, checked_by: note('checked_by'), reference: note('reference') };
const savingBody = z.object(savingFields, REQUEST_WORDS.rest.notAnObject).meta({
  id: 'SavingRequest',
  description: 'The license to check; the record also shows who checked it and a reference',
});

const savedBody = named('SavedRecord', {
  code: z.string().describe('The website shows the record at /records/CODE'),
  url: z.string().optional().describe('Its address; absent where the operator has not set PUBLIC_URL'),
  saved_at: z.string().describe('ISO 8601, in UTC'),
  kept_until: z.string().describe('YYYY-MM-DD'),
  checked_by: z.string().optional(),
  reference: z.string().optional(),
  record: licenseBody.describe('The license as it was saved'),
});

const REFUSED: Readonly<Record<RecordRefusedError['reason'], { status: number; detail: string }>> = {
  day: { status: 503, detail: 'Too many records were saved in the last 24 hours; try again later.' },
  full: { status: 503, detail: 'There is no more room for saved records; the operator can make some.' },
  size: { status: 413, detail: 'This check is too large to be saved.' },
};

const endpoint = resource('Lookups');

/** POST /records: saves a record with the content of the website's page of a license. */
export function recordsRoute(services: RestServices): Route {
  const { signing, savesPerDay: perDay } = services;
  return endpoint('POST', '/records', {
    id: 'saveRecord',
    summary: 'Save a record of a check',
    description:
      `Looks a license up by its number and saves what its page on the website shows. The record is kept for ` +
      `${SAVED_RECORD_DAYS} days; whoever has its code can read it. Each call saves another record. With Accept: ${JOSE}, ` +
      'the answer is the record as a signed statement.',
    firstAnswers: services.firstAnswers,
    input: { body: savingBody },
    responses: {
      201: { when: 'The record was saved', body: savedBody, alternatives: signedForm },
      404: { when: 'No license for the number at the board', body: numberNotFoundBody },
      ...NOTHING_SIGNED,
    },
    handle: async (ctx, { body: { board, license_number: number, ...notes } }) => {
      const isSigned = wantsSigned(ctx, signing);
      const view = await licenseHistory(services, { board, number }, ctx.state.keyCheckedMs);
      const { outcome, record, publicUrl } = view;
      ctx.state.outcome = outcome.outcome;
      if (record === undefined) return answerOf(ctx, viewOf(outcome, view));
      const asked = { board: board.name, license_number: number };
      const saver = { ...notes, account: ctx.state.account };
      const shown = recordOfLicense({ ...view, record, asked }, view.today, saver);
      const [account, saves] = [accountOf(ctx), savesOf(shown)];
      await perDay.spend(account, saves);
      try {
        const saved = await services.records.save(shown, new Date(), ctx.state.onceToken);
        // If this request repeats an interrupted one, the record that the first attempt saved is returned.
        const stored = await services.records.read(saved);
        if (stored?.kind !== 'license') throw new Error('A record was saved and is not there.');
        const { saved_at, checked_by, reference } = stored;
        ctx.status = 201;
        if (isSigned) {
          ctx.type = JOSE;
          return stored.jws;
        }
        const code = writtenRecordCode(saved);
        return {
          code,
          url: publicUrl && `${publicUrl}/records/${code}`,
          saved_at,
          kept_until: daysBefore(saved_at.slice(0, 10), -SAVED_RECORD_DAYS),
          ...{ checked_by, reference, record: toResponseRecord(stored.record, { ...stored, publicUrl }) },
        } satisfies z.output<typeof savedBody>;
      } catch (error) {
        await perDay.giveBack(account, saves);
        if (!(error instanceof RecordRefusedError)) throw error;
        const { status, detail } = REFUSED[error.reason];
        // Lookups still work, so this does not count as an outage.
        ctx.state.outcome = 'limited';
        // The limit counts only the records of the last day, so there may be room in an hour.
        if (status === 503) ctx.set('retry-after', '3600');
        ctx.status = status;
        return { detail };
      }
    },
  });
}
