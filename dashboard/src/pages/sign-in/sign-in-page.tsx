import { useMutation } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import { useService } from '../../api/use-service.ts';
import { keptSession } from '../../app/session.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Notice } from '../../ui/notice.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { useTitle } from '../../ui/title.ts';
import { useAfterSignIn } from './after-sign-in.ts';
import { GoogleSignIn } from './google-sign-in.tsx';
import { signInErrorInWords } from './sign-in-errors.ts';
import { SignInLayout } from './sign-in-layout.tsx';
import * as styles from './sign-in-page.module.css';

const pageRoute = getRouteApi('/sign-in');

export function SignInPage() {
  useTitle('Sign in');
  const search = pageRoute.useSearch();
  const enter = useAfterSignIn(search.return);
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const signIn = useMutation({
    mutationFn: async () => keptSession(await client.auth.login({ email, password })),
    onSuccess: enter,
  });
  const service = useService();
  const { google, oidc, password_sign_in: hasPasswords = true } = service.data ?? {};
  const refused = signInErrorInWords(search.error);
  return (
    <SignInLayout title="Sign in" lead="To the control plane of your organisation’s gateway.">
      {refused === undefined ? undefined : <Notice tone="warn">{refused}</Notice>}
      {oidc ? (
        <Button
          variant={hasPasswords ? 'secondary' : 'primary'}
          onPress={() => leaveForIssuer(search.return)}
        >
          {oidc.label}
        </Button>
      ) : undefined}
      {google ? <GoogleSignIn google={google} returnTo={search.return} /> : undefined}
      {(oidc || google) && hasPasswords ? (
        <div className={styles.or}>
          <span>or</span>
        </div>
      ) : undefined}
      {hasPasswords ? (
        <>
          <Form
            style={{ display: 'contents' }}
            onSubmit={(event) => {
              event.preventDefault();
              signIn.mutate();
            }}
          >
            <TextField
              label="E-mail"
              type="email"
              name="email"
              autoComplete="username"
              value={email}
              onChange={setEmail}
              isRequired
              autoFocus
            />
            <TextField
              label="Password"
              type="password"
              name="password"
              autoComplete="current-password"
              value={password}
              onChange={setPassword}
              isRequired
            />
            {signIn.error ? <ErrorNotice error={signIn.error} /> : undefined}
            <Button type="submit" variant="primary" isPending={signIn.isPending}>
              Sign in
            </Button>
          </Form>
          <p>
            New here?{' '}
            <Link to="/register" search={search.return === undefined ? {} : { return: search.return }}>
              Create an account
            </Link>
          </p>
        </>
      ) : undefined}
    </SignInLayout>
  );
}

/** The service sends the browser on to the issuer, and the issuer sends it back, signed in. */
function leaveForIssuer(returnTo: string | undefined): void {
  location.assign(`/api/auth/oidc${returnTo === undefined ? '' : `?return=${encodeURIComponent(returnTo)}`}`);
}
