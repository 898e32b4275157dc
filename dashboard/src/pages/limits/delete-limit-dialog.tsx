import type { SpendLimit } from '@gatehouse/sdk';
import { useMutation } from '@tanstack/react-query';
import { apiCall, sendCall } from '../../api/call.ts';
import { queryClient } from '../../api/query-client.ts';
import { pkr } from '../../format/pkr.ts';
import { perWindow } from '../../format/spend-window.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { toast } from '../../ui/toast.tsx';

export function DeleteLimitDialog({ target, onClose }: { target: SpendLimit; onClose: () => void }) {
  const remove = useMutation({
    mutationFn: () => sendCall(apiCall('deleteSpendLimit', { limit_id: target.id })),
    onSuccess: async () => {
      toast('Deleted the limit');
      onClose();
      await queryClient.invalidateQueries({ queryKey: ['listSpendLimits'] });
    },
  });
  return (
    <FormDialog
      title="Delete this limit?"
      role="alertdialog"
      size="s"
      action="Delete the limit"
      variant="danger"
      isPending={remove.isPending}
      onClose={onClose}
      onSubmit={remove.mutate}
    >
      <Notice tone="warn">
        From the next request on, {pkr(target.limit_pkr)} {perWindow(target.window)} bind nothing any more.
        What the window has counted is gone: a new limit begins at 0.
      </Notice>
      {remove.error ? <ErrorNotice error={remove.error} /> : undefined}
    </FormDialog>
  );
}
