import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import pLimit from 'p-limit';
import { z } from 'zod';
import { licenses } from '../../scripts/licenses-processes.ts';
import { plainCsv } from '../../src/csv.ts';
import { boardByName, boardByText } from '../../src/licenses/boards.ts';
import { MAX_LISTED_MATCHES } from '../../src/licenses/lookup.ts';
import {
  batchResult,
  type CommonAnswer,
  ofRosterPage,
  ofTool,
  resultRow,
  toolRosterItem,
} from './common-answers.ts';
import { QUESTION_FIELDS, type Question, textOf } from './questions.ts';
import { sendRoster, sendTable } from './rosters.ts';
import type { TestService } from './service.ts';

/** One way of asking questions, with all that is known to be different about it. */
export interface Interface {
  readonly name: string;
  /** Whether it has fields for all that the question says. */
  readonly takes: (question: Question) => boolean;
  /** Whether it searches all boards where no board is named; REST asks for the board. */
  readonly searchesAllBoards: boolean;
  /** What it says where REST says this. */
  readonly expected: (answer: CommonAnswer) => CommonAnswer;
  /** Whether each question is a request of its own. */
  readonly isSingle: boolean;
  /** Asks all of the questions. @returns the answers in their order */
  readonly ask: (questions: readonly Question[]) => Promise<CommonAnswer[]>;
}

/** So many requests are under way: with more than 64, lookups have no suggestions. */
export const TOGETHER = 25;

/** Every interface but `POST /lookup/verify`, which the others are compared with. */
export function interfacesOf(service: TestService): Interface[] {
  return [tools, toolRoster, roster, csvRoster, commandLine, rosterPage].map((make) => make(service));
}

const batch = z.object({ results: z.array(batchResult) });

/** Whether a board counts alike in a roster and in a single lookup, which takes neither codes nor short names. */
export function hasSameBoard({ board }: Question): boolean {
  if (typeof board !== 'string' || board.trim() === '') return false;
  return boardByName(board) !== undefined || boardByText(board) === undefined;
}

function roster({ rest }: TestService): Interface {
  return {
    name: 'POST /lookup/batch, JSON',
    takes: (question) => hasSameBoard(question) || (question.board === undefined && hasNumber(question)),
    searchesAllBoards: true,
    expected: (answer) => listing(answer, MAX_LISTED_MATCHES),
    isSingle: false,
    ask: inParts(1000, async (items) => {
      const { body } = await sendRoster(rest, { items, max_matches: MAX_LISTED_MATCHES });
      return batch.parse(body).results;
    }),
  };
}

const table = (text: string) => z.array(resultRow).parse(parse(text, { columns: true }));

/** A cell is always text, and the numbers of several matches come without their cautions. */
const OF_TABLES = {
  takes: (question: Question) => isAllText(question) && saysItsKind(question) && hasSameBoard(question),
  searchesAllBoards: false,
  expected: (answer: CommonAnswer) =>
    answer.outcome === 'several' ? withoutCautions(listing(answer, MAX_LISTED_MATCHES)) : answer,
};

function csvRoster({ rest }: TestService): Interface {
  return {
    name: 'POST /lookup/batch, CSV',
    ...OF_TABLES,
    isSingle: false,
    ask: inParts(1000, async (questions) => {
      const { text } = await sendTable(rest, csv(questions), `?max_matches=${MAX_LISTED_MATCHES}`);
      return table(text);
    }),
  };
}

function commandLine({ environment, rest }: TestService): Interface {
  return {
    name: 'licenses verify',
    ...OF_TABLES,
    isSingle: false,
    ask: async (questions) => {
      const [from, to] = [join(environment.folder, 'roster.csv'), join(environment.folder, 'result.csv')];
      await writeFile(from, csv(questions));
      const { code, stderr } = await licenses(
        { LICENSES_URL: `http://127.0.0.1:${environment.config.PORT}`, LICENSES_KEY: rest.key },
        ...['verify', from, '--out', to, '--max-matches', String(MAX_LISTED_MATCHES)],
      );
      // 2: some rows are invalid.
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.any(String) });
      return table(await readFile(to, 'utf8'));
    },
  };
}

function tools({ rest }: TestService): Interface {
  return {
    name: 'MCP, single calls',
    // The tool says which kind of search it is, and has no field for another kind of holder's name.
    takes: (question) =>
      saysItsKind(question) && !(isOfBusiness(question) && textOf(question, 'last_name') !== ''),
    searchesAllBoards: true,
    expected: inGroups,
    isSingle: true,
    ask: each(async (question) => {
      const { search_type: _, ...parameters } = question;
      return inGroups(ofTool(await rest.callTool(toolFor(question), parameters)));
    }),
  };
}

/** Of very many licenses, a tool makes a table, grouped by status: their order says nothing. */
function inGroups(answer: CommonAnswer): CommonAnswer {
  if (answer.licenses.length <= 20) return answer;
  return {
    ...answer,
    licenses: answer.licenses.toSorted((one, other) => (one.number < other.number ? -1 : 1)),
  };
}

