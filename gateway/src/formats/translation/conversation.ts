import type { JsonObject } from '../../wire/json.ts';

// The neutral form of a request: what chat completions, messages and responses all can say, and what only some of
// them can. A reader turns a caller's body into it, a writer turns it into a provider's body; neither knows the other.
// All of it is plain data. A member that the caller left out is left out here too, so that a writer can tell what was
// asked for from what a format takes for granted.

export interface Conversation {
  /** As the caller wrote it; the pipeline puts the provider's name for it into the body that is sent. */
  readonly model: string;
  /** The instructions before the first turn, in order: system and developer messages, `system`, `instructions`. */
  readonly instructions: readonly Instruction[];
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  /** The caller's tools that it declared in namespaces (responses), by the flat name that each has in here. */
  readonly namespaces?: Namespaces;
  /** The function `tool_search` is a search for tools that the caller runs (responses). */
  readonly hasToolSearch?: true;
  readonly toolChoice?: ToolChoice;
  /** False where the caller wants one tool call at a time. */
  readonly parallelToolCalls?: boolean;
  /** Tokens at most of the answer; the smallest of the caps that the caller named. */
  readonly outputCap?: number;
  /** Answers asked for at once (`n`). */
  readonly choices?: number;
  readonly stop?: readonly string[];
  readonly sampling: Sampling;
  readonly logprobs?: { readonly top?: number };
  readonly outputFormat?: OutputFormat;
  readonly reasoning?: ReasoningRequest;
  /** `verbosity` of chat, `text.verbosity` of responses. */
  readonly verbosity?: string;
  readonly isStream: boolean;
  /** True if the caller asked for usage in its stream (chat); true in formats that always report it. */
  readonly showsUsage: boolean;
  /** The end user's opaque id: chat's and responses' `user` or `safety_identifier`, messages' `metadata.user_id`. */
  readonly userId?: string;
  /** OpenAI's map of strings that is kept with a stored answer. */
  readonly metadata?: JsonObject;
  readonly store?: boolean;
  readonly promptCacheKey?: string;
  readonly promptCacheRetention?: string;
  /** In OpenAI's words: auto, default, flex, priority. Anthropic's standard_only is default. */
  readonly serviceTier?: string;
  /** Anthropic's automatic caching of the whole prompt. */
  readonly cacheControl?: CacheControl;
}

export type Namespaces = Readonly<Record<string, NamespacedName>>;

/** A tool of a namespace, as the caller calls it. */
export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** The instructor's words. A target with one role for them takes developer for system. */
export interface Instruction {
  readonly role: 'system' | 'developer';
  readonly parts: readonly TextPart[];
}

/**
 * A turn of the conversation. Instructions in the middle of it are turns of their own, whose parts are all text.
 * Results of tools stand in user turns, before whatever else the user says there.
 */
export type Turn =
  | Instruction
  | { readonly role: 'user'; readonly parts: readonly UserPart[] }
  | { readonly role: 'assistant'; readonly parts: readonly AssistantPart[] };

export type UserPart = TextPart | ImagePart | DocumentPart | ToolResultPart;
export type AssistantPart = TextPart | ReasoningPart | RefusalPart | ToolCallPart;
/** The parts of a tool's result. */
export type ResultPart = TextPart | ImagePart | DocumentPart;

/** A breakpoint of the prompt cache, after the part (or tool) that carries it. */
export interface CacheControl {
  /** `5m` or `1h`; left out for the provider's default. */
  readonly ttl?: string;
}

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  readonly cacheControl?: CacheControl;
}

export interface ImagePart {
  readonly type: 'image';
  readonly source: UrlSource | Base64Source;
  /** OpenAI's `detail`: low, high, auto, original. */
  readonly detail?: string;
  readonly cacheControl?: CacheControl;
}

export interface DocumentPart {
  readonly type: 'document';
  readonly source: UrlSource | Base64Source | { readonly kind: 'text'; readonly text: string };
  /** The file's name or the document's title. */
  readonly name?: string;
  /** The context that Anthropic's caller gives for it, beside its content. */
  readonly context?: string;
  readonly cacheControl?: CacheControl;
}

export interface UrlSource {
  readonly kind: 'url';
  readonly url: string;
}

export interface Base64Source {
  readonly kind: 'base64';
  /** For example `image/png` or `application/pdf`. */
  readonly mediaType: string;
  /** The content in base64, without a `data:` prefix. */
  readonly data: string;
}

/** The reasoning of a model. A part with neither text nor seal is never made. */
export interface ReasoningPart {
  readonly type: 'reasoning';
  /** The part that may be read: all, or a summary. Empty where the provider shows nothing. */
  readonly text: string;
  /** The value that the provider that made it wants back with it. Without one, only providers that take plain text get it. */
  readonly seal?: ReasoningSeal;
}

