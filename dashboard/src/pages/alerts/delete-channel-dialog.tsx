import type { AlertChannel } from '@gatehouse/sdk';
import { apiCall, sendCall } from '../../api/call.ts';
import { readAgain } from '../../api/query-client.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Foreign } from '../../ui/foreign.tsx';
import { destinationOf } from './alert-words.ts';

export function DeleteChannelDialog({ target, onClose }: { target: AlertChannel; onClose: () => void }) {
  return (
    <ConfirmDialog
      title="Delete this channel?"
      size="s"
      action="Delete the channel"
      run={() => sendCall(apiCall('deleteAlertChannel', { channel_id: target.id }))}
      done="Deleted the channel"
      onDone={() => readAgain('listAlertChannels', 'listAlertDeliveries')}
      onClose={onClose}
      warning={
        <>
          No alert goes to <Foreign text={destinationOf(target)} /> any more. What is on its way is dropped,
          and what was sent is no longer listed.
        </>
      }
    />
  );
}
