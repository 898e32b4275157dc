import { useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/text-field.tsx';
import * as styles from './sessions-page.module.css';
import { isName } from './sessions-search.ts';

/** By which metadata requests are grouped. */
export function NameField({ name, onChange }: { name: string; onChange: (name: string) => void }) {
  const [typed, setTyped] = useState(name);
  const next = typed.trim().toLowerCase();
  return (
    <Form
      className={styles.name}
      onSubmit={(event) => {
        event.preventDefault();
        if (isName(next)) onChange(next);
      }}
    >
      <TextField
        label="Group by the metadata"
        value={typed}
        onChange={setTyped}
        isMono
        maxLength={64}
        autoComplete="off"
        hint="session-id: coding agents. thread-id: Codex. Or a name of your own."
      />
      <Button type="submit" isDisabled={next === name || !isName(next)}>
        Group
      </Button>
    </Form>
  );
}