function toolFor(question: Question): string {
  if (isOfBusiness(question)) return 'verify_business_license';
  return hasNumber(question) ? 'verify_license' : 'search_licenses_by_name';
}

const toolRosterAnswer = z.object({
  result: z.object({ structuredContent: z.object({ results: z.array(toolRosterItem) }) }),
});

/** The most matches that verify_roster lists. */
const TOOL_MATCHES = 10;

function toolRoster({ rest }: TestService): Interface {
  return {
    name: 'MCP, verify_roster',
    // Only business_name says that a business is meant.
    takes: (question) =>
      saysItsKind(question) && !(isOfBusiness(question) && textOf(question, 'business_name') === ''),
    searchesAllBoards: true,
    expected: (answer) => listing(answer, TOOL_MATCHES),
    isSingle: false,
    ask: inParts(50, async (questions) => {
      const items = questions.map(({ search_type: _, ...item }) => item);
      const { body } = await rest.callTool('verify_roster', { items, max_matches: TOOL_MATCHES });
      return toolRosterAnswer.parse(body).result.structuredContent.results;
    }),
  };
}

/** The most matches that a row of the website's roster lists. */
const PAGE_MATCHES = 5;

function rosterPage(service: TestService): Interface {
  return {
    name: 'website, POST /roster',
    // It understands more boards than REST, and a person's name needs one.
    takes: (question) => {
      const board = textOf(question, 'board');
      const needsNone = hasNumber(question) || isOfBusiness(question);
      return (
        isAllText(question) &&
        saysItsKind(question) &&
        (board === '' ? needsNone : boardByName(board) !== undefined)
      );
    },
    searchesAllBoards: true,
    expected: (answer) => (answer.outcome === 'several' ? listing(answer, PAGE_MATCHES) : answer),
    isSingle: false,
    ask: inParts(500, async (questions) => {
      const form = new FormData();
      form.set('roster', csv(questions));
      const origin = originOf(service);
      const response = await fetch(`${origin}/roster`, { method: 'POST', headers: { origin }, body: form });
      expect(response.status).toBe(200);
      const rows = ofRosterPage(await response.text());
      return questions.map((_, at) => {
        // The first row has the names of the columns.
        const answer = rows.get(String(at + 2));
        if (answer === undefined) throw new Error(`The page has no row ${at + 2}.`);
        return answer;
      });
    }),
  };
}

function originOf({ environment }: TestService): string {
  return `http://127.0.0.1:${environment.config.PORT}`;
}

/** Whether it is meant as a person's or a business's; REST refuses what is neither, and others have no such field. */
function saysItsKind(question: Question): boolean {
  return (
    isOfBusiness(question) ||
    (textOf(question, 'search_type') === '' && textOf(question, 'business_name') === '')
  );
}

/** Whether there is a license_number that is not blank. */
export function hasNumber({ license_number: number }: Question): boolean {
  return number != null && String(number).trim() !== '';
}

function isOfBusiness(question: Question): boolean {
  return textOf(question, 'search_type') === 'business';
}

function isAllText(question: Question): boolean {
  return Object.values(question).every((value) => value == null || typeof value === 'string');
}

/** The questions as a roster. A reference in each row keeps those without anything else. */
function csv(questions: readonly Question[]): string {
  const rows = questions.map((question, at) => [
    `q${at}`,
    ...QUESTION_FIELDS.map((field) => String(question[field] ?? '')),
  ]);
  return plainCsv([['reference', ...QUESTION_FIELDS], ...rows], { delimiter: ',', newline: '\r\n' });
}

/** The same answer where at most so many matches are listed. */
function listing(answer: CommonAnswer, most: number): CommonAnswer {
  if (answer.licenses.length <= most) return answer;
  return { ...answer, licenses: answer.licenses.slice(0, most), isCut: true };
}

function withoutCautions(answer: CommonAnswer): CommonAnswer {
  return { ...answer, licenses: answer.licenses.map(({ board, number }) => ({ board, number })) };
}

/** Asks each question in a request of its own. */
function each(ask: (question: Question) => Promise<CommonAnswer>): Interface['ask'] {
  const inTurn = pLimit(TOGETHER);
  return (questions) => Promise.all(questions.map((question) => inTurn(() => ask(question))));
}

/** Asks so many questions in a request, one request after the other. */
function inParts(
  most: number,
  ask: (questions: readonly Question[]) => Promise<CommonAnswer[]>,
): Interface['ask'] {
  return async (questions) => {
    const answers: CommonAnswer[] = [];
    for (let at = 0; at < questions.length; at += most) {
      const part = questions.slice(at, at + most);
      const answered = await ask(part);
      expect(answered.length).toBe(part.length);
      answers.push(...answered);
    }
    return answers;
  };
}
