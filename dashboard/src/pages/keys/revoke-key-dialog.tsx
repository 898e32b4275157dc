import type { Key } from '@gatehouse/sdk';
import { useState } from 'react';
import { apiCall, sendCall } from '../../api/call.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { Time } from '../../ui/time.tsx';
import { keysChanged } from './use-keys.ts';

/** A revoked key cannot come back, so its name is typed; the prefix does as well, for a name that is hard to type. */
export function RevokeKeyDialog({ target, onClose }: { target: Key; onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const isConfirmed = [target.name, target.key_prefix].includes(typed.trim());
  return (
    <ConfirmDialog
      title="Revoke this key?"
      action="Revoke the key"
      run={() => sendCall(apiCall('revokeKey', { key_id: target.id }))}
      done={`Revoked ${target.name}`}
      onDone={keysChanged}
      disabledReason={isConfirmed ? undefined : 'Type the name of the key first.'}
      onClose={onClose}
      warning={
        <>
          The gateway refuses <bdi>{target.name}</bdi> (<code>{target.key_prefix}…</code>) from the next
          request. This cannot be undone. Its requests stay in the log.{' '}
          {target.last_used_at === null ? (
            'No use of it is recorded.'
          ) : (
            <>
              It was last used <Time at={target.last_used_at} relative />.
            </>
          )}
        </>
      }
    >
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
    </ConfirmDialog>
  );
}
