import { useMutation } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { fieldError } from '../../api/errors.ts';
import { keptSession } from '../../app/session.ts';
import { Notice } from '../../ui/notice.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { useTitle } from '../../ui/title.ts';
import { AccountForm, type Credentials } from './account-form.tsx';
import { useAfterSignIn } from './after-sign-in.ts';
import { SignInLayout } from './sign-in-layout.tsx';

const pageRoute = getRouteApi('/register');

export function RegisterPage() {
  useTitle('Create an account');
  const search = pageRoute.useSearch();
  const enter = useAfterSignIn(search.return);
  const [organization, setOrganization] = useState('');
  const register = useMutation({
    mutationFn: async (credentials: Credentials) => {
      await client.auth.register({ ...credentials, organization_name: organization });
      return keptSession(await client.auth.login(credentials));
    },
    onSuccess: enter,
  });
  return (
    <SignInLayout title="Create an account" lead="For a new organisation, or to join the one of your team.">
      <AccountForm
        action="Create the account"
        submission={register}
        newAccount={{ fields: ['organization_name'] }}
      >
        <TextField
          label="Organisation"
          name="organization"
          autoComplete="organization"
          value={organization}
          onChange={setOrganization}
          error={fieldError(register.error, 'organization_name')}
          maxLength={255}
          isRequired
        />
        <Notice>
          A new name creates the organisation, and you own it.{' '}
          <strong>A name that exists joins that organisation</strong> as a member, if it lets your address in;
          its members then see your e-mail address.
        </Notice>
      </AccountForm>
      <p>
        Already registered?{' '}
        <Link to="/sign-in" search={search}>
          Sign in
        </Link>
      </p>
    </SignInLayout>
  );
}
