import type { Key } from '@gatehouse/sdk';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Foreign } from '../../ui/foreign.tsx';
import { ConnectClient } from '../connect/connect-client.tsx';

/** For a key that exists: its secret is not known any more, so the texts name a variable in its place. */
export function ConnectDialog({ target, onClose }: { target: Key; onClose: () => void }) {
  return (
    <Dialog
      title={<Foreign text={target.name} />}
      isOpen
      onClose={onClose}
      size="l"
      footer={<Button onPress={onClose}>Close</Button>}
    >
      <p>
        The secret of <code>{target.key_prefix}…</code> was shown once, when the key was created. Where it is
        needed, the texts have <code>sk_svc_...</code> or the variable <code>GATEHOUSE_API_KEY</code>.
      </p>
      <ConnectClient secret={undefined} allowedModels={target.allowed_models} />
    </Dialog>
  );
}
