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

/** One interface for asking questions, with all its known differences from the others. */
export interface Interface {
  readonly name: string;
  /** Whether the interface has fields for everything in the question. */
  readonly takes: (question: Question) => boolean;
  /** Whether it searches all boards if the question names no board. REST requires a board. */
  readonly searchesAllBoards: boolean;
  /** Its expected answer, given the answer of REST. */
  readonly expected: (answer: CommonAnswer) => CommonAnswer;
  /** Whether it sends each question in a separate request. */
  readonly isSingle: boolean;
  /** Asks all the questions. @returns the answers, in order */
  readonly ask: (questions: readonly Question[]) => Promise<CommonAnswer[]>;
}

/** The number of parallel requests. With more than 64, lookups give no suggestions. */
export const TOGETHER = 25;

const batch = z.object({ results: z.array(batchResult) });

/** Whether a board means the same in a roster and in a single lookup, which accepts neither codes nor short names. */
export function hasSameBoard({ board }: Question): boolean {
  if (typeof board !== 'string' || board.trim() === '') return false;
  return boardByName(board) !== undefined || boardByText(board) === undefined;
}

const table = (text: string) => z.array(resultRow).parse(parse(text, { columns: true }));

/** In tables, every cell is text, and the numbers of several matches have no cautions. */
const OF_TABLES = {
  takes: (question: Question) => isAllText(question) && saysItsKind(question) && hasSameBoard(question),
  searchesAllBoards: false,
  expected: (answer: CommonAnswer) =>
    answer.outcome === 'several' ? withoutCautions(listing(answer, MAX_LISTED_MATCHES)) : answer,
};

/** For a large number of licenses, a tool returns a table grouped by status, so the order has no meaning. */
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

/** The most matches in a row of the website's roster. */
const PAGE_MATCHES = 5;

/**
 * Whether the question specifies a person or a business. REST rejects a question that specifies neither, and other
 * interfaces have no such field.
 */
const saysItsKind = (question: Question): boolean =>
  isOfBusiness(question) ||
  (textOf(question, 'search_type') === '' && textOf(question, 'business_name') === '');

/** Whether the question has a non-blank license_number. */
export const hasNumber = ({ license_number: number }: Question): boolean =>
  number != null && String(number).trim() !== '';

const isOfBusiness = (question: Question): boolean => textOf(question, 'search_type') === 'business';

const isAllText = (question: Question): boolean =>
  Object.values(question).every((value) => value == null || typeof value === 'string');

/** The questions as a CSV roster. Each row has a reference, so that a row without other values is kept. */
function csv(questions: readonly Question[]): string {
  const rows = questions.map((question, at) => [
    `q${at}`,
    ...QUESTION_FIELDS.map((field) => String(question[field] ?? '')),
  ]);
  return plainCsv([['reference', ...QUESTION_FIELDS], ...rows], { delimiter: ',', newline: '\r\n' });
}

/** The same answer if at most this many matches are listed. */
function listing(answer: CommonAnswer, most: number): CommonAnswer {
  if (answer.licenses.length <= most) return answer;
  return { ...answer, licenses: answer.licenses.slice(0, most), isCut: true };
}

const withoutCautions = (answer: CommonAnswer): CommonAnswer => ({
  ...answer,
  licenses: answer.licenses.map(({ board, number }) => ({ board, number })),
});

/** Asks each question in a separate request. */
function each(ask: (question: Question) => Promise<CommonAnswer>): Interface['ask'] {
  const inTurn = pLimit(TOGETHER);
  return (questions) => Promise.all(questions.map((question) => inTurn(() => ask(question))));
}

/** Asks this many questions per request, one request after another. */
function inParts(most: number, ask: (questions: readonly Question[]) => Promise<CommonAnswer[]>) {
  return async (questions: readonly Question[]) => {
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

/** Every interface except `POST /lookup/verify`, with which the others are compared. */
export function interfacesOf({ environment, rest }: TestService): Interface[] {
  const origin = `http://127.0.0.1:${environment.config.PORT}`;
  return [
    {
      name: 'MCP, single calls',
      // The tool sets the kind of search, and has no field for the name of another kind of holder.
      takes: (question) =>
        saysItsKind(question) && !(isOfBusiness(question) && textOf(question, 'last_name') !== ''),
      searchesAllBoards: true,
      expected: inGroups,
      isSingle: true,
      ask: each(async (question) => {
        const { search_type: _, ...parameters } = question;
        return inGroups(ofTool(await rest.callTool(toolFor(question), parameters)));
      }),
    },
    {
      name: 'MCP, verify_roster',
      // Only business_name shows that a business is meant.
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
    },
    {
      name: 'POST /lookup/batch, JSON',
      takes: (question) => hasSameBoard(question) || (question.board === undefined && hasNumber(question)),
      searchesAllBoards: true,
      expected: (answer) => listing(answer, MAX_LISTED_MATCHES),
      isSingle: false,
      ask: inParts(1000, async (items) => {
        const { body } = await sendRoster(rest, { items, max_matches: MAX_LISTED_MATCHES });
        return batch.parse(body).results;
      }),
    },
    {
      name: 'POST /lookup/batch, CSV',
      ...OF_TABLES,
      isSingle: false,
      ask: inParts(1000, async (questions) => {
        const { text } = await sendTable(rest, csv(questions), `?max_matches=${MAX_LISTED_MATCHES}`);
        return table(text);
      }),
    },
    {
      name: 'licenses verify',
      ...OF_TABLES,
      isSingle: false,
      ask: async (questions) => {
        const [from, to] = [join(environment.folder, 'roster.csv'), join(environment.folder, 'result.csv')];
        await writeFile(from, csv(questions));
        const { code, stderr } = await licenses(
          { LICENSES_URL: origin, LICENSES_KEY: rest.key },
          ...['verify', from, '--out', to, '--max-matches', String(MAX_LISTED_MATCHES)],
        );
        // Exit code 2: some rows are invalid.
        expect({ code, stderr }).toEqual({ code: 2, stderr: expect.any(String) });
        return table(await readFile(to, 'utf8'));
      },
    },
    {
      name: 'website, POST /roster',
      // The website understands more boards than REST, and requires a board for a person's name.
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
        const response = await fetch(`${origin}/roster`, { method: 'POST', headers: { origin }, body: form });
        expect(response.status).toBe(200);
        const rows = ofRosterPage(await response.text());
        return questions.map((_, at) => {
          // Row 1 has the column names.
          const answer = rows.get(String(at + 2));
          if (answer === undefined) throw new Error(`The page has no row ${at + 2}.`);
          return answer;
        });
      }),
    },
  ];
}
