import type { Key } from '@gatehouse/sdk';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { apiCall, sendCall } from '../../api/call.ts';
import { randomText } from '../../api/random-text.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Select } from '../../ui/select.tsx';
import type { ShownSecret } from './new-secret-dialog.tsx';
import { keysChanged } from './use-keys.ts';

const GRACES = [
  { value: '0', label: 'At once' },
  { value: '3600', label: 'In 1 hour' },
  { value: '86400', label: 'In 1 day' },
  { value: '604800', label: 'In 7 days' },
] as const;

/**
 * Gives a key a new secret. One Idempotency-Key belongs to the open dialog: a press after an answer that was lost cannot rotate twice, which
 * would end the secret that programs still have.
 */
export function RotateKeyDialog({
  target,
  onClose,
  onRotated,
}: {
  target: Key;
  onClose: () => void;
  onRotated: (secret: ShownSecret) => void;
}) {
  const [grace, setGrace] = useState<(typeof GRACES)[number]['value']>('86400');
  const [idempotencyKey] = useState(randomText);
  const rotate = useMutation({
    mutationFn: () =>
      sendCall(
        apiCall('rotateKey', {
          key_id: target.id,
          grace_seconds: Number(grace),
          idempotency_key: idempotencyKey,
        }),
      ),
    onSuccess: async ({ api_key, previous_valid_until }) => {
      const { name, allowed_models } = target;
      const previous = grace === '0' ? undefined : previous_valid_until;
      onRotated({ title: 'New secret', name, api_key, allowed_models, previousValidUntil: previous });
      await keysChanged();
    },
  });
  return (
    <FormDialog
      title="Rotate this key?"
      action="Make a new secret"
      isPending={rotate.isPending}
      onClose={onClose}
      onSubmit={rotate.mutate}
    >
      <Notice tone="info">
        <bdi>{target.name}</bdi> (<code>{target.key_prefix}…</code>) gets a new secret. Its limits, its spend
        and its history stay. A secret from before an earlier rotation ends at once.
      </Notice>
      <Select
        label="The present secret ends"
        options={GRACES}
        value={grace}
        onChange={setGrace}
        hint="Until then programs may use either secret."
      />
      {rotate.error ? <ErrorNotice error={rotate.error} /> : undefined}
    </FormDialog>
  );
}
