import { useMutation } from '@tanstack/react-query';
import { apiCall, sendCall } from '../../api/call.ts';
import { queryClient } from '../../api/query-client.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { toast } from '../../ui/toast.tsx';
import type { ProviderRow } from './provider-rows.ts';

/** Removes the organisation's key for a provider. */
export function RemoveKeyDialog({ row, onClose }: { row: ProviderRow; onClose: () => void }) {
  const remove = useMutation({
    mutationFn: () => sendCall(apiCall('revokeVaultKey', { provider: row.provider })),
    onSuccess: async () => {
      toast(`Removed the key for ${row.provider}`);
      onClose();
      await queryClient.invalidateQueries({ queryKey: ['listVaultKeys'] });
    },
  });
  return (
    <FormDialog
      title="Remove this key?"
      role="alertdialog"
      size="s"
      action="Remove the key"
      variant="danger"
      isPending={remove.isPending}
      onClose={onClose}
      onSubmit={remove.mutate}
    >
      <Notice tone="warn">
        From the next request on, the gateway sends requests to <bdi>{row.provider}</bdi> with the platform’s
        key if it has one, and refuses them otherwise. The key stays valid at the provider.
      </Notice>
      {remove.error ? <ErrorNotice error={remove.error} /> : undefined}
    </FormDialog>
  );
}
