import type { z } from 'zod';
import { errorsOf } from './declared-errors.ts';
import { type Endpoint, pathParameters } from './endpoint.ts';
import { type JsonSchema, jsonSchema, type NamedSchemas, resolved } from './json-schema.ts';
import { EXPORTS, headerName, SECTIONS, sectionsOf } from './openapi.ts';

/** The endpoints as a Markdown page: a table per section, then the fields of each endpoint. */
export function endpointsDocument(endpoints: readonly Endpoint[]): string {
  const sections = sectionsOf(endpoints).map((section) =>
    sectionText(
      section,
      endpoints.filter((endpoint) => endpoint.section === section),
    ),
  );
  return `${[
    '# Endpoints',
    'Generated from the contract; do not edit. Paths are relative to `/api`. The machine-readable form is [openapi.json](openapi.json).',
    SHARED,
    ...sections,
  ].join('\n\n')}\n`;
}

const SHARED = [
  'Endpoints, members of replies and optional inputs may be added in any release, so a client must ignore members that it does not know. From 1.0 on, nothing is removed and nothing changes its meaning within a major version. Before 1.0 a minor version may do both, and [CHANGELOG.md](../CHANGELOG.md) says so.',
  'An error has one of four bodies: `{"error": sentence}`; `{"detail": [{"loc": [...], "msg": sentence, "type": kind}]}` for an invalid request, listing every issue; `{"detail": "Unauthorized"}` without a session; `{"error": "internal error", "request_id": id}` for an internal error.',
  'Errors of all endpoints: 400 for an invalid query or body, 401 without a required session or with a repeated session cookie, 403 for a state-changing request from another site, 413 and 415 for a body that is too large or not JSON, 421 for a host that is not served, 500 for an internal error, and 503 while the database is unavailable.',
].join('\n\n');

function sectionText(section: Endpoint['section'], endpoints: readonly Endpoint[]): string {
  return [
    `## ${section.charAt(0).toUpperCase()}${section.slice(1)}`,
    SECTIONS[section],
    table(
      ['Method and path', 'Name', 'Access', 'Statuses', 'Records'],
      endpoints.map((endpoint) => [
        code(`${endpoint.method} ${endpoint.path}`),
        code(endpoint.name),
        accessInWords(endpoint),
        [endpoint.status, ...new Set(errorsOf(endpoint).map(({ status }) => status))].join(', '),
        endpoint.records.map(code).join(', ') || 'nothing',
      ]),
    ),
    ...endpoints.map(endpointText),
  ].join('\n\n');
}

function accessInWords({ access, roles }: Endpoint): string {
  if (access === 'public') return 'anyone';
  return roles ? roles.join(', ') : 'session';
}

function endpointText(endpoint: Endpoint): string {
  const parts = [
    `### ${code(`${endpoint.method} ${endpoint.path}`)}`,
    endpoint.summary + (endpoint.setsCookies ? ' Sets or clears the session cookies.' : ''),
  ];
  const inPath = pathParameters(endpoint.path);
  if (inPath.length > 0) parts.push(`In the path: ${inPath.map(code).join(', ')}.`);
  parts.push(
    ...fieldsTable('Query', endpoint.query, 'sent'),
    ...fieldsTable('Header', endpoint.headers, 'sent'),
    ...(endpoint.body ? fieldsTable('Body', endpoint.body, 'sent') : []),
    ...fieldsTable('Reply', endpoint.reply, 'got'),
  );
  if (endpoint.exports.length > 0) {
    parts.push(
      'Other formats of the reply, by `Accept`:',
      endpoint.exports.map((type) => `- ${code(type)}: ${EXPORTS[type]}`).join('\n'),
    );
  }
  if (endpoint.errors.length > 0) {
    parts.push(
      'Errors, besides those of all endpoints:',
      endpoint.errors.map(({ status, when }) => `- ${status}: ${when}`).join('\n'),
    );
  }
  return parts.join('\n\n');
}

