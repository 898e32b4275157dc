import { errorsOf } from './declared-errors.ts';
import type { Endpoint } from './endpoint.ts';
import { code } from './fields-in-words.ts';
import { type Navigation, SIGN_IN_ERRORS } from './navigation.ts';
import { SECTIONS, sectionsOf } from './sections.ts';

/** The endpoints as a Markdown page: an index, with a table per section. Their fields are in the OpenAPI document. */
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
  return `${[INTRODUCTION, ...sections].join('\n\n')}\n`;
}

const INTRODUCTION = `# Endpoints

<!-- Written by \`npm run generate\` from the contract. -->

Paths are relative to \`/api\`. The running service shows every input, reply, rule and error of each, with examples, on its page
\`/reference\`. [openapi.json](openapi.json), served at \`/api/openapi.json\`, has the same for programs.

Endpoints, members of replies and optional inputs may be added in any release, so a client must ignore members that it does not know. From
1.0 on, nothing is removed and nothing changes its meaning within a major version. Before 1.0 a minor version may do both, and
[CHANGELOG.md](../CHANGELOG.md) says so.

An error has one of four bodies:

- \`{"error": sentence}\`
- for an invalid request, with every issue: \`{"detail": [{"loc": [...], "msg": sentence, "type": kind}]}\`
- without a session: \`{"detail": "Unauthorized"}\`
- for an internal error: \`{"error": "internal error", "request_id": id}\`

The tables leave out what every endpoint may answer with: 400 for an invalid query or body; 401 for a wrong password, without a required
session, or with a repeated session cookie; 403 for another role, or for a state-changing request from another site; 413 and 415 for a body
that is too large or not JSON; 421 for a host that is not served; 500 for an internal error; 503 while the database is unavailable.

An endpoint is open to anyone, to every account with a session, or to the roles named. It records its events in the
[activity log](activity-log.md).`;

// As the introduction says.
const OF_ALL: ReadonlySet<number> = new Set([400, 401, 403, 413, 415, 421, 500, 503]);

function sectionText(
  section: Endpoint['section'],
  endpoints: readonly Endpoint[],
  navigations: readonly Navigation[],
): string {
  return [
    `## ${section.charAt(0).toUpperCase()}${section.slice(1)}`,
    SECTIONS[section],
    table([
      ...endpoints.map((endpoint) => ({
        ...endpoint,
        summary: summaryOf(endpoint),
        access: accessInWords(endpoint),
        statuses: [endpoint.status, ...errorsOf(endpoint).map(({ status }) => status)].filter(
          (status) => !OF_ALL.has(status),
        ),
      })),
      ...navigations.map((navigation) => ({
        ...navigation,
        method: 'GET',
        access: 'anyone',
        statuses: navigation.redirects.map(({ status }) => status),
      })),
    ]),
    ...(navigations.length > 0 ? [signInErrors()] : []),
  ].join('\n\n');
}

function summaryOf({ summary, setsCookies }: Endpoint): string {
  const isSaid = summary.includes('cookies');
  return setsCookies && !isSaid ? `${summary} Sets or clears the session cookies.` : summary;
}

function accessInWords({ access, roles }: Endpoint): string {
  if (access === 'public') return 'anyone';
  return roles ? roles.join(', ') : 'session';
}

function signInErrors(): string {
  return [
    'The two `oidc` paths are for a browser. They redirect it to the issuer and back to the page, or to `/sign-in?error=CODE` with one of these codes:',
    Object.entries(SIGN_IN_ERRORS)
      .map(([name, meaning]) => `- ${code(name)}: ${meaning}`)
      .join('\n'),
  ].join('\n\n');
}

interface Line {
  readonly method: string;
  readonly path: string;
  readonly name: string;
  readonly summary: string;
  readonly access: string;
  readonly statuses: readonly number[];
  readonly records: readonly string[];
}

function table(lines: readonly Line[]): string {
  return [
    '| Method and path | Name | Description | Access | Statuses | Records |',
    '|---|---|---|---|---|---|',
    ...lines.map(({ method, path, name, summary, access, statuses, records }) => {
      const events = records.map(code).join(', ');
      return `| ${code(`${method} ${path}`)} | ${code(name)} | ${summary} | ${access} | ${[...new Set(statuses)].join(', ')} | ${events} |`;
    }),
  ].join('\n');
}
