import { Cross1Icon } from '@radix-ui/react-icons';
import type { ReactNode } from 'react';
import { Dialog as AriaDialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { Boundary } from './boundary.tsx';
import { IconButton } from './button.tsx';
import * as styles from './dialog.module.css';

export interface DialogProps {
  readonly title: ReactNode;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Buttons, the one that acts last. */
  readonly footer?: ReactNode;
  readonly size?: 's' | 'm' | 'l';
  /** True if Escape, a click beside it and the cross close it. */
  readonly isDismissable?: boolean;
  readonly role?: 'dialog' | 'alertdialog';
}

export function Dialog({
  title,
  isOpen,
  onClose,
  children,
  footer,
  size = 'm',
  isDismissable = true,
  role = 'dialog',
}: DialogProps) {
  return (
    <ModalOverlay
      isOpen={isOpen}
      onOpenChange={(open) => (open ? undefined : onClose())}
      isDismissable={isDismissable}
      isKeyboardDismissDisabled={!isDismissable}
      className={styles.overlay}
    >
      <Modal className={styles.modal} data-size={size}>
        <AriaDialog className={styles.dialog} role={role}>
          <header className={styles.header}>
            <Heading slot="title" level={2} className={styles.title}>
              {title}
            </Heading>
            {isDismissable ? (
              <IconButton icon={<Cross1Icon />} label="Close" size="s" onPress={onClose} />
            ) : undefined}
          </header>
          <div className={styles.body}>
            <Boundary>{children}</Boundary>
          </div>
          {footer === undefined ? undefined : <footer className={styles.footer}>{footer}</footer>}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
