import { useMutation } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { client } from '../api/client.ts';
import { useService } from '../api/use-service.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { TextField } from '../ui/text-field.tsx';
import { keptSession, signedIn, useAccount, useSession } from './session.ts';

/** Over a page whose session has ended: what is on the page, and what was typed, stays below it. */
export function ReturnDialog() {
  const session = useSession();
  const { user } = useAccount();
  const { href } = useLocation();
  const [password, setPassword] = useState('');
  const { password_sign_in: hasPasswords = true } = useService().data ?? {};
  const signIn = useMutation({
    mutationFn: async () => keptSession(await client.auth.login({ email: user.email, password })),
    onSuccess: (account) => {
      setPassword('');
      signedIn(account);
    },
  });
  return (
    <Dialog
      title="The session has ended"
      isOpen={session.kind === 'expired'}
      onClose={() => undefined}
      isDismissable={false}
      role="alertdialog"
      size="s"
    >
      <p>
        {hasPasswords
          ? 'Sign in to go on where you were. Nothing on the page is lost.'
          : 'Sign in again; you come back to this page.'}
      </p>
      {hasPasswords ? (
        <Form
          onSubmit={(event) => {
            event.preventDefault();
            signIn.mutate();
          }}
          style={{ display: 'contents' }}
        >
          <TextField label="E-mail" value={user.email} isReadOnly autoComplete="username" />
          <TextField
            label="Password"
            type="password"
            autoComplete="current-password"
            value={password}
            onChange={setPassword}
            isRequired
            autoFocus
          />
          {signIn.error ? <ErrorNotice error={signIn.error} /> : undefined}
          <Button type="submit" variant="primary" isPending={signIn.isPending}>
            Sign in
          </Button>
        </Form>
      ) : undefined}
      <p>
        <a href={`/sign-in?return=${encodeURIComponent(href)}`}>
          {hasPasswords ? 'Sign in another way, or as someone else' : 'Sign in'}
        </a>
      </p>
    </Dialog>
  );
}
