import { Connection, type RawResponse } from './connection.ts';
import { type Common, responseLines, visible } from './response-lines.ts';
import { type Exchange, OUTCOMES, type Request } from './transcript.ts';

/** Texts by their placeholder names. In a transcript, the name is in angle brackets, such as `<key>`. */
type Values = Readonly<Record<string, string>>;

/** A service for clients with any address. */
export interface ServiceStage {
  readonly port: number;
  readonly adminPort: number;
  readonly values: Values;
  /** Actions on the service, by the text of a `*` line. */
  readonly events: ReadonlyMap<string, () => Promise<void>>;
}

/** The service, address and values for playing an exchange. */
export interface Stage extends ServiceStage {
  /** The client's address. Each exchange has its own, because limits are counted by address. */
  readonly localAddress: string;
  readonly common: Common;
}

/** Plays one exchange. */
export class Player {
  readonly #stage: Stage;
  readonly #text: string[] = [];
  #connection: Connection | undefined;
  #port: number;
  /** Bytes to send with the next write. */
  #unsent: Buffer[] = [];
  /** The first lines of the requests that have no response yet. */
  #asked: string[] = [];
  /** The received responses, with the first lines of their requests. */
  readonly answers: (readonly [line: string, response: RawResponse])[] = [];
  #last: RawResponse | undefined;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#port = stage.port;
  }

  /** @returns the text of the exchange with the received responses */
  async play({ name, steps }: Exchange): Promise<string> {
    this.#text.push(`### ${name}`);
    for (const step of steps) {
      if (typeof step === 'object') this.#ask(step);
      else {
        await this.#act(step);
        this.#text.push(`* ${step}`);
      }
    }
    await this.#end();
    return this.#text
      .join('\n')
      .replaceAll(/\n{3,}/g, '\n\n')
      .trim();
  }

  #ask(request: Request): void {
    this.#unsent.push(requestBytes(request, this.#stage));
    if (request.head.length > 0) this.#asked.push(request.head[0] ?? '');
    this.#show('>', request);
  }

  async #act(action: string): Promise<void> {
    if (action === 'in the same write') return;
    if (action === 'after the response') return this.#readResponses();
    if (action === 'after 100 Continue') return this.#readResponse();
    if (action === 'closes its side') return (await this.#flush()).closeSide();
    if (action === 'on the admin port') {
      this.#port = this.#stage.adminPort;
      return;
    }
    if (action === 'breaks off the connection') {
      (await this.#flush()).abort();
      this.#connection = undefined;
      return;
    }
    const happens = this.#stage.events.get(action);
    if (happens === undefined) throw new Error(`No action is called "${action}".`);
    if (this.#unsent.length > 0) await this.#flush();
    await happens();
  }

  /** Sends the pending bytes. */
  async #flush(): Promise<Connection> {
    this.#connection ??= await Connection.open(this.#port, this.#stage.localAddress);
    if (this.#unsent.length > 0) this.#connection.send(Buffer.concat(this.#unsent));
    this.#unsent = [];
    return this.#connection;
  }

  async #readResponse(): Promise<void> {
    const [line = ''] = this.#asked;
    const response = await (await this.#flush()).response(line.split(' ')[0] ?? '');
    if (response === undefined) {
      this.#asked = [];
      return;
    }
    if (response.status >= 200) this.#asked.shift();
    this.#last = response;
    this.answers.push([line, response]);
    this.#show('<', responseLines(response, this.#stage.common));
  }

  /** Reads a response to each request, or until the service closes the connection. */
  async #readResponses(): Promise<void> {
    while (this.#asked.length > 0) await this.#readResponse();
  }

  async #end(): Promise<void> {
    if (this.#connection === undefined && this.#unsent.length === 0) return;
    await this.#readResponses();
    const { wasOpen, more } = await (await this.#flush()).end(this.#last);
    if (more.length > 0) {
      this.#text.push('', OUTCOMES.sendsMore);
      this.#show('<', { head: [], body: visible(more).split('\n') });
    }
    if (!wasOpen) this.#text.push('', OUTCOMES.closes);
  }

  #show(mark: '>' | '<', { head, body }: Request): void {
    const shown = [...head.map((line) => `${mark} ${line}`), ...body.map((line) => `${mark}${mark} ${line}`)];
    const lines = shown.map((line) => line.trimEnd());
    this.#text.push(...(mark === '<' ? ['', ...lines, ''] : lines));
  }
}

/** The bytes of a request. `<length>` in its head is replaced by the length of its body. */
function requestBytes({ head: [first, ...own], body: lines }: Request, { values, common }: Stage): Buffer {
  const body = bytesOf(lines.join('\n'), values);
  if (first === undefined) return body;
  const [, line = '', kind = ''] = /^(.*?)(?: \[(.*)\])?$/.exec(first) ?? [];
  const head = [line, ...(common.headers.get(kind) ?? []), ...own, ''].map((each) => `${each}\r\n`).join('');
  return Buffer.concat([bytesOf(head, { ...values, length: String(body.length) }), body]);
}

/** The bytes of a text. */
function bytesOf(text: string, values: Values): Buffer {
  if (/[^\t\n\r -~]/.test(text)) throw new Error(`Write bytes outside ASCII as \\xNN: ${text}`);
  const latin1 = text
    .replace(/<([a-z ]+)>/g, (whole, name: string) => values[name] ?? whole)
    .replace(/\\x([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(expanded(latin1), 'latin1');
}

/** Expands `<repeat 9>text</repeat>`, with one character for each byte. */
const expanded = (text: string): string =>
  text.replaceAll(/<repeat (\d+)>(.*?)<\/repeat>/gs, (_, count, inner: string) =>
    inner.repeat(Number(count)),
  );