function fieldsTable(title: string, schema: z.ZodObject, side: 'sent' | 'got'): string[] {
  const named: NamedSchemas = {};
  const rows = fieldsOf('', resolved(jsonSchema(schema, side, named), named), named);
  if (rows.length === 0) return [];
  const header = side === 'sent' ? [title, 'Required', 'Type', 'Rules'] : [title, 'Type', 'Rules'];
  return [
    table(
      header,
      rows.map(({ path, isRequired, field }) => [
        code(title === 'Header' ? headerName(path) : path),
        ...(side === 'sent' ? [isRequired ? 'yes' : 'no'] : []),
        typeInWords(field, named) + (side === 'got' && !isRequired ? ', not always present' : ''),
        rulesInWords(field, named),
      ]),
    ),
  ];
}

interface Field {
  readonly path: string;
  readonly isRequired: boolean;
  readonly field: JsonSchema;
}

// Lists nested fields as well: `requests[].metrics.total_ms`.
function fieldsOf(lead: string, object: JsonSchema, named: NamedSchemas): Field[] {
  return Object.entries(object.properties ?? {}).flatMap(([name, field]) => {
    const path = `${lead}${name}`;
    const own = { path, isRequired: object.required?.includes(name) ?? false, field };
    const inner = withoutNull(field, named);
    if (inner.properties) return [own, ...fieldsOf(`${path}.`, inner, named)];
    const entry = inner.items && withoutNull(inner.items, named);
    return entry?.properties ? [own, ...fieldsOf(`${path}[].`, entry, named)] : [own];
  });
}

/** The schema without the null alternative of its `anyOf`. */
function withoutNull(schema: JsonSchema, named: NamedSchemas): JsonSchema {
  const others = schema.anyOf?.filter((option) => option.type !== 'null') ?? [];
  return resolved(others.length === 1 ? (others[0] as JsonSchema) : schema, named);
}

const FORMATS: Readonly<Record<string, string>> = { uuid: 'uuid', 'date-time': 'timestamp', email: 'e-mail' };

function typeInWords(schema: JsonSchema, named: NamedSchemas): string {
  const it = resolved(schema, named);
  if (it.anyOf) return it.anyOf.map((option) => typeInWords(option, named)).join(' or ');
  if (it.not) return 'nothing';
  if (it.const !== undefined) return code(JSON.stringify(it.const));
  if (it.enum) return it.enum.map((value) => code(String(value))).join(', ');
  if (it.items) return `list of ${typeInWords(it.items, named)}`;
  if (typeof it.additionalProperties === 'object')
    return `map of string to ${typeInWords(it.additionalProperties, named)}`;
  const types = [it.type ?? 'anything'].flat();
  return types.map((type) => (type === 'string' && it.format && FORMATS[it.format]) || type).join(' or ');
}

/** The description of a field with its bounds and its default, as a sentence or two. */
export function rulesInWords(schema: JsonSchema, named: NamedSchemas): string {
  const it = { ...withoutNull(schema, named), ...schema };
  const rules = [
    bounds(it.minimum, it.maximum),
    bounds(it.minLength, it.maxLength, ['character', 'characters']),
    bounds(it.minItems, it.maxItems, ['entry', 'entries']),
    it.pattern !== undefined && `matches ${code(it.pattern)}`,
    it.default !== undefined && `${code(String(it.default))} unless given`,
  ].filter((rule) => rule !== false && rule !== undefined);
  return [it.description, rules.length > 0 && `${capitalized(rules.join('; '))}.`].filter(Boolean).join(' ');
}

function bounds(
  least: number | undefined,
  most: number | undefined,
  counted?: readonly [one: string, more: string],
): string | undefined {
  const last = most ?? least;
  const unit = counted ? ` ${counted[last === 1 ? 0 : 1]}` : '';
  if (last === undefined) return undefined;
  if (least === undefined) return `at most ${last}${unit}`;
  return most === undefined ? `at least ${last}${unit}` : `${least} to ${most}${unit}`;
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

function code(text: string): string {
  return `\`${text}\``;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
