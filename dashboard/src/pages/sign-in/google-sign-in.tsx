import { GatehouseError, type GetServiceReply } from '@gatehouse/sdk';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import { randomText } from '../../api/random-text.ts';
import { keptSession } from '../../app/session.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Notice } from '../../ui/notice.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { useAfterSignIn } from './after-sign-in.ts';
import { GoogleMark } from './google-mark.tsx';
import { authorizationUrl, type GoogleReturn, readReturn } from './google-redirect.ts';
import * as styles from './google-sign-in.module.css';
import { savePending, takePending } from './pending-sign-in.ts';

/** Read once for each load: the token leaves the address bar and the history at once. */
const returned = takeReturn();

function takeReturn(): GoogleReturn | undefined {
  if (!/[#&](id_token|error)=/.test(location.hash)) return undefined;
  const answer = readReturn(location.hash, takePending());
  history.replaceState(history.state, '', location.pathname + location.search);
  return answer;
}

/** The button, and what follows when Google sends the person back. */
export function GoogleSignIn({
  google,
  returnTo,
}: {
  google: NonNullable<GetServiceReply['google']>;
  returnTo: string | undefined;
}) {
  const token = returned?.kind === 'token' ? returned : undefined;
  const enter = useAfterSignIn(token?.returnTo ?? returnTo);
  const [organization, setOrganization] = useState('');
  const [isRefused, setRefused] = useState(false);
  const signIn = useMutation({
    mutationFn: async (name: string | undefined) =>
      keptSession(
        await client.auth.google({
          credential: token?.credential ?? '',
          nonce: token?.nonce,
          organization_name: name,
        }),
      ),
    onSuccess: enter,
  });
  const { mutate } = signIn;
  useEffect(() => {
    if (token) mutate(undefined);
  }, [token, mutate]);
  const endpoint = google.authorization_endpoint ?? undefined;
  // A new account names its organisation: the same token is sent again with it.
  const needsOrganization =
    signIn.error instanceof GatehouseError &&
    signIn.error.status === 400 &&
    /organi[sz]ation/i.test(signIn.error.message);
  return (
    <>
      {returned?.kind === 'unexpected' ? (
        <Notice tone="warn">The answer from Google belongs to no sign-in of this tab. Try again.</Notice>
      ) : undefined}
      {needsOrganization ? (
        <Form
          className={styles.form}
          onSubmit={(event) => {
            event.preventDefault();
            mutate(organization);
          }}
        >
          <Notice>
            This Google account is new here. A new organisation name creates the organisation;{' '}
            <strong>a name that exists joins it</strong>, if it lets your address in.
          </Notice>
          <TextField
            label="Organisation"
            value={organization}
            onChange={setOrganization}
            error={signIn.variables === undefined ? undefined : signIn.error?.message}
            maxLength={255}
            isRequired
            autoFocus
          />
          <Button type="submit" variant="primary" isPending={signIn.isPending}>
            Continue
          </Button>
        </Form>
      ) : (
        <>
          {signIn.error ? <ErrorNotice error={signIn.error} /> : undefined}
          {isRefused ? (
            <Notice tone="warn">
              This browser lets the page store nothing, which a sign-in with Google needs. Allow site data for
              this address, or sign in with a password.
            </Notice>
          ) : undefined}
          <Button
            icon={<GoogleMark />}
            isPending={signIn.isPending}
            isDisabled={endpoint === undefined}
            onPress={() => {
              if (endpoint !== undefined) setRefused(!leaveFor(endpoint, google.client_id, returnTo));
            }}
          >
            Continue with Google
          </Button>
        </>
      )}
    </>
  );
}

/** False where the browser cannot remember what it was for until the person comes back. */
function leaveFor(endpoint: string, clientId: string, returnTo: string | undefined): boolean {
  const pending = { state: randomText(), nonce: randomText(), returnTo: returnTo ?? '/' };
  if (!savePending(pending)) return false;
  location.assign(authorizationUrl(endpoint, { clientId, origin: location.origin, ...pending }));
  return true;
}
