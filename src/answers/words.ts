import WORDS from '../../data/answer-words.json' with { type: 'json' };
import { nearestBoards } from '../licenses/boards.ts';
import { daysBetween } from '../licenses/dates.ts';
import { FILTER_NAMES, type Filters } from '../licenses/filters.ts';
import {
  type LookupWords,
  MAX_CHARACTERS,
  type Miss,
  type NameRequest,
  type NotFoundReason,
} from '../licenses/lookup.ts';
import type { PersonParts } from '../licenses/names.ts';
import {
  boardAction,
  type Caution,
  cautionsOf,
  disciplineOf,
  endorsedLicense,
  endorsementsToTell,
  hasBoardAction,
  isBoardActionGiven,
  type Note,
  type StandingFields,
} from '../licenses/standing.ts';
import { dataAgeDays, freshness, type Origin } from './origin.ts';

/**
 * Texts that do not depend on the license. A caution has no tag if the status itself says the same. In each voice,
 * `asPersons` says how to look up a number as a person's, after a lookup that was restricted to businesses.
 * `afterUnknown` says what to do next if no license has the number and no holder of a similar number has the name that
 * was sent. `severalMatch` follows the number of matching licenses.
 */
export const {
  cautions: CAUTION_WORDS,
  notes: NOTE_WORDS,
  reasons: REASONS,
  needs: NEED_WORDS,
  voices: VOICES,
} = WORDS;

/**
 * Which interface the text is for: the REST API, an MCP tool for one lookup or for an item of a list, or the website.
 */
export type Voice = keyof typeof VOICES;

export const NOT_UNLICENSED =
  'not_found never means that somebody is unlicensed: check the spelling, the number and the board.';

/** Part of every result of the MCP server. */
export const AUTHORITY =
  'The data is the State of Ohio’s daily dataset, not primary-source verification; the issuing board is the authority.';
export const SAMPLE_DATA_NOTICE = 'SAMPLE DATA: generated, no real person or business.';

export const NOT_GIVEN = 'Not given by the State';

/** What a reader must do with the only match of a name. */
export const ONLY_MATCH_BY_NAME =
  'This is the only match: compare the whole name, the city and the type to be sure that it is the right one.';

/** The sentence that the data is late or stale; empty if it is fresh. */
export function ageSentence(origin: Pick<Origin, 'date' | 'today'>): string {
  const age = dataAgeDays(origin);
  const state = freshness(age);
  if (state === 'fresh') return '';
  return age < 0
    ? 'The data is stale: its date has not come yet.'
    : `The data is ${state}: ${age} days old. What happened since is not in it.`;
}

type StandingSentence = (license: StandingFields, today: string) => string;

/** The sentence for each caution and note; empty if another caution already says the same. */
export const SENTENCES: Readonly<Record<Caution | Note, StandingSentence>> = {
  name_mismatch: () =>
    'The name given is not the holder’s: the number may be mistyped, so do not assume that it is that person’s license.',
  not_active: ({ raw_status: raw }) =>
    raw === null
      ? 'The State gives no status: ask the board.'
      : `Report the full status, whatever the expiry date: ${raw}.`,
  sub_status: ({ status, raw_status: raw }) => (status === 'ACTIVE' ? `Report the full status: ${raw}.` : ''),
  past_expiry: () => 'The State lists it as active although its expiry date has passed: report both.',
  no_expiry_date: () => 'The State gives no expiry date for it: ask the board when it expires.',
  board_action: (license) =>
    `The ${actionInWords(license)}. Ask the board for details.${
      !isBoardActionGiven(license) && boardAction(license) !== ''
        ? ` Its status shows the action, although the State’s column Board Action says ${boardAction(license)}.`
        : ''
    }`,
  dates_conflict: ({ issue_date: issued, expiry_date: expiry }) =>
    `Its dates conflict: issued ${issued}, expiry date ${expiry}. Ask the board which is right.`,
  endorsed_license: endorsedSentence,
  expires_soon: ({ expiry_date: expiry }, today) => {
    const days = daysBetween(today, expiry ?? today);
    return `It expires on ${expiry}, ${days === 0 ? 'today' : `in ${days} ${days === 1 ? 'day' : 'days'}`}.`;
  },
  endorsement: (license, today) => {
    const told = endorsementsInWords(license, today).map(({ name, standing }) => `${name}: ${standing}`);
    return `Look at its endorsements, too: ${told.join('; ')}.`;
  },
};

