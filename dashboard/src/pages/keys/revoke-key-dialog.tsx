import type { Key } from '@gatehouse/sdk';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { apiCall, sendCall } from '../../api/call.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { useKeysChanged } from './use-keys.ts';

/** A revoked key cannot come back, so its name is typed; the prefix does as well, for a name that is hard to type. */
export function RevokeKeyDialog({ target, onClose }: { target: Key; onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const keysChanged = useKeysChanged();
  const isConfirmed = [target.name, target.key_prefix].includes(typed.trim());
  const revoke = useMutation({
    mutationFn: () => sendCall(apiCall('revokeKey', { key_id: target.id })),
    onSuccess: async () => {
      toast(`Revoked ${target.name}`);
      onClose();
      await keysChanged();
    },
  });
  return (
    <FormDialog
      title="Revoke this key?"
      role="alertdialog"
      action="Revoke the key"
      variant="danger"
      isPending={revoke.isPending}
      disabledReason={isConfirmed ? undefined : 'Type the name of the key first.'}
      onClose={onClose}
      onSubmit={revoke.mutate}
    >
      <Notice tone="warn">
        The gateway refuses <bdi>{target.name}</bdi> (<code>{target.key_prefix}…</code>) from the next
        request. This cannot be undone. Its requests stay in the log.{' '}
        {target.last_used_at === null ? (
          'No use of it is recorded.'
        ) : (
          <>
            It was last used <Time at={target.last_used_at} relative />.
          </>
        )}
      </Notice>
      <TextField
        label="Name of the key"
        value={typed}
        onChange={setTyped}
        autoComplete="off"
        autoFocus
        hint={
          <>
            Type <bdi>{target.name}</bdi>, or its prefix <code>{target.key_prefix}</code>.
          </>
        }
      />
      {revoke.error ? <ErrorNotice error={revoke.error} /> : undefined}
    </FormDialog>
  );
}
