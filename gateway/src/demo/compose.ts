import { countTokens } from '../tokens/count-tokens.ts';
import { calledTools } from './called-tools.ts';
import type { EchoConversation, EchoTool } from './conversation.ts';
import { smallestValue } from './smallest-value.ts';

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

/** In the pieces in which it is streamed. */
export type EchoPart = TextPart | CallPart;

export interface TextPart {
  readonly kind: 'text';
  readonly pieces: readonly string[];
}

export interface CallPart {
  readonly kind: 'call';
  readonly tool: Pick<EchoTool, 'name' | 'isCustom' | 'namespace'>;
  /** Of its input: JSON, or the text for a custom tool. */
  readonly pieces: readonly string[];
}

/** The tokens of a conversation. */
export function promptTokensOf({ turns, tools }: EchoConversation): Promise<number> {
  const texts = [
    ...turns.map(({ text }) => text),
    ...tools.flatMap(({ name, description, schema }) => [name, description, JSON.stringify(schema) ?? '']),
  ];
  return countTokens(texts).then((tokens) => ANSWER_TOKENS + TURN_TOKENS * turns.length + tokens);
}

/** Repeats the last message, or does what it asks for: calls tools, or fills a schema. */
export async function compose(conversation: EchoConversation): Promise<EchoAnswer> {
  const { turns, schema, cap } = conversation;
  const heard = turns.filter(({ by }) => by !== 'other');
  const isResult = heard.at(-1)?.by === 'tool';
  const writer = new Writer(cap);
  const said = isResult ? resultsOf(heard) : (heard.at(-1)?.text ?? '');
  const calls = isResult ? [] : calledTools(said, conversation);
  if (calls.length > 0) {
    for (const { tool, input } of calls) await writer.call(tool, input);
  } else if (schema !== undefined) {
    await writer.text(JSON.stringify(smallestValue(schema)));
  } else {
    await writer.text(said === '' ? NOTHING_SAID : said);
  }
  return writer.end(calls.length > 0);
}

/** The results of the last tool calls. */
function resultsOf(heard: EchoConversation['turns']): string {
  const before = heard.findLastIndex(({ by }) => by === 'user');
  return heard
    .slice(before + 1)
    .map(({ text }) => text)
    .join('\n');
}

/** Writes as many words as the cap allows. */
class Writer {
  readonly #cap: number;
  readonly #parts: EchoPart[] = [];
  #tokens = 0;
  #isFull = false;

  constructor(cap: number) {
    this.#cap = cap;
  }

  async text(text: string): Promise<void> {
    this.#parts.push({ kind: 'text', pieces: await this.#pieces(text) });
  }

  async call({ name, isCustom, namespace }: EchoTool, input: string): Promise<void> {
    if (this.#isFull || !(await this.#takes(name))) return;
    const tool = { name, isCustom, ...(namespace !== undefined && { namespace }) };
    this.#parts.push({ kind: 'call', tool, pieces: await this.#pieces(input) });
  }

  end(hasCalls: boolean): EchoAnswer {
    const finish = this.#isFull ? 'length' : hasCalls ? 'tool' : 'stop';
    return { parts: this.#parts, finish, tokens: this.#tokens };
  }

  async #pieces(text: string): Promise<string[]> {
    const pieces: string[] = [];
    for (const [word] of text.matchAll(/\s*\S+|\s+$/g)) {
      if (!(await this.#takes(word))) break;
      pieces.push(word);
    }
    return pieces;
  }

  async #takes(word: string): Promise<boolean> {
    const more = await countTokens([word]);
    this.#isFull = this.#tokens + more > this.#cap;
    if (!this.#isFull) this.#tokens += more;
    return !this.#isFull;
  }
}
