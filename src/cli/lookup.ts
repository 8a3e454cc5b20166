import { z } from 'zod';
import { CAUTION_WORDS, NOTE_WORDS, SAMPLE_DATA_NOTICE } from '../answers/words.ts';
import { boardActivity } from '../changes/board-activity.ts';
import { BOARDS, boardByLabel } from '../licenses/boards.ts';
import type { Actions } from './options.ts';
import { described, sumOf, table } from './output.ts';
import { type AnsweredRecord, batchAnswer, openService, type Service } from './service.ts';

/** Commands that ask a running service once. */
export const ACTIONS: Actions = {
  lookup: async ([license_number], options) => {
    const service = openService(options);
    const body = { items: [{ license_number, board: options.board }] };
    const { last_scraped, results } = await service.json(batchAnswer, '/api/v1/lookup/batch', body);
    const { outcome, record, matches, detail, did_you_mean } = results[0];
    if (outcome === 'invalid') throw new Error(detail);
    const sample = (await readStatus(service)).publication?.sample ?? false;
    const found = record === undefined ? matches : [record];
    const miss = outcome === 'not_found' ? { detail, did_you_mean } : null;
    const code = found.length === 1 && found[0]?.cautions.length === 0 ? CLEAR : LOOK_AT_IT;
    const origin = `In the State's dataset of ${last_scraped.slice(0, 10)}. The issuing board is the authority.`;
    return {
      value: { last_scraped, sample, found, miss },
      words: [
        ...found.flatMap((each) => [...described(inWords(each)), '']),
        ...[miss?.detail ?? origin, ...(sample ? [SAMPLE_DATA_NOTICE] : [])],
      ],
      code: miss === null ? code : NOT_FOUND,
    };
  },

  status: async (_given, options) => {
    const service = openService(options);
    const found = await readStatus(service);
    const { service_version: version, publication, last_runs } = found;
    const nothing = 'nothing is known to be published: publish, or see whether OpenSearch runs';
    const live = { live: publication?.id ?? nothing, ...publication, id: null, changes: null };
    const last_publications = last_runs?.map(({ counts: _, changes: __, ...run }) => run);
    return {
      value: found,
      words: described({ service: `${version} at ${service.url}`, ...live, last_publications }),
      code: publication?.freshness === 'fresh' ? CLEAR : LOOK_AT_IT,
    };
  },

  boards: async (_given, options) => {
    const { licenses_by_board: counts, board_activity } = await readStatus(openService(options));
    const activity = new Map(Object.entries(board_activity));
    const boards = BOARDS.map(({ code, name }) => {
      const ofBoard = Object.entries(counts).filter(([label]) => boardByLabel(label)?.code === code);
      const licenses = sumOf(ofBoard.map(([, count]) => count));
      return { code, name, licenses, last_changed: null, usual_changes_per_day: null, ...activity.get(name) };
    });
    return { value: boards, words: table(boards) };
  },
};

/** Exit codes. For a script, only the first one means that all is well. */
const [CLEAR, LOOK_AT_IT, NOT_FOUND] = [0, 2, 3];

const WORDS = new Map(Object.entries({ ...CAUTION_WORDS, ...NOTE_WORDS }));

function inWords({ found: _, extra_data: __, cautions, notes, ...facts }: AnsweredRecord) {
  const meaning = (code: string) =>
    `${code}: ${WORDS.get(code)?.meaning ?? 'see the documents of the service'}`;
  return {
    ...facts,
    ...(cautions.length === 0 ? { cautions: 'none' } : { CAUTION: cautions.map(meaning) }),
    note: notes.map(meaning),
  };
}

const status = z.looseObject({
  service_version: z.string(),
  publication: z.looseObject({ freshness: z.string(), sample: z.boolean() }).nullable(),
  licenses_by_board: z.record(z.string(), z.int()),
  board_activity: z.record(z.string(), boardActivity).default({}),
  last_runs: z.array(z.looseObject({})).nullable(),
});

const readStatus = (service: Service) => service.json(status, '/status');
