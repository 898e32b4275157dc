import { GeneratedText } from '../generated-text.ts';
import { isJsonObject, type JsonObject, withoutMember } from '../json.ts';
import type { StreamReading, Usage } from '../protocol.ts';
import { dataOf, EventSplitter, withData } from '../sse.ts';
import { noteGenerated } from './chat-message.ts';
import { readErrorMessage, readUsage } from './usage.ts';

// A stream of chat completion chunks on its way to the caller.
//
// The gateway always asks the upstream for usage, because that is what is billed. A caller that did not ask for
// it must see the stream it would have seen without us: the chunk that carries only usage is left out, and a
// `usage` member of any other chunk is cut out of its text. Everything else passes byte for byte, whatever the
// packets' borders, and what is no chunk at all (a comment, something unreadable) passes too.
//
// `[DONE]` is kept back: clients take it for the end of the answer, and the answer must be on record by then.

const NOTHING: Buffer = Buffer.alloc(0);

export class ChatStream implements StreamReading {
  readonly generated = new GeneratedText();
  usage: Usage | undefined;
  upstreamError: string | null = null;
  hasContent = false;
  isDone = false;
  readonly #showsUsage: boolean;
  readonly #choices: number;
  readonly #finished = new Set<unknown>();
  readonly #splitter = new EventSplitter();
  #endMark: Buffer = NOTHING;

  constructor(options: { showsUsage: boolean; choices: number }) {
    this.#showsUsage = options.showsUsage;
    this.#choices = options.choices;
  }

  get isComplete(): boolean {
    return this.isDone || this.upstreamError !== null || this.#finished.size >= this.#choices;
  }

  push(chunk: Buffer): Buffer {
    return joined(this.#splitter.push(chunk).map((event) => this.#pass(event)));
  }

  end(): Buffer {
    return joined([this.#pass(this.#splitter.rest()), this.#endMark]);
  }

  #pass(event: Buffer): Buffer {
    if (this.isDone || event.length === 0) return NOTHING;
    const text = event.toString();
    const data = dataOf(text)?.trim();
    if (data === undefined) return event;
    if (data === '[DONE]') {
      this.isDone = true;
      this.#endMark = event;
      return NOTHING;
    }
    const chunk = parsed(data);
    if (!isJsonObject(chunk)) return event;
    this.#read(chunk);
    if (this.#showsUsage || !Object.hasOwn(chunk, 'usage')) return event;
    const isOnlyUsage =
      isJsonObject(chunk['usage']) && Array.isArray(chunk['choices']) && chunk['choices'].length === 0;
    if (isOnlyUsage) return NOTHING;
    const shown = withoutMember(data, 'usage');
    return Buffer.from(
      text.includes(data) ? text.replace(data, () => shown) : withData(text, shown.replace(/[\r\n]/g, ' ')),
    );
  }

  #read(chunk: JsonObject): void {
    this.usage = readUsage(chunk['usage']) ?? this.usage;
    if (isJsonObject(chunk['error']) || typeof chunk['error'] === 'string') {
      this.upstreamError = readErrorMessage(chunk) ?? 'an error without a message';
    }
    if (!Array.isArray(chunk['choices'])) return;
    chunk['choices'].forEach((choice: unknown, position) => {
      if (!isJsonObject(choice)) return;
      const index = typeof choice['index'] === 'number' ? choice['index'] : position;
      if (isJsonObject(choice['delta']) && noteGenerated(choice['delta'], index, this.generated)) {
        this.hasContent = true;
      }
      if (typeof choice['finish_reason'] === 'string') this.#finished.add(index);
    });
  }
}

function joined(parts: readonly Buffer[]): Buffer {
  const [first = NOTHING, ...others] = parts.filter((part) => part.length > 0);
  return others.length === 0 ? first : Buffer.concat([first, ...others]);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
