import { z } from 'zod';
import type { ActivityAction } from './events.ts';

/** A redirect that a navigation answers with, and when. */
export interface RedirectCase {
  readonly status: 302 | 303;
  readonly when: string;
}

/**
 * A path that a browser is sent to, and that answers by sending it on. It has no JSON, so no SDK calls it. `path` is
 * relative to `/api`; anyone may follow it, with GET.
 */
export interface Navigation<Event extends ActivityAction = ActivityAction> {
  /** Also the OpenAPI operation id and the operation in the log. */
  readonly name: string;
  readonly section: 'auth';
  readonly path: `/${string}`;
  readonly summary: string;
  /** A parameter of another form is ignored: a person would see the refusal. */
  readonly query: z.ZodObject;
  readonly redirects: readonly RedirectCase[];
  /** The events that it can record in the activity log. */
  readonly records: readonly Event[];
}

const PAGE_OF_ERRORS = '`/sign-in?error=CODE`';

/** Why a sign-in at the issuer failed: the codes of `/sign-in?error=CODE`, and what each means. */
export const SIGN_IN_ERRORS = {
  not_configured: 'this service has no OpenID issuer',
  issuer_unavailable: 'the issuer cannot be reached, or answers what cannot be trusted',
  cancelled: 'the person, or the issuer on their behalf, declined',
  issuer_error: 'the issuer reported another error',
  expired: 'this browser began no such sign-in, began it more than ten minutes ago, or has finished it',
  invalid_answer: 'the code, the ID token or the name of the issuer is not the one of this sign-in',
  email_not_verified: 'the issuer does not vouch for an e-mail address of the account',
  email_not_accepted: 'the e-mail address has a form that no account here can have',
  domain_not_allowed: 'the domain of the e-mail address is not among those that may sign in',
  account_linked: 'the e-mail address has an account that another identity of this issuer opens',
  account_deactivated: 'the account is deactivated',
  busy: 'too many sign-ins are being checked',
  unavailable: 'the service cannot finish a sign-in right now',
} as const;

export type SignInErrorCode = keyof typeof SIGN_IN_ERRORS;

export const oidc: Navigation<never> = {
  name: 'oidc',
  section: 'auth',
  path: '/auth/oidc',
  summary: 'Begin to sign in at the OpenID issuer of this service, by an authorization code with PKCE.',
  query: z.object({
    return: z.string().optional().meta({
      description:
        'The path of the page to open afterwards; anything but a path of this service counts as /.',
      example: '/keys',
    }),
  }),
  redirects: [
    { status: 302, when: 'to the issuer' },
    { status: 303, when: `to ${PAGE_OF_ERRORS} where there is no issuer, or it cannot be reached` },
  ],
  records: [],
};

export const oidcCallback = {
  name: 'oidcCallback',
  section: 'auth',
  path: '/auth/oidc/callback',
  summary: 'Finish that sign-in: the issuer sends the browser here. Sets the session cookies.',
  query: z.object({
    code: z.string().optional().meta({ description: 'From the issuer.' }),
    state: z.string().optional().meta({ description: 'From the issuer.' }),
    iss: z.string().optional().meta({ description: 'From the issuer.' }),
    error: z.string().optional().meta({ description: 'From the issuer.' }),
  }),
  redirects: [{ status: 303, when: `to the page, signed in; otherwise to ${PAGE_OF_ERRORS}` }],
  records: ['user.login', 'member.joined', 'budget.deposited'],
} as const satisfies Navigation;

/** Every navigation of the API. */
export const navigations = [oidc, oidcCallback] as const satisfies readonly Navigation[];
