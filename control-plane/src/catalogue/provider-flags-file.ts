import { isAbsolute } from 'node:path';
import {
  KEPT_MEMBERS,
  type ProviderAuth,
  type ProviderFlags,
  type StatedProviderFlags,
  SURFACES,
  type Surface,
  surfacesAtDefaultPaths,
} from '@gatehouse/contract';
import { parseProxy } from '@gatehouse/http/outgoing';
import { z } from 'zod';
import { CloudCredential } from './cloud-credential-file.ts';
import { boundedRecord, text } from './file-text.ts';

// The file format of a provider's flags.

const MAX_ENTRIES = 32;
const MAX_DROPPED = 64;
const MAX_TEXT_LENGTH = 1_024;
const MAX_PATH_LENGTH = 200;

// Belong to the connection or to the gateway, or hold a credential, which has no place in a file.
const RESERVED_HEADERS = new Set([
  ...['accept-encoding', 'authorization', 'connection', 'content-encoding', 'content-length', 'content-type'],
  ...['cookie', 'expect', 'forwarded', 'host', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

function isHeaderName(value: string): boolean {
  return (
    /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/.test(value) &&
    !/^(?:proxy|x-forwarded)-/i.test(value) &&
    !RESERVED_HEADERS.has(value.toLowerCase())
  );
}

const headerName = text(isHeaderName, 'the name of a header that the gateway does not set itself');
const printable = text(
  (value) => /^[\x20-\x7e]*$/.test(value) && value.length <= MAX_TEXT_LENGTH,
  `at most ${MAX_TEXT_LENGTH} printable ASCII characters`,
);
const name = text(
  (value) => /^[\x21-\x7e]{1,100}$/.test(value),
  '1 to 100 printable ASCII characters without spaces',
);
// Appended to base_url as it stands: a query, or a way up, would change another part of the address.
const path = text(
  (value) =>
    /^(?:\/(?:[A-Za-z0-9._~!$&'()*+,;=:@%-]|\{model\}|\{[A-Za-z0-9-]+\|[A-Za-z0-9-]+\})+)+$/.test(value) &&
    !/\/(?:\.|%2e){1,2}(?:\/|$)/i.test(value) &&
    value.length <= MAX_PATH_LENGTH,
  'a path below base_url, such as /chat/completions, in which {model} and {whole|stream} may stand',
);

function isProxy(value: string): boolean {
  const url = value === 'none' ? undefined : parseProxy(value);
  return value === 'none' || (url !== undefined && url.username === '' && url.password === '');
}

const MAX_FILE_PATH_LENGTH = 1_024;
// Every gateway reads it, wherever it was started.
const filePath = text(
  (value) => isAbsolute(value) && value.length <= MAX_FILE_PATH_LENGTH,
  'the absolute path of a PEM file',
);

const FIXED_AUTH = ['bearer', 'x-api-key', 'api-key', 'none'] as const;
const AUTH = `must be ${FIXED_AUTH.join(' or ')}, or the name of a header, as { header: x-key }`;
const Auth = z.union([z.enum(FIXED_AUTH), z.strictObject({ header: headerName })], { error: AUTH });

const names = (most: number) => z.array(name).max(most, { error: `must have at most ${most} names` });

export const PROVIDER_FLAG_MEMBERS = {
  auth: Auth.optional(),
  headers: boundedRecord(headerName, printable, MAX_ENTRIES).optional(),
  query: boundedRecord(name, printable, MAX_ENTRIES).optional(),
  surfaces: z
    .union([z.array(z.enum(SURFACES)).min(1), z.partialRecord(z.enum(SURFACES), path)], {
      error: `must be a list of ${SURFACES.join(', ')}, or a mapping of them to paths such as /chat/completions`,
    })
    .refine((surfaces) => Object.keys(surfaces).length > 0, { error: 'must not be empty' })
    .optional(),
  stream_usage: z.enum(['ask', 'never', 'always']).optional(),
  drop: names(MAX_DROPPED).optional(),
  add: boundedRecord(
    name,
    z.union([printable, z.number(), z.boolean()], { error: 'must be text, a number, true or false' }),
    MAX_ENTRIES,
  ).optional(),
  keep: z.array(z.enum(KEPT_MEMBERS)).optional(),
  strict_fields: z.boolean().optional(),
  beta_headers: z
    .union([z.enum(['forward', 'strip']), boundedRecord(name, name.nullable(), MAX_DROPPED)], {
      error: 'must be forward or strip, or a mapping of names to other names or null',
    })
    .optional(),
  credential: CloudCredential.optional(),
  proxy: text(
    isProxy,
    'none, or the address of a proxy such as http://proxy.example.com:3128, without a user: one with a password belongs in HTTPS_PROXY',
  ).optional(),
  ca_file: filePath.optional(),
  client_cert_file: filePath.optional(),
  client_key_file: filePath.optional(),
};

type FlagMembers = z.output<z.ZodObject<typeof PROVIDER_FLAG_MEMBERS>>;

/** The flags that a provider of the file states. */
export function statedFlags(provider: FlagMembers): StatedProviderFlags {
  const stated: { -readonly [Flag in keyof ProviderFlags]?: ProviderFlags[Flag] | undefined } = {
    auth: provider.auth && lowerCaseAuth(provider.auth),
    headers: provider.headers && lowerCaseNames(provider.headers),
    query: provider.query,
    surfaces: provider.surfaces && surfacesOf(provider.surfaces),
    streamUsage: provider.stream_usage,
    drop: provider.drop && [...new Set(provider.drop)],
    add: provider.add,
    keep: provider.keep && [...new Set(provider.keep)],
    strictFields: provider.strict_fields,
    betaHeaders: provider.beta_headers,
    credential: provider.credential,
    proxy: provider.proxy,
    caFile: provider.ca_file,
    clientCertFile: provider.client_cert_file,
    clientKeyFile: provider.client_key_file,
  };
  return Object.fromEntries(Object.entries(stated).filter(([, value]) => value !== undefined));
}

function surfacesOf(surfaces: readonly Surface[] | ProviderFlags['surfaces']): ProviderFlags['surfaces'] {
  return Array.isArray(surfaces) ? surfacesAtDefaultPaths(surfaces) : (surfaces as ProviderFlags['surfaces']);
}

function lowerCaseAuth(auth: ProviderAuth): ProviderAuth {
  return typeof auth === 'string' ? auth : { header: auth.header.toLowerCase() };
}

function lowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([header, value]) => [header.toLowerCase(), value]));
}
