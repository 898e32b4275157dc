import { z } from 'zod';

/** The part of a JSON Schema (draft 2020-12) that the documents read. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: unknown;
  readonly description?: string;
  readonly examples?: readonly unknown[];
}

/** The schemas that have an id, by id. */
export type NamedSchemas = Record<string, JsonSchema>;

const DEFINITIONS = '#/$defs/';
export const COMPONENTS = '#/components/schemas/';

/**
 * A zod schema as JSON Schema: the side that callers send, or the side that they get. Schemas with an id are
 * put into `named` and referred to. Throws for one that has no JSON form.
 */
export function jsonSchema(schema: z.ZodType, side: 'sent' | 'got', named: NamedSchemas): JsonSchema {
  const { $schema, $defs, ...root } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io: side === 'sent' ? 'input' : 'output',
    override: ({ zodSchema, jsonSchema }) => readable(jsonSchema, metaOf(zodSchema)),
  });
  for (const [name, definition] of Object.entries($defs ?? {})) {
    named[name] = withComponentReferences(definition);
  }
  return withComponentReferences(root);
}

function metaOf(schema: z.core.$ZodType): Record<string, unknown> {
  return z.globalRegistry.get(schema) ?? {};
}

function readable(schema: z.core.JSONSchema.BaseSchema, meta: Record<string, unknown>): void {
  // zod drops the default of whatever a transform follows; where it is stated by hand it is meant for readers.
  if (meta['default'] !== undefined) schema.default = meta['default'];
  if ('example' in schema) {
    schema.examples = [schema['example']];
    delete schema['example'];
  }
  // The format says it; the pattern that zod adds to it fills half a screen.
  if (schema.format === 'uuid' || schema.format === 'date-time') delete schema.pattern;
  // The bounds of exact numbers hold for every integer and say nothing of this one.
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER && meta['maximum'] === undefined) delete schema.maximum;
}

function withComponentReferences(schema: object): JsonSchema {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      key === '$ref' && typeof value === 'string' ? value.replace(DEFINITIONS, COMPONENTS) : value,
    ),
  ) as JsonSchema;
}

/** The schema itself, where one refers to a named schema. */
export function resolved(schema: JsonSchema, named: NamedSchemas): JsonSchema {
  if (schema.$ref === undefined) return schema;
  const target = named[schema.$ref.slice(COMPONENTS.length)];
  if (!target) throw new Error(`${schema.$ref} names no schema`);
  return target;
}
