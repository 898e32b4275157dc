import type { CreateKeyReply } from '@gatehouse/sdk';
import { useBlocker } from '@tanstack/react-router';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Foreign } from '../../ui/foreign.tsx';
import { Notice } from '../../ui/notice.tsx';
import { ConnectClient } from '../connect/connect-client.tsx';
import * as styles from './keys.module.css';

/** The only time that a secret is shown. Neither Escape, a click beside it nor the back button closes it. */
export function CreatedKeyDialog({ created, onClose }: { created: CreateKeyReply; onClose: () => void }) {
  useBlocker({ shouldBlockFn: () => true, enableBeforeUnload: true });
  return (
    <Dialog
      title={
        <>
          Key created: <Foreign text={created.name} />
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
      </Notice>
      <section className={styles.secret} aria-label="The key">
        <code className={styles.secretText}>{created.api_key}</code>
        <CopyButton text={created.api_key} label="Copy the key" variant="primary" size="m">
          Copy
        </CopyButton>
      </section>
      <ConnectClient secret={created.api_key} allowedModels={created.allowed_models} />
    </Dialog>
  );
}
