import { useMutation } from '@tanstack/react-query';
import { apiCall, sendCall } from '../../api/call.ts';
import { queryClient } from '../../api/query-client.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
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
    <Dialog
      title="Remove this key?"
      isOpen
      onClose={onClose}
      role="alertdialog"
      size="s"
      isDismissable={!remove.isPending}
      footer={
        <>
          <Button onPress={onClose} isDisabled={remove.isPending}>
            Cancel
          </Button>
          <Button variant="danger" isPending={remove.isPending} onPress={() => remove.mutate()}>
            Remove the key
          </Button>
        </>
      }
    >
      <Notice tone="warn">
        From the next request on, the gateway sends requests to <bdi>{row.provider}</bdi> with the platform’s
        key if it has one, and refuses them otherwise. The key stays valid at the provider.
      </Notice>
      {remove.error ? <ErrorNotice error={remove.error} /> : undefined}
    </Dialog>
  );
}
