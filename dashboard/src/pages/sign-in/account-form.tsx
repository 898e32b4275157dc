import { type ReactNode, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { fieldError } from '../../api/errors.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { TextField } from '../../ui/text-field.tsx';

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

export interface AccountFormProps {
  /** The button that submits. */
  readonly action: string;
  readonly submission: {
    readonly mutate: (credentials: Credentials) => void;
    readonly isPending: boolean;
    readonly error: Error | null;
  };
  /** For a new account, whose fields may be wrong one by one. `fields` are its others, by the names of the API. */
  readonly newAccount?: { readonly fields: readonly string[] };
  readonly children?: ReactNode;
}

/** The form of an account: its e-mail address and its password, and what else the page asks for. */
export function AccountForm({ action, submission, newAccount, children }: AccountFormProps) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const { mutate, isPending, error } = submission;
  const errorOf = (field: string) => (newAccount ? fieldError(error, field) : undefined);
  const fields = ['email', 'password', ...(newAccount?.fields ?? [])];
  const isAboutField = fields.some((field) => errorOf(field) !== undefined);
  return (
    <Form
      style={{ display: 'contents' }}
      onSubmit={(event) => {
        event.preventDefault();
        mutate({ email, password });
      }}
    >
      <TextField
        label="E-mail"
        type="email"
        name="email"
        autoComplete="username"
        value={email}
        onChange={setEmail}
        error={errorOf('email')}
        isRequired
        autoFocus
      />
      <TextField
        label="Password"
        type="password"
        name="password"
        autoComplete={newAccount ? 'new-password' : 'current-password'}
        value={password}
        onChange={setPassword}
        error={errorOf('password')}
        isRequired
        {...(newAccount && {
          hint: 'At least 8 characters, and none of the common passwords.',
          minLength: 8,
        })}
      />
      {children}
      {error && !isAboutField ? <ErrorNotice error={error} /> : undefined}
      <Button type="submit" variant="primary" isPending={isPending}>
        {action}
      </Button>
    </Form>
  );
}
