import { z } from 'zod';
import { preparedPassword } from '../conventions/password.ts';
import { codePoints, text } from '../conventions/text.ts';
import { endpoint } from '../endpoint.ts';
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../limits.ts';
import { Secret } from '../secret.ts';
import { emailAddress, emailText } from './fields.ts';
import { Member, OrganizationReference, organizationName } from './organization.ts';

const Account = z.strictObject({ user: Member, organization: OrganizationReference }).meta({ id: 'Account' });

const Message = z.strictObject({ message: z.string() }).meta({ id: 'Message' });

const newPassword = text()
  .refine((value) => codePoints(preparedPassword(value)) >= MIN_PASSWORD_LENGTH, {
    error: `Must have at least ${MIN_PASSWORD_LENGTH} characters.`,
    params: { type: 'too_short' },
  })
  .refine((value) => codePoints(preparedPassword(value)) <= MAX_PASSWORD_LENGTH, {
    error: `Must have at most ${MAX_PASSWORD_LENGTH} characters.`,
    params: { type: 'too_long' },
  })
  .transform((value) => new Secret(value));

export const register = endpoint({
  name: 'register',
  section: 'auth',
  method: 'POST',
  path: '/auth/register',
  access: 'public',
  summary: 'Create an account. It creates the named organisation, or joins it where it exists.',
  body: z.object({
    email: emailAddress(),
    password: newPassword.meta({
      minLength: MIN_PASSWORD_LENGTH,
      maxLength: MAX_PASSWORD_LENGTH,
      description: 'Common passwords are rejected. Not trimmed.',
      example: 'correct horse battery staple',
    }),
    organization_name: organizationName().meta({
      description:
        'Trimmed; case-insensitive. A new name creates the organisation, an existing one joins it.',
    }),
  }),
  status: 201,
  reply: Account,
  records: ['member.joined', 'budget.deposited'],
  errors: [
    {
      status: 400,
      body: 'error',
      when: 'the organisation name is blank, too long or contains a forbidden character',
    },
    { status: 400, body: 'detail', when: 'the password is too common' },
    {
      status: 403,
      body: 'error',
      when: 'the join policy does not let this address join, or passwords are switched off',
    },
    { status: 409, body: 'error', when: 'the e-mail address already has an account' },
    {
      status: 429,
      body: 'error',
      when: 'too many recent registrations, from this network or in total',
    },
    { status: 503, body: 'error', when: 'the queue for password hashing is full' },
  ],
});

export const login = endpoint({
  name: 'login',
  section: 'auth',
  method: 'POST',
  path: '/auth/login',
  access: 'public',
  summary: 'Sign in with an e-mail address and a password.',
  body: z.object({
    email: emailText().meta({
      description: 'Case-insensitive.',
      example: 'ada@example.com',
    }),
    password: text()
      .transform((value) => new Secret(value))
      .meta({ example: 'correct horse battery staple' }),
  }),
  reply: Account,
  setsCookies: true,
  records: ['user.login'],
  errors: [
    {
      status: 401,
      body: 'error',
      when: 'the address or the password is wrong, or the account is deactivated',
    },
    { status: 403, body: 'error', when: 'passwords are switched off' },
    { status: 429, body: 'error', when: 'too many recent failed sign-ins for this address' },
    { status: 503, body: 'error', when: 'the queue for password hashing is full' },
  ],
});

export const google = endpoint({
  name: 'google',
  section: 'auth',
  method: 'POST',
  path: '/auth/google',
  access: 'public',
  summary: 'Sign in with a Google account. A new account creates or joins an organisation.',
  body: z.object({
    credential: text()
      .meta({ description: 'The ID token that Google issued to the client id of this service, unchanged.' })
      .transform((value) => new Secret(value)),
    organization_name: organizationName().optional().meta({
      description: 'For a new account, as in `register`. Ignored for an existing account.',
    }),
    nonce: text().optional().meta({
      description:
        'The nonce that the page passed to Google. The token must contain it, and is then accepted only once.',
    }),
  }),
  reply: Account,
  setsCookies: true,
  records: ['user.login', 'member.joined', 'budget.deposited'],
  errors: [
    {
      status: 400,
      body: 'error',
      when: 'the account is new, and organization_name is missing, blank, too long or contains a forbidden character, or its e-mail address could not register',
    },
    { status: 401, body: 'error', when: 'the ID token is invalid, or the account is deactivated' },
    { status: 403, body: 'error', when: 'the join policy does not let this address join' },
    {
      status: 409,
      body: 'error',
      when: 'the e-mail address has an account that is not linked to this Google account',
    },
    { status: 429, body: 'error', when: 'the account is new, and there were too many recent registrations' },
    { status: 503, body: 'error', when: 'Google sign-in is not configured, or Google is unreachable' },
  ],
});

export const refresh = endpoint({
  name: 'refresh',
  section: 'auth',
  method: 'POST',
  path: '/auth/refresh',
  access: 'public',
  summary: 'Exchange the refresh cookie for a new access cookie.',
  reply: Account,
  setsCookies: true,
  errors: [{ status: 401, body: 'unauthorized', when: 'the refresh cookie is missing, expired or revoked' }],
});

export const logout = endpoint({
  name: 'logout',
  section: 'auth',
  method: 'POST',
  path: '/auth/logout',
  access: 'public',
  summary: 'End the session on the server and clear both cookies.',
  reply: Message,
  setsCookies: true,
  records: ['user.logout'],
});

export const me = endpoint({
  name: 'me',
  section: 'auth',
  method: 'GET',
  path: '/auth/me',
  summary: 'The account of the session.',
  reply: Account,
});
