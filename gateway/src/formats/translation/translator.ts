import type { ReadExact } from '../../wire/exact-json.ts';
import type { JsonObject } from '../../wire/json.ts';
import type { Answer } from './answer.ts';
import type { Conversation, Namespaces } from './conversation.ts';
import type { Losses } from './losses.ts';
import type { StreamWriter } from './stream-events.ts';

/** One format's translation into the neutral form and out of it. */
export interface Translator {
  /** Reads a caller's body. Throws a BodyError that names the member which is wrong. */
  readRequest(body: JsonObject, losses: Losses): Conversation;
  /** A provider's body. Its model and output cap are the caller's: the pipeline puts in what is sent. */
  writeRequest(conversation: Conversation, losses: Losses, options: TranslationOptions): WrittenRequest;
  /** Reads a provider's answer, whatever it holds; undefined where it is none of this format. */
  readAnswer(answer: JsonObject, exact: ReadExact, notes: TranslationNotes): Answer | undefined;
  /** A caller's answer. */
  writeAnswer(answer: Answer, notes: TranslationNotes): JsonObject;
  openWriter(notes: TranslationNotes): StreamWriter;
  /** The members of a caller's body that an answer repeats, as JSON: numbers go to another thread as they were sent. */
  readonly echoOf?: (body: JsonObject) => string;
}

export interface WrittenRequest
  extends Pick<TranslationNotes, 'customTools' | 'toolNames' | 'argumentNames'> {
  readonly body: JsonObject;
}

/** The facts that only the pipeline knows of a request that is translated. */
export interface TranslationOptions {
  /** The provider's flag: members beyond the format that it wants back (reasoning_content, extra_content, ...). */
  readonly keep: readonly string[];
  /** True for Mistral: ids of tool calls are nine letters and digits, and after a result the assistant speaks. */
  readonly isStrict?: boolean;
  /** For the ids of items that are kept: 32 random hexadecimal digits, where the caller's format can refer to items. */
  readonly itemSeed?: string;
  /** The gateway's id of the request: for ids that the provider does not give. */
  readonly requestId: string;
  /** When the request came, in seconds of Unix time: for a format that says when an answer was made. */
  readonly createdSeconds: number;
  /** The prompt as the gateway counted it: for a format that says so before the provider does. */
  readonly promptTokens: number;
}

/** The facts of a request that the translation of its answer needs. Plain data: it may cross to another thread. */
export interface TranslationNotes {
  /** As the caller wrote it. */
  readonly model: string;
  readonly requestId: string;
  readonly createdSeconds: number;
  readonly promptTokens: number;
  /** True if the caller's stream shall report usage. */
  readonly showsUsage: boolean;
  /** The caller's custom tools that were declared as functions of one text, by the name sent to the provider. */
  readonly customTools: readonly string[];
  /** The caller's names of tools that were sent under another one, by that one. */
  readonly toolNames: Readonly<Record<string, string>>;
  /** The caller's names of arguments that were sent under another one, by that one, by the name sent of the tool. */
  readonly argumentNames?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The ids of the conversation's calls, which its answer must not repeat. */
  readonly callIds?: readonly string[];
  /** True if the provider wants the text of its reasoning back. */
  readonly keepsReasoning?: true;
  /** Given where the items of the answer are kept for the caller's next requests. */
  readonly itemSeed?: string;
  /** Members of the caller's request that its format repeats in the answer (responses): the JSON of an object. */
  readonly echo?: string;
  /** The conversation's: a call of such a tool goes back under its namespace. */
  readonly namespaces?: Namespaces;
  /** The conversation's: a call of `tool_search` goes back as one of the format. */
  readonly hasToolSearch?: true;
}
