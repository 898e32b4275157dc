import { isJsonObject, type JsonObject } from '../../wire/json.ts';

const MAX_VALUES = 20_000;

/**
 * True if a schema meets what OpenAI's formats demand of a strict one: every object lists all its properties as required and allows no
 * others. Anthropic's output always keeps to its schema, OpenAI's only to a strict one.
 */
export function isStrictSchema(schema: JsonObject): boolean {
  const open: unknown[] = [schema];
  for (let seen = 0; open.length > 0; seen += 1) {
    const value = open.pop();
    if (seen > MAX_VALUES) return false;
    if (typeof value !== 'object' || value === null) continue;
    if (isJsonObject(value) && isJsonObject(value['properties']) && !isClosed(value, value['properties']))
      return false;
    for (const member of Object.values(value)) open.push(member);
  }
  return schema['type'] === 'object';
}

function isClosed(schema: JsonObject, properties: JsonObject): boolean {
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  return (
    schema['additionalProperties'] === false && Object.keys(properties).every((name) => required.has(name))
  );
}
