import { useBlocker } from '@tanstack/react-router';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Foreign } from '../../ui/foreign.tsx';
import { Notice } from '../../ui/notice.tsx';
import { SecretText } from '../../ui/secret-text.tsx';
import { Time } from '../../ui/time.tsx';
import { ConnectClient } from '../connect/connect-client.tsx';

/** A secret that was just made. */
export interface ShownSecret {
  readonly title: 'Key created' | 'New secret';
  readonly name: string;
  readonly api_key: string;
  readonly allowed_models: readonly string[] | null;
  /** Until when the secret before is accepted too. */
  readonly previousValidUntil?: string | undefined;
}

/** The only time that a secret is shown. Neither Escape, a click beside it nor the back button closes it. */
export function NewSecretDialog({ shown, onClose }: { shown: ShownSecret; onClose: () => void }) {
  useBlocker({ shouldBlockFn: () => true, enableBeforeUnload: true });
  return (
    <Dialog
      title={
        <>
          {shown.title}: <Foreign text={shown.name} />
        </>
      }
      isOpen
      onClose={onClose}
      isDismissable={false}
      size="l"
      footer={
        <Button variant="primary" onPress={onClose}>
          I have stored the key
        </Button>
      }
    >
      <Notice tone="warn">
        This is the only time that the key is shown. Store it in a safe place now: nobody can read it again,
        not even your operator.
        {shown.previousValidUntil === undefined ? undefined : (
          <>
            {' '}
            The previous secret is accepted until <Time at={shown.previousValidUntil} />.
          </>
        )}
      </Notice>
      <SecretText what="key" text={shown.api_key} />
      <ConnectClient secret={shown.api_key} allowedModels={shown.allowed_models} />
    </Dialog>
  );
}
