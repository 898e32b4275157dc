import { isJsonObject, type JsonObject } from '../wire/json.ts';

// The parts of a request that the echo uses, in any format. Its readers refuse nothing and ignore what they do not know.

export interface EchoConversation {
  readonly turns: readonly EchoTurn[];
  readonly tools: readonly EchoTool[];
  /** Undefined where the caller leaves it to the model. */
  readonly toolChoice: ToolChoice | undefined;
  readonly isOneCallAtMost: boolean;
  /** The JSON schema of the answer; undefined where text is wanted. */
  readonly schema: unknown;
  /** Tokens at most of one answer. */
  readonly cap: number;
}

/** A turn of the conversation: by the user, by a tool that was called, by the model, or by anyone else. */
export interface EchoTurn {
  readonly by: 'user' | 'tool' | 'model' | 'other';
  readonly text: string;
}

export interface EchoTool {
  readonly name: string;
  /** A custom tool takes text, a function takes JSON by a schema. */
  readonly isCustom: boolean;
  readonly description: string;
  readonly schema: unknown;
}

/** None, at least one, or the one that is named. */
export type ToolChoice = 'none' | 'required' | { readonly name: string };

/** The text of a content: a text, or a list of parts of which some have a text. */
export function textOf(content: unknown): string {
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
  return parts.map((part) => (isJsonObject(part) ? stringOr(part['text'], '') : stringOr(part, ''))).join('');
}

export function objectsIn(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

export function objectOr(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function stringOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

export function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

/** A function or a custom tool, as chat declares it. */
export function declaredTool(declared: JsonObject): EchoTool {
  return {
    name: stringOr(declared['name'], ''),
    isCustom: declared['type'] === 'custom',
    description: stringOr(declared['description'], ''),
    schema: declared['parameters'],
  };
}
