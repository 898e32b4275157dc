import type { AlertChannel } from '@gatehouse/sdk';
import { useMutation } from '@tanstack/react-query';
import { apiCall, sendCall } from '../../api/call.ts';
import { queryClient } from '../../api/query-client.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Foreign } from '../../ui/foreign.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { toast } from '../../ui/toast.tsx';
import { destinationOf } from './alert-words.ts';

export function DeleteChannelDialog({ target, onClose }: { target: AlertChannel; onClose: () => void }) {
  const remove = useMutation({
    mutationFn: () => sendCall(apiCall('deleteAlertChannel', { channel_id: target.id })),
    onSuccess: async () => {
      toast('Deleted the channel');
      onClose();
      await Promise.all(
        ['listAlertChannels', 'listAlertDeliveries'].map((name) =>
          queryClient.invalidateQueries({ queryKey: [name] }),
        ),
      );
    },
  });
  return (
    <FormDialog
      title="Delete this channel?"
      role="alertdialog"
      size="s"
      action="Delete the channel"
      variant="danger"
      isPending={remove.isPending}
      onClose={onClose}
      onSubmit={remove.mutate}
    >
      <Notice tone="warn">
        No alert goes to <Foreign text={destinationOf(target)} /> any more. What is on its way is dropped, and
        what was sent is no longer listed.
      </Notice>
      {remove.error ? <ErrorNotice error={remove.error} /> : undefined}
    </FormDialog>
  );
}
