import { z } from 'zod';
import { text } from '../conventions/text.ts';
import { endpoint } from '../endpoint.ts';
import { MAX_EMAIL_LENGTH, MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../limits.ts';
import { Member, OrganizationReference, organizationName } from './organization.ts';

const Account = z.strictObject({ user: Member, organization: OrganizationReference }).meta({ id: 'Account' });

const Message = z.strictObject({ message: z.string() }).meta({ id: 'Message' });

// One address has one spelling: trimmed, lower-case, ASCII. Look-alikes (U+212A for k) are refused, not folded.
const EMAIL = /^[^\s@"(),:;<>[\\\]]+@[^\s@"(),:;<>[\\\]]+$/;

const email = () =>
  text()
    .transform((value) => value.trim())
    .refine(isAscii, { error: 'Must hold printable ASCII characters only.', params: { type: 'not_ascii' } })
    .transform((value) => value.toLowerCase());

const newEmail = email()
  .refine((value) => !isAscii(value) || (EMAIL.test(value) && !/\.\.|^\.|\.@|@\.|\.$/.test(value)), {
    error: 'Must be an e-mail address, for example name@example.com.',
    params: { type: 'not_an_email' },
  })
  .refine((value) => value.length <= MAX_EMAIL_LENGTH, {
    error: `Must have at most ${MAX_EMAIL_LENGTH} characters.`,
    params: { type: 'too_long' },
  });

function isAscii(value: string): boolean {
  // Control characters are ASCII too, and no part of an address.
  return /^[\u0020-\u007e]*$/.test(value);
}

const newPassword = text()
  .refine((value) => [...value].length >= MIN_PASSWORD_LENGTH, {
    error: `Must have at least ${MIN_PASSWORD_LENGTH} characters.`,
    params: { type: 'too_short' },
  })
  .refine((value) => [...value].length <= MAX_PASSWORD_LENGTH, {
    error: `Must have at most ${MAX_PASSWORD_LENGTH} characters.`,
    params: { type: 'too_long' },
  });

export const register = endpoint({
  name: 'register',
  section: 'auth',
  method: 'POST',
  path: '/auth/register',
  access: 'public',
  summary: 'Create an account, and the organisation of that name or a membership in it.',
  body: z.object({
    email: newEmail.meta({
      format: 'email',
      maxLength: MAX_EMAIL_LENGTH,
      description: 'ASCII. Trimmed and lower-cased.',
      example: 'ada@example.com',
    }),
    password: newPassword.meta({
      minLength: MIN_PASSWORD_LENGTH,
      maxLength: MAX_PASSWORD_LENGTH,
      description: 'None of the commonest. Taken as it is, spaces included.',
      example: 'correct horse battery staple',
    }),
    organization_name: organizationName().meta({
      description:
        'Trimmed and compared without regard to case. An unused name creates the organisation, a used one joins it.',
    }),
  }),
  status: 201,
  reply: Account,
  records: ['member.joined', 'budget.deposited'],
  errors: [
    {
      status: 400,
      body: 'error',
      when: 'the organisation name is blank, too long or holds a refused character',
    },
    { status: 400, body: 'detail', when: 'the password is one of the commonest' },
    { status: 403, body: 'error', when: 'the join policy does not let this address join' },
    { status: 409, body: 'error', when: 'the e-mail address has an account' },
    {
      status: 429,
      body: 'error',
      when: 'too many accounts were registered lately, from this network or in all',
    },
    { status: 503, body: 'error', when: 'too many passwords are being hashed' },
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
    email: email().meta({
      description: 'Compared without regard to case.',
      example: 'ada@example.com',
    }),
    password: text().meta({ example: 'correct horse battery staple' }),
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
    { status: 429, body: 'error', when: 'too many sign-ins for this address have failed lately' },
    { status: 503, body: 'error', when: 'too many passwords are being checked' },
  ],
});

export const google = endpoint({
  name: 'google',
  section: 'auth',
  method: 'POST',
  path: '/auth/google',
  access: 'public',
  summary: 'Sign in with a Google account; one that is new here creates or joins an organisation.',
  body: z.object({
    credential: text().meta({
      description: 'The ID token that Google gave for the client of this service, as it is.',
    }),
    organization_name: organizationName().optional().meta({
      description:
        'For an account that is new: as in registering. Of one that there is already, nothing is changed by it.',
    }),
    nonce: text().optional().meta({
      description:
        'What the page had Google put into the token, if anything: it must be there, and the token signs nobody in again.',
    }),
  }),
  reply: Account,
  setsCookies: true,
  records: ['user.login', 'member.joined', 'budget.deposited'],
  errors: [
    {
      status: 400,
      body: 'error',
      when: 'the account is new, and organization_name is missing, blank, too long or holds a refused character, or its e-mail address is none that could register',
    },
    { status: 401, body: 'error', when: 'the ID token does not hold, or the account is deactivated' },
    { status: 403, body: 'error', when: 'the join policy does not let this address join' },
    {
      status: 409,
      body: 'error',
      when: 'the e-mail address has an account that this Google account does not open',
    },
    { status: 429, body: 'error', when: 'the account is new, and too many were registered lately' },
    { status: 503, body: 'error', when: 'signing in with Google is not set up, or Google cannot be asked' },
  ],
});

export const refresh = endpoint({
  name: 'refresh',
  section: 'auth',
  method: 'POST',
  path: '/auth/refresh',
  access: 'public',
  summary: 'Exchange the refresh cookie for a fresh access cookie.',
  reply: Account,
  setsCookies: true,
  errors: [{ status: 401, body: 'unauthorized', when: 'the refresh cookie is missing, expired or ended' }],
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
