import type { z } from 'zod';
import { errorsOf } from './declared-errors.ts';
import { type Endpoint, pathParameters } from './endpoint.ts';
import { code, type Row, rowsOf } from './fields-in-words.ts';
import { type Navigation, SIGN_IN_ERRORS } from './navigation.ts';
import { EXPORTS, headerName } from './openapi.ts';
import { SECTIONS, sectionsOf } from './sections.ts';

/** The endpoints as a Markdown page: a table per section, then the fields of each endpoint. */
export function endpointsDocument(
  endpoints: readonly Endpoint[],
  navigations: readonly Navigation[],
): string {
  const sections = sectionsOf(endpoints).map((section) =>
    sectionText(
      section,
      endpoints.filter((endpoint) => endpoint.section === section),
      navigations.filter((navigation) => navigation.section === section),
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
  'What an earlier endpoint of a section has is referred to and not listed again.',
  'Endpoints, members of replies and optional inputs may be added in any release, so a client must ignore members that it does not know. From 1.0 on, nothing is removed and nothing changes its meaning within a major version. Before 1.0 a minor version may do both, and [CHANGELOG.md](../CHANGELOG.md) says so.',
  'An error has one of four bodies: `{"error": sentence}`; `{"detail": [{"loc": [...], "msg": sentence, "type": kind}]}` for an invalid request, listing every issue; `{"detail": "Unauthorized"}` without a session; `{"error": "internal error", "request_id": id}` for an internal error.',
  'Errors of all endpoints: 400 for an invalid query or body, 401 without a required session or with a repeated session cookie, 403 for a state-changing request from another site, 413 and 415 for a body that is too large or not JSON, 421 for a host that is not served, 500 for an internal error, and 503 while the database is unavailable.',
].join('\n\n');

function sectionText(
  section: Endpoint['section'],
  endpoints: readonly Endpoint[],
  navigations: readonly Navigation[],
): string {
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
    ...endpointTexts(endpoints),
    ...navigations.map(navigationText),
    ...(navigations.length > 0 ? [signInErrors()] : []),
  ].join('\n\n');
}

/** A path that a browser is sent to: no JSON, and no part of the SDK. */
function navigationText({ path, summary, query, redirects, records }: Navigation): string {
  return [
    `### ${code(`GET ${path}`)}`,
    `${summary} For a browser: it answers with a redirect.`,
    ...fieldsTable('Query', query, 'sent'),
    redirects.map(({ status, when }) => `- ${status}: ${when}`).join('\n'),
    ...(records.length > 0 ? [`Records ${records.map(code).join(', ')}.`] : []),
  ].join('\n\n');
}

function signInErrors(): string {
  return [
    'The codes of `/sign-in?error=CODE`:',
    Object.entries(SIGN_IN_ERRORS)
      .map(([name, meaning]) => `- ${code(name)}: ${meaning}`)
      .join('\n'),
  ].join('\n\n');
}

function endpointTexts(endpoints: readonly Endpoint[]): string[] {
  const written: Written = { parameters: new Map(), objects: new Map() };
  return endpoints.map((endpoint) => endpointText(endpoint, written));
}

function accessInWords({ access, roles }: Endpoint): string {
  if (access === 'public') return 'anyone';
  return roles ? roles.join(', ') : 'session';
}

function endpointText(endpoint: Endpoint, written: Written): string {
  const name = code(`${endpoint.method} ${endpoint.path}`);
  const parts = [
    `### ${name}`,
    endpoint.summary + (endpoint.setsCookies ? ' Sets or clears the session cookies.' : ''),
  ];
  const inPath = pathParameters(endpoint.path);
  if (inPath.length > 0) parts.push(`In the path: ${inPath.map(code).join(', ')}.`);
  parts.push(
    ...parametersTable(name, endpoint.query, written),
    ...fieldsTable('Header', endpoint.headers, 'sent'),
    ...(endpoint.body ? fieldsTable('Body', endpoint.body, 'sent') : []),
    ...replyTable(name, endpoint.reply, written),
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

/** The parameters and objects of earlier endpoints of the section, which are not written again. */
interface Written {
  /** Query parameters by their rows, with the endpoint that has them. */
  readonly parameters: Map<string, string>;
  /** The rows of objects, by where they are: `total`, or `limits[]` of an endpoint. */
  readonly objects: Map<string, readonly Row[]>;
}

// A reference saves a reader nothing where it stands for less than this.
const MIN_REFERRED = 4;

/** The parameters; those that an earlier endpoint has are named only. */
function parametersTable(endpoint: string, schema: z.ZodObject, { parameters }: Written): string[] {
  const rows = rowsOf(schema, 'sent');
  const known = Map.groupBy(rows, (row) => parameters.get(lineOfRow(row)));
  const referred = [...known].filter(([from, all]) => from !== undefined && all.length >= MIN_REFERRED);
  const others = rows.filter((row) => !referred.some(([, all]) => all.includes(row)));
  for (const row of rows) if (!parameters.has(lineOfRow(row))) parameters.set(lineOfRow(row), endpoint);
  return [
    ...tableOf('Query', others, 'sent'),
    ...referred.map(([from, all]) => `As in ${from}: ${all.map(({ path }) => code(path)).join(', ')}.`),
  ];
}

function fieldsTable(title: string, schema: z.ZodObject, side: 'sent' | 'got'): string[] {
  return tableOf(title, rowsOf(schema, side), side);
}

/** The fields of the reply; those of an object that is written already are not repeated. */
function replyTable(endpoint: string, schema: z.ZodObject, { objects }: Written): string[] {
  const rows = rowsOf(schema, 'got');
  const like = largestWithin(objects, rows);
  const own = new Map<string, readonly Row[]>();
  const shown = withoutRepeats(like ? without(rows, like.rows) : rows, '', new Map(objects), own);
  for (const [path, all] of own) objects.set(`${code(path)} of ${endpoint}`, all);
  objects.set(`the reply of ${endpoint}`, rows);
  return [
    ...(like ? [`The reply has the fields of ${like.where}${shown.length > 0 ? ', and more:' : '.'}`] : []),
    ...tableOf('Reply', shown, 'got'),
  ];
}

/** The rows without those inside an object that has all fields of an earlier one; its own row says which. */
function withoutRepeats(
  rows: readonly Row[],
  lead: string,
  objects: Map<string, readonly Row[]>,
  own: Map<string, readonly Row[]>,
): Row[] {
  const shown: Row[] = [];
  for (let at = 0; at < rows.length; ) {
    const row = rows[at] as Row;
    const [inner = '', inside] = insideOf(row, rows, at);
    at += 1 + inside.length;
    const like = largestWithin(objects, inside);
    const left = like ? without(inside, like.rows) : inside;
    const said = row.cells.with(
      -1,
      [row.cells.at(-1), like && `With the fields of ${like.where}.`].filter(Boolean).join(' '),
    );
    shown.push({ path: row.path, cells: said });
    const full = `${lead}${inner}`;
    for (const one of withoutRepeats(left, full, objects, own))
      shown.push({ path: `${inner}${one.path}`, cells: one.cells });
    if (inside.length === 0) continue;
    const name = full.replace(/\.$/, '');
    objects.set(code(name), inside);
    own.set(name, inside);
  }
  return shown;
}

/** The rows inside the object or list of objects of a row, from there, and how their paths begin. */
function insideOf(row: Row, rows: readonly Row[], at: number): [inner: string | undefined, inside: Row[]] {
  const next = rows[at + 1]?.path ?? '';
  const inner = [`${row.path}.`, `${row.path}[].`].find((lead) => next.startsWith(lead));
  if (inner === undefined) return [undefined, []];
  const inside: Row[] = [];
  for (const { path, cells } of rows.slice(at + 1)) {
    if (!path.startsWith(inner)) break;
    inside.push({ path: path.slice(inner.length), cells });
  }
  return [inner, inside];
}

/** The object with the most fields of which all are among these rows. */
function largestWithin(objects: ReadonlyMap<string, readonly Row[]>, rows: readonly Row[]) {
  const lines = new Set(rows.map(lineOfRow));
  return [...objects]
    .map(([where, all]) => ({ where, rows: all }))
    .filter(({ rows: all }) => all.length >= MIN_REFERRED && all.every((row) => lines.has(lineOfRow(row))))
    .sort((one, other) => other.rows.length - one.rows.length)[0];
}

function without(rows: readonly Row[], known: readonly Row[]): Row[] {
  const lines = new Set(known.map(lineOfRow));
  return rows.filter((row) => !lines.has(lineOfRow(row)));
}

function lineOfRow({ path, cells }: Row): string {
  return [path, ...cells].join('|');
}

function tableOf(title: string, rows: readonly Row[], side: 'sent' | 'got'): string[] {
  if (rows.length === 0) return [];
  const header = side === 'sent' ? [title, 'Required', 'Type', 'Rules'] : [title, 'Type', 'Rules'];
  const shown = (path: string) => code(title === 'Header' ? headerName(path) : path);
  return [
    table(
      header,
      rows.map(({ path, cells }) => [shown(path), ...cells]),
    ),
  ];
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
