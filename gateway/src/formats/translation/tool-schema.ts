import { isJsonObject, type JsonObject } from '../../wire/json.ts';

/**
 * The schema of a function's arguments as OpenAI's formats demand it: an object with `properties`, be it without any. Anthropic takes a
 * schema without them, and clients send one for a tool that has no arguments. What is within stays.
 */
export function argumentsSchema(parameters: JsonObject = {}): JsonObject {
  const typed = typeof parameters['type'] === 'string' ? parameters : { ...parameters, type: 'object' };
  return typed['type'] !== 'object' || isJsonObject(typed['properties'])
    ? typed
    : { ...typed, properties: {} };
}
