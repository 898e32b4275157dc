import { importClient } from '../install.ts';

// The SDKs behind one interface, so that one table of tests can ask them all the same. Of each SDK only what is used here
// has a type: the project is checked without them.

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface Reply {
  readonly text: string;
  readonly calls: readonly ToolCall[];
}

export interface Question {
  readonly model: string;
  readonly prompt: string;
  readonly image?: string;
  readonly withTools?: boolean;
  /** The calls of the answer before, and their results. */
  readonly results?: readonly (ToolCall & { readonly result: string })[];
  readonly signal?: AbortSignal;
}

export interface Connection {
  readonly port: number;
  readonly secret: string;
  readonly maxRetries: number;
  readonly fetch: typeof fetch;
}

/** An SDK as a program uses it: its requests go to `endpoint`. */
export interface SdkClient {
  readonly name: string;
  readonly endpoint: 'chat' | 'responses' | 'messages';
  open(connection: Connection): Promise<OpenClient>;
}

export interface OpenClient {
  ask(question: Question): Promise<Reply>;
  /** The pieces of the text, and the reply as the SDK puts it together. */
  stream(question: Question, onPiece: (piece: string) => void): Promise<Reply>;
  /** An object by CITY_SCHEMA. */
  structured(question: Question): Promise<unknown>;
}

const PARAMETERS = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
} as const;
export const CITY_SCHEMA = PARAMETERS;
export const TOOL = {
  name: 'weather',
  description: 'The weather of a city.',
  parameters: PARAMETERS,
} as const;
export const MAX_TOKENS = 500;

// biome-ignore lint/suspicious/noExplicitAny: the SDKs' types are not known here.
export type Any = any;

export const constructorOf = async (name: string, member = 'default'): Promise<Any> =>
  (await importClient(name))[member];
export const parsed = (text: unknown): unknown => (typeof text === 'string' ? JSON.parse(text) : text);

export const v1 = ({ port }: Connection) => `http://127.0.0.1:${port}/v1`;
