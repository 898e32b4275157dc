import { apiCall, sendCall } from '../../api/call.ts';
import { readAgain } from '../../api/query-client.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import type { ProviderRow } from './provider-rows.ts';

/** Removes the organisation's key for a provider. */
export function RemoveKeyDialog({ row, onClose }: { row: ProviderRow; onClose: () => void }) {
  return (
    <ConfirmDialog
      title="Remove this key?"
      size="s"
      action="Remove the key"
      run={() => sendCall(apiCall('revokeVaultKey', { provider: row.provider }))}
      done={`Removed the key for ${row.provider}`}
      onDone={() => readAgain('listVaultKeys')}
      onClose={onClose}
      warning={
        <>
          From the next request on, the gateway sends requests to <bdi>{row.provider}</bdi> with the
          platform’s key if it has one, and refuses them otherwise. The key stays valid at the provider.
        </>
      }
    />
  );
}
