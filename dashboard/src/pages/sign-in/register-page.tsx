import { useMutation } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import { fieldError } from '../../api/errors.ts';
import { keptSession } from '../../app/session.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Notice } from '../../ui/notice.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { useTitle } from '../../ui/title.ts';
import { useAfterSignIn } from './after-sign-in.ts';
import { SignInLayout } from './sign-in-layout.tsx';

const pageRoute = getRouteApi('/register');

export function RegisterPage() {
  useTitle('Create an account');
  const search = pageRoute.useSearch();
  const enter = useAfterSignIn(search.return);
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [organization, setOrganization] = useState('');
  const register = useMutation({
    mutationFn: async () => {
      await client.auth.register({ email, password, organization_name: organization });
      return keptSession(await client.auth.login({ email, password }));
    },
    onSuccess: enter,
  });
  const errors = {
    email: fieldError(register.error, 'email'),
    password: fieldError(register.error, 'password'),
    organization: fieldError(register.error, 'organization_name'),
  };
  const isAboutField = Object.values(errors).some((error) => error !== undefined);
  return (
    <SignInLayout title="Create an account" lead="For a new organisation, or to join the one of your team.">
      <Form
        style={{ display: 'contents' }}
        onSubmit={(event) => {
          event.preventDefault();
          register.mutate();
        }}
      >
        <TextField
          label="E-mail"
          type="email"
          name="email"
          autoComplete="username"
          value={email}
          onChange={setEmail}
          error={errors.email}
          isRequired
          autoFocus
        />
        <TextField
          label="Password"
          type="password"
          name="password"
          autoComplete="new-password"
          value={password}
          onChange={setPassword}
          error={errors.password}
          hint="At least 8 characters, and none of the common passwords."
          minLength={8}
          isRequired
        />
        <TextField
          label="Organisation"
          name="organization"
          autoComplete="organization"
          value={organization}
          onChange={setOrganization}
          error={errors.organization}
          maxLength={255}
          isRequired
        />
        <Notice>
          A new name creates the organisation, and you own it.{' '}
          <strong>A name that exists joins that organisation</strong> as a member, if it lets your address in;
          its members then see your e-mail address.
        </Notice>
        {register.error && !isAboutField ? <ErrorNotice error={register.error} /> : undefined}
        <Button type="submit" variant="primary" isPending={register.isPending}>
          Create the account
        </Button>
      </Form>
      <p>
        Already registered?{' '}
        <Link to="/sign-in" search={search}>
          Sign in
        </Link>
      </p>
    </SignInLayout>
  );
}
