import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from './config.ts';
import { oidcSettings } from './sign-in-settings.ts';

const OIDC = {
  OIDC_ISSUER: 'https://login.example/realms/acme',
  OIDC_CLIENT_ID: 'gatehouse',
  OIDC_ORGANIZATION: 'Acme',
};

const issueOf = (environment: Record<string, string>) => {
  try {
    readConfig(environment);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
};

describe('the settings of OpenID Connect', () => {
  it('are off by default, and whole once the three that are needed are set', () => {
    assert.equal(oidcSettings(readConfig({})), undefined);
    const { clientSecret, domains, ...rest } = oidcSettings(readConfig(OIDC)) ?? assert.fail();
    assert.deepEqual([clientSecret, domains], [undefined, undefined]);
    assert.deepEqual(rest, {
      issuer: OIDC.OIDC_ISSUER,
      clientId: 'gatehouse',
      label: 'Continue with single sign-on',
      organization: 'Acme',
    });
    const more = oidcSettings(
      readConfig({
        ...OIDC,
        OIDC_CLIENT_SECRET: 's3cret',
        OIDC_DOMAINS: 'Acme.example, acme.org',
        OIDC_LABEL: 'Acme',
      }),
    );
    assert.deepEqual(
      [more?.clientSecret?.reveal(), [...(more?.domains ?? [])], more?.label],
      ['s3cret', ['acme.example', 'acme.org'], 'Acme'],
    );
  });

  for (const [given, issue] of [
    [{ OIDC_ISSUER: OIDC.OIDC_ISSUER }, /OIDC_ISSUER is set and OIDC_CLIENT_ID and OIDC_ORGANIZATION not/],
    [{ ...OIDC, OIDC_ORGANIZATION: '' }, /OIDC_ISSUER is set and OIDC_ORGANIZATION not/],
    [
      { OIDC_CLIENT_ID: 'a', OIDC_DOMAINS: 'a.example' },
      /OIDC_CLIENT_ID and OIDC_DOMAINS set without OIDC_ISSUER/,
    ],
    [
      { ...OIDC, OIDC_ISSUER: 'http://login.example' },
      /^.*OIDC_ISSUER is .*expected an address starting with https/s,
    ],
    [
      { ...OIDC, OIDC_ORGANIZATION: '<b>' },
      /OIDC_ORGANIZATION is "<b>", expected the name of an organisation/,
    ],
    [{ ...OIDC, OIDC_DOMAINS: '@acme.example' }, /OIDC_DOMAINS is "@acme.example", expected domains/],
    [{ ...OIDC, OIDC_DOMAINS: 'a.example,' }, /OIDC_DOMAINS is /],
    [{ ...OIDC, OIDC_CLIENT_SECRET: 'two words' }, /OIDC_CLIENT_SECRET is \(not shown\)/],
    [{ ...OIDC, OIDC_LABEL: 'x'.repeat(61) }, /OIDC_LABEL is /],
    [{ PUBLIC_URL: 'https://gatehouse.example/base' }, /PUBLIC_URL is /],
    [{ PUBLIC_URL: 'gatehouse.example' }, /PUBLIC_URL is /],
    [{ PASSWORD_SIGN_IN: 'off' }, /PASSWORD_SIGN_IN is off and there is no other way in/],
    [{ PASSWORD_SIGN_IN: 'no' }, /PASSWORD_SIGN_IN is "no", expected on or off/],
  ] as const) {
    it(`does not accept ${JSON.stringify(given)}`, () => assert.match(issueOf(given) ?? '', issue));
  }

  it('switches passwords off where there is another way in', () => {
    assert.equal(readConfig({ ...OIDC, PASSWORD_SIGN_IN: 'off' }).passwordSignIn, false);
    assert.equal(readConfig({ GOOGLE_CLIENT_ID: 'a', PASSWORD_SIGN_IN: 'off' }).passwordSignIn, false);
  });

  it('takes the address of the service without its slash', () => {
    assert.equal(
      readConfig({ PUBLIC_URL: 'https://Gatehouse.example/' }).publicUrl,
      'https://gatehouse.example',
    );
  });
});
