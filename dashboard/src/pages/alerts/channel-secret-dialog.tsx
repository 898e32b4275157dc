import { useBlocker } from '@tanstack/react-router';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { SecretText } from '../../ui/secret-text.tsx';

/** The only time that the secret of a webhook is shown. Neither Escape, a click beside it nor the back button closes it. */
export function ChannelSecretDialog({ secret, onClose }: { secret: string; onClose: () => void }) {
  useBlocker({ shouldBlockFn: () => true, enableBeforeUnload: true });
  return (
    <Dialog
      title="Webhook added"
      isOpen
      onClose={onClose}
      isDismissable={false}
      footer={
        <Button variant="primary" onPress={onClose}>
          I have stored the secret
        </Button>
      }
    >
      <Notice tone="warn">
        This is the only time that the secret is shown. The receiver verifies each message with it, by any
        library of Standard Webhooks.
      </Notice>
      <SecretText what="secret" text={secret} />
    </Dialog>
  );
}
