import { Cross1Icon } from '@radix-ui/react-icons';
import type { ReactNode } from 'react';
import { Dialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { Boundary } from './boundary.tsx';
import { IconButton } from './button.tsx';
import * as styles from './side-panel.module.css';

export interface SidePanelProps {
  readonly title: ReactNode;
  readonly isOpen: boolean;
  /** Escape, the cross, and a click beside it. The page takes the panel out of its URL. */
  readonly onClose: () => void;
  /** Beside the cross: a `CopyCurl`, a link. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** Details of one row, over the right side of its page. On a phone it is the whole screen. */
export function SidePanel({ title, isOpen, onClose, actions, children }: SidePanelProps) {
  return (
    <ModalOverlay
      className={styles.overlay}
      isOpen={isOpen}
      isDismissable
      onOpenChange={(open) => (open ? undefined : onClose())}
    >
      <Modal className={styles.panel}>
        <Dialog className={styles.dialog}>
          <header className={styles.header}>
            <Heading slot="title" level={2} className={styles.title}>
              {title}
            </Heading>
            <span className={styles.actions}>
              {actions}
              <IconButton icon={<Cross1Icon />} label="Close" size="s" onPress={onClose} />
            </span>
          </header>
          <div className={styles.body}>
            <Boundary>{children}</Boundary>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
