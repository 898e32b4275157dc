import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { client } from '../../api/client.ts';
import { readableError } from '../../api/errors.ts';
import { readAgain } from '../../api/query-client.ts';
import { organizationRenamed } from '../../app/session.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { toast } from '../../ui/toast.tsx';
import { nameProblem } from './name-problem.ts';
import * as styles from './organization-page.module.css';

/** Renames the organisation. The sentences of the API about a name stand below its field. */
export function RenameForm({ name, mayRename }: { name: string; mayRename: boolean }) {
  const [typed, setTyped] = useState(name);
  // Another tab, or another member, may have renamed it.
  useEffect(() => setTyped(name), [name]);
  const rename = useMutation({
    mutationFn: (next: string) => client.organization.renameOrganization({ name: next }),
    onSuccess: (organization) => {
      organizationRenamed(organization.name);
      void readAgain('listActivity');
      toast(`Renamed to ${organization.name}`);
    },
  });
  const next = typed.trim();
  const problem = next === name ? undefined : nameProblem(typed);
  const refused =
    rename.error && rename.variables === next ? readableError(rename.error).sentence : undefined;
  return (
    <Form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (mayRename && problem === undefined && next !== name) rename.mutate(next);
      }}
    >
      <TextField
        label="Name of the organisation"
        name="name"
        autoComplete="off"
        value={typed}
        onChange={setTyped}
        isReadOnly={!mayRename}
        error={problem ?? refused}
        hint="New members enter it to join. It must be unique, with up to 255 characters, without < and >."
      />
      <Button
        type="submit"
        variant="primary"
        isPending={rename.isPending}
        isDisabled={mayRename && (next === name || problem !== undefined)}
        disabledReason={mayRename ? undefined : 'Only owners and admins may rename the organisation.'}
      >
        Rename
      </Button>
    </Form>
  );
}
