import { useMutation } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { useService } from '../../api/use-service.ts';
import { keptSession } from '../../app/session.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useTitle } from '../../ui/title.ts';
import { AccountForm, type Credentials } from './account-form.tsx';
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
  const signIn = useMutation({
    mutationFn: async (credentials: Credentials) => keptSession(await client.auth.login(credentials)),
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
          <AccountForm action="Sign in" submission={signIn} />
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