/**
 * A value that only the provider that made it can read, and wants back in its place. It is of no use to any other provider, which must not
 * be sent it: Anthropic refuses a request with a thinking block whose signature it did not write. reasoning.ts carries a seal through
 * a format that has no place for it.
 */
export type ReasoningSeal =
  /** Messages: `signature` of a thinking block, over its text. */
  | { readonly kind: 'signature'; readonly value: string }
  /** Messages: `data` of a redacted_thinking block; the text is empty. */
  | { readonly kind: 'redacted'; readonly value: string }
  /** Responses: `encrypted_content` of a reasoning item, with the item's id where it had one. */
  | { readonly kind: 'encrypted'; readonly value: string; readonly id?: string }
  /** Chat: `reasoning_details` of a message, as JSON. */
  | { readonly kind: 'details'; readonly value: string }
  /** Chat: `reasoning_content` of a message, whose maker wants the plain text back. */
  | { readonly kind: 'plain'; readonly value: string }
  /** Chat: `extra_content` of the tool call `id`, as JSON; the text is empty. */
  | { readonly kind: 'extra'; readonly value: string; readonly id: string };

/** OpenAI's refusal: what the model said instead of an answer. */
export interface RefusalPart {
  readonly type: 'refusal';
  readonly text: string;
}

export interface ToolCallPart {
  readonly type: 'toolCall';
  /** As the caller or the provider wrote it; a writer whose format does not take it writes another, everywhere. */
  readonly id: string;
  readonly kind: ToolKind;
  readonly name: string;
  /** The arguments of a function: JSON, as the model wrote it, valid or not. Of a custom tool: plain text. */
  readonly arguments: string;
  readonly cacheControl?: CacheControl;
}

export interface ToolResultPart {
  readonly type: 'toolResult';
  readonly callId: string;
  readonly parts: readonly ResultPart[];
  /** True if the tool failed (messages). */
  readonly isError?: boolean;
  readonly cacheControl?: CacheControl;
}

/** Arguments are JSON by a schema, or plain text (OpenAI's custom tools). */
export type ToolKind = 'function' | 'custom';

export type Tool = FunctionTool | CustomTool | HostedTool;

export interface FunctionTool {
  readonly kind: 'function';
  readonly name: string;
  readonly description?: string;
  /** The JSON schema of the arguments; left out for a function without any. */
  readonly parameters?: JsonObject;
  readonly strict?: boolean;
  readonly cacheControl?: CacheControl;
}

export interface CustomTool {
  readonly kind: 'custom';
  readonly name: string;
  readonly description?: string;
  /** The grammar of the input, as chat has it (`type`, `grammar`); left out for any text. */
  readonly format?: JsonObject;
}

/** A tool that the provider runs, or whose schema only the provider knows: it cannot be had elsewhere. */
interface HostedTool {
  readonly kind: 'hosted';
  /** Its `type`, by which it is disclosed and refused: web_search, bash_20250124, namespace. */
  readonly type: string;
  /** The name that a tool choice may force it by, where it has one. */
  readonly name?: string;
}

export type ToolChoice =
  | { readonly mode: 'auto' | 'none' | 'required' }
  /** This function or custom tool. */
  | { readonly mode: 'tool'; readonly name: string }
  /** A tool that the provider runs. */
  | { readonly mode: 'hosted'; readonly type: string }
  /** Any of these, or at least one of them. A writer without a word for it declares only these. */
  | { readonly mode: 'allowed'; readonly names: readonly string[]; readonly isRequired: boolean };

export interface Sampling {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly seed?: number;
  readonly logitBias?: JsonObject;
}

export type OutputFormat =
  | { readonly type: 'text' }
  | { readonly type: 'jsonObject' }
  | {
      readonly type: 'jsonSchema';
      readonly schema: JsonObject;
      readonly name?: string;
      readonly description?: string;
      readonly strict?: boolean;
    };

/** In the words of both families; a writer takes the nearest that its format has. */
export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** How much a model may think before it answers. At least one member is there. */
export interface ReasoningRequest {
  /** `none` switches it off. */
  readonly effort?: ReasoningEffort;
  /** Anthropic's `thinking`: enabled with a budget, or adaptive, or disabled. */
  readonly thinking?: 'enabled' | 'adaptive' | 'disabled';
  readonly budgetTokens?: number;
  /** Responses' `reasoning.summary`: auto, concise, detailed. */
  readonly summary?: string;
  /** Anthropic's `thinking.display`: summarized, omitted. */
  readonly display?: string;
}