/**
 * Says that the board has acted on a license, which only a Yes or the status shows. The State's column may have another
 * text, such as `Pending`.
 */
export function actionInWords(license: StandingFields): string {
  return disciplineOf(license) === undefined
    ? `State’s column Board Action says “${boardAction(license)}”`
    : 'board has acted on it';
}

function endorsedSentence(license: StandingFields): string {
  const { number, standing } = endorsedLicense(license) ?? {};
  if (number === undefined || standing === undefined) return '';
  const parts = [
    standing.raw_status === null ? 'no status given' : `status ${standing.raw_status}`,
    standing.expiry_date === null ? 'no expiry date given' : `expiry date ${standing.expiry_date}`,
    ...(hasBoardAction(standing) ? [`the ${actionInWords(standing)}`] : []),
  ];
  return `Also report the license that it endorses (${number}): ${parts.join(', ')}.`;
}

/** The endorsements that a reader must look at, each with the reason: `Active, the board has acted on it`. */
export function endorsementsInWords(license: StandingFields, today: string) {
  return endorsementsToTell(license, today).map(({ number, type, standing }) => {
    const facts = [
      standing.raw_status ?? 'no status is given',
      ...(cautionsOf(standing, today).includes('past_expiry') ? ['its expiry date has passed'] : []),
      ...(hasBoardAction(standing) ? [`the ${actionInWords(standing)}`] : []),
    ];
    return { name: number ?? type ?? 'without a number', standing: facts.join(', ') };
  });
}

/** The sentences that a reader must be told about a license. */
export function recordSentences(
  license: StandingFields & { readonly board: string; readonly name_at_board?: boolean | undefined },
  { cautions, notes }: { readonly cautions: readonly Caution[]; readonly notes: readonly Note[] },
  today: string,
): string[] {
  const sentences = [
    ...cautions.flatMap((caution) => [
      SENTENCES[caution](license, today),
      caution === 'name_mismatch' ? nameAtBoard(license) : '',
    ]),
    ...notes.map((note) => SENTENCES[note](license, today)),
  ];
  return sentences.filter((sentence) => sentence !== '');
}

/** Says whether another license of the board has the name that was sent; empty if that was not searched. */
function nameAtBoard({ board, name_at_board: isThere }: Parameters<typeof recordSentences>[0]): string {
  if (isThere === undefined) return '';
  return isThere
    ? `Another license of the ${board} has that name: search by the name.`
    : `No license of the ${board} has that name.`;
}

/**
 * Says whether the board has acted on a license, in the same words on every page, in copies and in records. A blank
 * column does not mean No.
 */
export function boardActionInWords(license: StandingFields): string {
  const column = boardAction(license);
  if (!hasBoardAction(license)) return column || NOT_GIVEN;
  if (/^yes$/i.test(column)) return 'Yes. Ask the board for details.';
  if (disciplineOf(license) === undefined) return `The State’s column says “${column}”. Ask the board.`;
  return `Yes: the license has the status “${license.raw_status}”. (The State’s column “Board Action” says ${column || 'nothing'}.)`;
}

/** The sentence about what was searched and what to do. @param where such as `in the State's dataset of 2026-11-20` */
type MissSentence = (miss: Miss, number: string, where: string, voice: Voice) => string;

