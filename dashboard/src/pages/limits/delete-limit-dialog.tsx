import type { SpendLimit } from '@gatehouse/sdk';
import { apiCall, sendCall } from '../../api/call.ts';
import { readAgain } from '../../api/query-client.ts';
import { pkr } from '../../format/pkr.ts';
import { perWindow } from '../../format/spend-window.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';

export function DeleteLimitDialog({ target, onClose }: { target: SpendLimit; onClose: () => void }) {
  return (
    <ConfirmDialog
      title="Delete this limit?"
      size="s"
      action="Delete the limit"
      run={() => sendCall(apiCall('deleteSpendLimit', { limit_id: target.id }))}
      done="Deleted the limit"
      onDone={() => readAgain('listSpendLimits')}
      onClose={onClose}
      warning={
        <>
          From the next request on, {pkr(target.limit_pkr)} {perWindow(target.window)} bind nothing any more.
          What the window has counted is gone: a new limit begins at 0.
        </>
      }
    />
  );
}
