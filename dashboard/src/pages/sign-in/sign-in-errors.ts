/** The sentence for each code that a failed sign-in at an OpenID issuer returns with, as the API's reference lists them. */
const SENTENCES: Readonly<Record<string, string>> = {
  not_configured: 'This service has no single sign-on.',
  issuer_unavailable: 'The identity provider cannot be reached right now. Try again in a moment.',
  cancelled: 'The sign-in was cancelled at the identity provider.',
  issuer_error:
    'The identity provider reported an error. If it happens again, tell the operator of this service.',
  expired: 'That sign-in has ended: it was finished already, was begun in another browser, or took too long.',
  invalid_answer: 'The answer of the identity provider does not belong to this sign-in. Try again.',
  email_not_verified:
    'The identity provider does not vouch for your e-mail address. Its administrator can have it verified.',
  email_not_accepted: 'Your e-mail address at the identity provider cannot be used here.',
  domain_not_allowed: 'Addresses of your domain may not sign in here.',
  account_linked:
    'The account with your e-mail address belongs to another identity at the identity provider.',
  account_deactivated: 'Your account is deactivated. An owner of your organisation can say why.',
  busy: 'Too many people are signing in at this moment. Try again.',
  unavailable: 'The service cannot sign you in right now. Try again in a moment.',
};

/** Undefined for no code, and for one that nobody sends: a link must not put words on this page. */
export function signInErrorInWords(code: string | undefined): string | undefined {
  return code !== undefined && Object.hasOwn(SENTENCES, code) ? SENTENCES[code] : undefined;
}
