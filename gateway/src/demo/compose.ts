import { countTokens } from '../tokens/count-tokens.ts';
import { calledTools } from './called-tools.ts';
import type { EchoConversation, EchoTool } from './conversation.ts';
import { piecesOf } from './pieces.ts';
import { type SmallestBounds, smallestJson } from './smallest-json.ts';

// The core of the echo: what it answers to a conversation, whatever the format that it came in. The tokens of a
// conversation and of its answer are the same in every format.

const NOTHING_SAID = 'Say something, and this model says it back.';
/** The marks around a turn, and those that open an answer. */
const TURN_TOKENS = 4;
const ANSWER_TOKENS = 3;

export interface EchoAnswer {
  readonly parts: readonly EchoPart[];
  readonly finish: 'stop' | 'length' | 'tool';
  readonly tokens: number;
}

export type EchoPart = TextPart | CallPart;

export interface TextPart {
  readonly kind: 'text';
  readonly text: string;
}

export interface CallPart {
  readonly kind: 'call';
  readonly tool: Pick<EchoTool, 'name' | 'isCustom'>;
  /** Its input: JSON, or the text for a custom tool. */
  readonly text: string;
}

/** The prompt of a conversation: the texts to count, and the tokens of what is around them. */
export function promptOf({ turns, tools }: EchoConversation): {
  readonly texts: readonly string[];
  readonly overheadTokens: number;
} {
  const described = tools.flatMap(({ name, description, schema }) => [
    name,
    description,
    JSON.stringify(schema) ?? '',
  ]);
  return {
    texts: [...turns.map(({ text }) => text), ...described],
    overheadTokens: ANSWER_TOKENS + TURN_TOKENS * turns.length,
  };
}

export interface Composed {
  readonly answer: EchoAnswer;
  readonly characters: number;
  /** True if the bounds made it shorter than the conversation's cap does, or other than it would be. */
  readonly isCut: boolean;
}

/** Repeats the last message, or does what it asks for: calls tools, or fills a schema. */
export async function compose(conversation: EchoConversation, bounds: SmallestBounds): Promise<Composed> {
  const { turns, schema, cap } = conversation;
  const writer = new Writer(cap, bounds.characters);
  const results = resultsIn(turns);
  const said = results ?? turns.findLast(({ by }) => by === 'user')?.text ?? '';
  let { calls, isExhausted } = results === undefined ? calledTools(said, conversation, bounds) : NO_CALLS;
  if (calls.length > 0) {
    for (const { tool, input } of calls) await writer.call(tool, input);
  } else if (schema !== undefined) {
    const smallest = smallestJson(schema, bounds);
    ({ isExhausted } = smallest);
    await writer.text(smallest.text);
  } else {
    await writer.text(said === '' ? NOTHING_SAID : said);
  }
  const { characters, isCut } = writer;
  return { answer: writer.end(calls.length > 0), characters, isCut: isCut || isExhausted };
}

const NO_CALLS = { calls: [], isExhausted: false };

/**
 * The results of the tools that the last question took, if the model waits for some; undefined where it does not. Clients may add words
 * of their own after them.
 */
function resultsIn(turns: EchoConversation['turns']): string | undefined {
  const last = turns.findLastIndex(({ by }) => by === 'tool');
  if (last === -1 || turns.slice(last).some(({ by }) => by === 'model')) return undefined;
  const asked = turns.slice(0, last).findLastIndex(({ by }) => by === 'user');
  return turns
    .slice(asked + 1)
    .flatMap(({ by, text }) => (by === 'tool' ? text : []))
    .join('\n');
}

/** Writes as much as the cap and the number of characters allow. */
class Writer {
  readonly #cap: number;
  readonly #mostCharacters: number;
  readonly #parts: EchoPart[] = [];
  #tokens = 0;
  #isFull = false;
  characters = 0;
  /** True if characters were too few. */
  isCut = false;

  constructor(cap: number, mostCharacters: number) {
    this.#cap = cap;
    this.#mostCharacters = mostCharacters;
  }

  async text(text: string): Promise<void> {
    this.#parts.push({ kind: 'text', text: await this.#start(text) });
  }

  async call({ name, isCustom }: EchoTool, input: string): Promise<void> {
    if (this.#isFull || !this.#hasRoomFor(name.length)) return;
    if (!(await this.#takes(name))) return;
    this.#parts.push({ kind: 'call', tool: { name, isCustom }, text: await this.#start(input) });
  }

  end(hasCalls: boolean): EchoAnswer {
    const finish = this.#isFull ? 'length' : hasCalls ? 'tool' : 'stop';
    return { parts: this.#parts, finish, tokens: this.#tokens };
  }

  /** The start of the text, as far as it may be written. */
  async #start(text: string): Promise<string> {
    let end = 0;
    for (const piece of piecesOf(text)) {
      if (!this.#hasRoomFor(piece.length)) break;
      const taken = (await this.#takes(piece)) ? piece : await this.#startOfPiece(piece);
      end += taken.length;
      if (this.#isFull) break;
    }
    return text.slice(0, end);
  }

  #hasRoomFor(characters: number): boolean {
    this.isCut ||= this.characters + characters > this.#mostCharacters;
    if (this.isCut) this.#isFull = true;
    else this.characters += characters;
    return !this.isCut;
  }

  /** A model is cut off anywhere in a word. */
  async #startOfPiece(piece: string): Promise<string> {
    const characters = [...piece];
    let taken = '';
    let tokens = 0;
    for (let least = 1, most = characters.length - 1; least <= most; ) {
      const middle = (least + most) >> 1;
      const start = characters.slice(0, middle).join('');
      const more = await countTokens([start]);
      if (this.#tokens + more > this.#cap) {
        most = middle - 1;
      } else {
        [taken, tokens] = [start, more];
        least = middle + 1;
      }
    }
    this.#tokens += tokens;
    return taken;
  }

  async #takes(word: string): Promise<boolean> {
    const more = await countTokens([word]);
    this.#isFull = this.#tokens + more > this.#cap;
    if (!this.#isFull) this.#tokens += more;
    return !this.#isFull;
  }
}