const MISS_SENTENCES: Readonly<Record<NotFoundReason, MissSentence>> = {
  unknown: (miss, number, where, voice) => {
    const next = (miss.ofTheName ?? []).length > 0 ? '' : VOICES[voice].afterUnknown;
    return `No license with the ${number} is ${where}.${similarNumbers(miss)} ${next}`;
  },
  ambiguous: (miss, number, where) => {
    const { didYouMean, boards = [] } = miss;
    // List items may omit `didYouMean`, but always have `boards`.
    return didYouMean.length < 2 && boards.length > 1
      ? `More than one board has a license with the ${number} ${where}: the ${boards.join(' and the ')}. Name the board.`
      : `The ${number}, written like this, fits more than one license ${where}.${similarNumbers(miss)} Send it as the board writes it.`;
  },
  other_board: ({ request, boards = [] }, number, where) =>
    `The ${number} belongs to the ${boards.join(' and the ')}, not to the ${request.board?.name ?? 'board asked'}, ${where}. Look it up there.`,
  not_a_business: (_miss, number, where, voice) =>
    `The ${number} is a person${genitive(voice)}, not a business${genitive(voice)}, ${where}. ${VOICES[voice].asPersons}`,
  removed: ({ left, didYouMean }, number, where) => {
    const last =
      left?.last_in_dataset == null
        ? ''
        : ` It was last in the dataset of ${left.last_in_dataset}; its status then: ${left.last_raw_status ?? 'not stated'}.`;
    const padded =
      didYouMean.length === 0
        ? ''
        : ` A number that differs only in zeros may be the same license: ${didYouMean.join(', ')}.`;
    return `A license with the ${number} was in an earlier dataset, but is not ${where}.${last}${padded} The dataset does not say why; ask the board.`;
  },
  unreadable: ({ unreadableIn: date }, number, where, voice) =>
    `This service could not read the row with the ${number} ${
      date === undefined
        ? where
        : `in the State${genitive(voice)} dataset of ${date}, and no readable row has come since`
    }. Ask the board about the license.`,
};

function similarNumbers({ didYouMean, ofTheName = [] }: Miss): string {
  if (didYouMean.length === 0) return '';
  const held =
    ofTheName.length === 0
      ? ''
      : ` ${ofTheName.join(' and ')} ${ofTheName.length === 1 ? 'is' : 'are'} under that name.`;
  return ` Similar numbers that exist: ${didYouMean.join(', ')}.${held}`;
}

/**
 * Says what was searched without finding a license, in which dataset, and what to do. It never says "unlicensed".
 *
 * @param date the run date of the dataset that answered, in the voice's format
 */
export function missMessage(miss: Miss, date: string, voice: Voice): string {
  const { request, reason, isFeedUnread } = miss;
  const where = `in the State${genitive(voice)} dataset of ${date}`;
  if (request.by !== 'number') return nameMessage(miss, request, where, voice);
  const number = `number ${quoted(request.number, voice)}`;
  const message = MISS_SENTENCES[reason](miss, number, where, voice).trimEnd();
  return isFeedUnread ? `${message} ${FEED_UNREAD}` : message;
}

export const FEED_UNREAD =
  'This service cannot check right now whether such a license was removed. Try again later.';

/** Pages use curly quotation marks. The text between them stays as typed. */
function quoted(typed: string, voice: Voice): string {
  return voice === 'page' ? `“${typed}”` : `"${typed}"`;
}

function genitive(voice: Voice): string {
  return voice === 'page' ? '’s' : "'s";
}

