import { z } from 'zod';
import { text } from './file-text.ts';

// The file format of the credential that a cloud issues.

const name = text(
  (value) => /^[a-z0-9][a-z0-9-]{0,62}$/.test(value),
  'lower-case letters, digits and -, up to 63',
);
const scope = text(
  (value) => /^[\x21-\x7e]{1,255}$/.test(value),
  '1 to 255 printable ASCII characters without spaces',
);
const MAX_SCOPES = 16;

export const CloudCredential = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({ kind: z.literal('aws'), region: name, service: name.default('bedrock') }),
    z.strictObject({
      kind: z.literal('google'),
      scopes: z
        .array(scope)
        .min(1)
        .max(MAX_SCOPES, { error: `must have at most ${MAX_SCOPES} scopes` })
        .default(['https://www.googleapis.com/auth/cloud-platform']),
    }),
    z.strictObject({
      kind: z.literal('azure'),
      scope: scope.default('https://cognitiveservices.azure.com/.default'),
    }),
  ],
  {
    error: 'must be a mapping whose kind is aws, google or azure; a key of your own is named by api_key_env',
  },
);

/** The members, with the kind that has each. */
export const CLOUD_CREDENTIAL_MEMBERS = [
  'kind',
  'region and service (aws)',
  'scopes (google)',
  'scope (azure)',
];
