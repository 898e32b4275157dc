import { useMutation } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import { keptSession } from '../../app/session.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { useTitle } from '../../ui/title.ts';
import { useAfterSignIn } from './after-sign-in.ts';
import { GoogleSignIn } from './google-sign-in.tsx';
import { SignInLayout } from './sign-in-layout.tsx';

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
  return (
    <SignInLayout title="Sign in" lead="To the control plane of your organisation’s gateway.">
      <GoogleSignIn returnTo={search.return} />
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
        <Link to="/register" search={search}>
          Create an account
        </Link>
      </p>
    </SignInLayout>
  );
}