/** The full text about a miss, including the age of the data and a reminder that the board is the authority. */
export function missDetail(miss: Miss, origin: Pick<Origin, 'date' | 'today'>, voice: Voice): string {
  const sentences = [missMessage(miss, origin.date, voice), VOICES[voice].afterMiss, ageSentence(origin)];
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

function nameMessage(miss: Miss, request: NameRequest, where: string, voice: Voice): string {
  const { surnameExists, nameExists } = miss;
  const { board } = request;
  const [name, filters] = [quoted(nameOf(request), voice), filterWords(request.filters, voice)];
  const named = `name ${name}${filters === '' ? '' : ` with ${filters}`}`;
  const at = board === undefined ? '' : ` at the ${board.name}`;
  if (nameExists === true) {
    return `There are licenses for the name ${name}${at} ${where}, but none with ${filters}. Check the filters, or leave them out.`;
  }
  if (surnameExists === true && request.by === 'person') {
    return `There are licenses for the surname ${quoted(request.lastName, voice)}${at} ${where}, but none for the ${named}. Check the given name, or leave it out.`;
  }
  const whose = board === undefined ? 'any of the 24 boards' : `the ${board.name}`;
  return `No license of ${whose} matches the ${named} ${where}. Check the spelling and the board.`;
}

function nameOf(request: NameRequest): string {
  return request.by === 'business' ? request.name : personName(request);
}

/** A person's name as messages write it: `Bowen, Su`. */
export function personName({ lastName, firstName }: PersonParts): string {
  return firstName === undefined ? lastName : `${lastName}, ${firstName}`;
}

/** `city "Tolede" and status "ACTIVE"`; empty without filters. */
function filterWords(filters: Filters, voice: Voice): string {
  return FILTER_NAMES.flatMap((name) => {
    const value = filters[name];
    const label = voice === 'page' ? name.replace('_', ' ') : name;
    return value === undefined ? [] : [`${label} ${quoted(value, voice)}`];
  }).join(' and ');
}

/**
 * The sentence for a number without known changes; none if several licenses have or had the number, or if it was
 * removed or is unreadable.
 */
export function noChangeKnown({ reason }: Miss, since: string): string[] {
  return ['ambiguous', 'removed', 'unreadable'].includes(reason)
    ? []
    : [`No change of a license of that board with this number is known since ${since}.`];
}

/** The number of items of a list by outcome. `clear` is the number of found licenses without cautions. */
export type RosterSummary = Readonly<
  Record<'found' | 'clear' | 'ambiguous' | 'not_found' | 'invalid', number>
>;

export function itemsOf({ found, ambiguous, not_found, invalid }: RosterSummary): number {
  return found + ambiguous + not_found + invalid;
}

/**
 * `12 clear, 14 need attention, 3 not found, 1 invalid`. Items that were found with cautions or have several matches
 * need attention.
 */
export function summaryInWords({ found, clear, ambiguous, not_found, invalid }: RosterSummary): string {
  const parts = [
    [clear, 'clear'],
    [found - clear + ambiguous, found - clear + ambiguous === 1 ? 'needs attention' : 'need attention'],
    [not_found, 'not found'],
    [invalid, 'invalid'],
  ] as const;
  return parts.map(([count, words]) => `${count.toLocaleString('en-US')} ${words}`).join(', ');
}

function nearestBoard(name: string): string {
  return nearestBoards(name)[0].name;
}

/** The messages of interfaces that use the field names of `lookupFields`. */
const FIELD_WORDS = {
  notAnObject: 'The body must be a JSON object.',
  tooLong: (field: string) => `${field} must have at most ${MAX_CHARACTERS} characters.`,
  noName: 'Give license_number, or last_name, or search_type "business" with business_name.',
  onlyFirstName: 'A search by name needs last_name; first_name only narrows it.',
  noBusinessName: 'A business search needs business_name or license_number.',
};

const REST_REQUEST = {
  ...FIELD_WORDS,
  unknownBoard: (name: string) =>
    `No board has exactly the name given; the nearest is "${nearestBoard(name)}". GET /lookup/boards lists all.`,
  noBoard: () => 'board is required: the exact name of one of the boards at GET /lookup/boards.',
};

/** Each interface's messages for an invalid lookup. */
export const REQUEST_WORDS = {
  rest: REST_REQUEST,
  /** An item of a list in the REST API. A number needs no board there. */
  restItem: { ...REST_REQUEST, noBoard: (by) => (by === 'number' ? undefined : REST_REQUEST.noBoard()) },
  tool: {
    ...FIELD_WORDS,
    unknownBoard: (name) => `board ${boardProblem(name)} list_ohio_boards lists all.`,
    noBoard: (by) => (by === 'person' ? 'A search by name needs board.' : undefined),
  },
  /** A row of a list on the website. */
  row: {
    ...FIELD_WORDS,
    tooLong: (field) => `The ${field.replace('_', ' ')} has more than ${MAX_CHARACTERS} characters.`,
    unknownBoard: (name) => `No board is called “${name}”. The nearest is the ${nearestBoard(name)}.`,
    noBoard: (by) => (by === 'person' ? 'A name without a license number needs a board.' : undefined),
    noName: 'The row has neither a license number nor a name.',
    onlyFirstName: 'A first name alone finds nobody. Add the last name or the license number.',
    noBusinessName: 'A business needs a business name or a license number.',
  },
} satisfies Record<string, LookupWords>;

/** What is wrong with the board that a tool was given. */
export function boardProblem(given: unknown): string {
  if (given === undefined) return 'is missing. Send the exact name of a board;';
  if (typeof given !== 'string') return 'must be text. Send the exact name of a board;';
  const nearest = nearestBoards(given.trim()).map(({ name }) => `"${name}"`);
  return `is not the exact name of a board. The nearest: ${nearest.join(', ')};`;
}
