import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, headerOf } from './answer.ts';
import { answerLines, type BodyShown, visible } from './answer-text.ts';
import { Connection } from './connection.ts';
import { type Exchange, OUTCOMES, type Step } from './exchange.ts';
import { requestBytes, restBytes, type Values } from './request-bytes.ts';

const A_MOMENT_MS = 200;
const DRIP_MS = 1000;

/** Where and with what an exchange is played. */
export interface Stage {
  readonly port: number;
  readonly adminPort: number;
  /** The client's address, which no other exchange has: limits count by it. */
  readonly localAddress: string;
  readonly values: Values;
  /** What happens to the service, by the words of a `*` line. */
  readonly events: Readonly<Record<string, () => Promise<void>>>;
}

/** Plays an exchange and returns its text with the answers that came. */
export function play(exchange: Exchange, stage: Stage): Promise<string> {
  return new Player(stage).play(exchange);
}

class Player {
  readonly #stage: Stage;
  readonly #text: string[] = [];
  #connection: Connection | undefined;
  #port: number;
  /** Bytes for the next write. */
  #unsent: Buffer[] = [];
  /** The methods of the requests that were not answered yet. */
  #asked: string[] = [];
  #last: Answer | undefined;
  #shown: BodyShown = { kind: 'all' };

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#port = stage.port;
  }

  async play({ name, steps }: Exchange): Promise<string> {
    this.#text.push(`### ${name}`);
    try {
      for (const step of steps) await this.#take(step);
      await this.#endConnection();
    } catch (error) {
      throw new Error(`"${name}" can't be played: ${error}`, { cause: error });
    }
    return this.#text.join('\n');
  }

  async #take(step: Step): Promise<void> {
    if (step.kind === 'note') {
      this.#text.push(step.line);
    } else if (step.kind === 'send') {
      const { lines, isRest } = step;
      this.#unsent.push((isRest ? restBytes : requestBytes)(lines, this.#stage.values));
      if (!isRest) this.#asked.push(lines[0]?.split(' ')[0] ?? '');
      this.#text.push(...lines.map((line) => `> ${line}`.trimEnd()));
    } else {
      // What came before an action is in the text before it.
      const before = this.#text.length;
      await this.#act(step.action);
      const separator = this.#text.length > before ? [''] : [];
      this.#text.push(...separator, `* ${step.action}`);
    }
  }

  async #act(action: string): Promise<void> {
    const bytes = /^shows (\d+) bytes of the body$/.exec(action)?.[1];
    if (bytes !== undefined) this.#shown = { kind: 'first', bytes: Number(bytes) };
    else if (action === 'shows the types of the metrics') this.#shown = { kind: 'metrics' };
    else if (action === 'after the answer') await this.#readAnswers();
    else if (action === 'after 100 Continue') await this.#readInterim();
    else if (action === 'on a new connection') await this.#connectTo(this.#port);
    else if (action === 'on the admin port') await this.#connectTo(this.#stage.adminPort);
    else if (action !== 'in the same write') await this.#actOnConnection(action);
  }

  async #actOnConnection(action: string): Promise<void> {
    const connection = await this.#flush();
    if (action === 'a moment later') {
      await sleep(A_MOMENT_MS);
    } else if (action === 'closes its side') {
      connection.closeSide();
    } else if (action === 'sends a blank each second') {
      connection.drip(Buffer.from(' '), DRIP_MS);
    } else if (action === 'breaks off the connection') {
      await sleep(A_MOMENT_MS);
      connection.abort();
      this.#connection = undefined;
      this.#asked = [];
    } else {
      const event = this.#stage.events[action];
      if (event === undefined) throw new Error(`No action is called "${action}".`);
      await event();
    }
  }

  async #connectTo(port: number): Promise<void> {
    await this.#endConnection();
    this.#port = port;
  }

  /** Sends what was not sent yet. */
  async #flush(): Promise<Connection> {
    const { localAddress } = this.#stage;
    this.#connection ??= await Connection.open({ port: this.#port, localAddress });
    if (this.#unsent.length > 0) this.#connection.send(Buffer.concat(this.#unsent));
    this.#unsent = [];
    return this.#connection;
  }

  async #readInterim(): Promise<void> {
    const connection = await this.#flush();
    this.#show(await connection.answer(this.#asked[0] ?? ''));
    if ((this.#last?.status ?? 0) >= 200) this.#asked.shift();
  }

  /** Reads an answer to each request, or until the service closes the connection. */
  async #readAnswers(): Promise<void> {
    const connection = await this.#flush();
    while (this.#asked.length > 0) {
      const answer = await connection.answer(this.#asked[0] ?? '');
      this.#show(answer);
      if (answer === undefined) this.#asked = [];
      else if (answer.status >= 200) this.#asked.shift();
    }
  }

  #show(answer: Answer | undefined): void {
    if (answer === undefined) return;
    this.#last = answer;
    this.#text.push('', ...answerLines(answer, this.#shown));
  }

  async #endConnection(): Promise<void> {
    if (this.#connection === undefined && this.#unsent.length === 0) return;
    await this.#readAnswers();
    const connection = await this.#flush();
    const isClosing = this.#last !== undefined && headerOf(this.#last, 'connection') === 'close';
    const { wasOpen, more } = await connection.end(isClosing);
    if (more.length > 0) this.#text.push('', OUTCOMES.sendsMore, ...sentLines(more));
    if (!wasOpen) this.#text.push('', OUTCOMES.closes);
    this.#connection = undefined;
    this.#last = undefined;
  }
}

function sentLines(bytes: Buffer): string[] {
  return visible(bytes)
    .split('\n')
    .map((line) => `< ${line}`.trimEnd());
}
