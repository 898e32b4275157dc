import { DotsHorizontalIcon } from '@radix-ui/react-icons';
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react';
import { Menu as AriaMenu } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import * as buttonStyles from './button.module.css';
import * as styles from './menu.module.css';

/**
 * The menu of a row of a table. Until it is opened it is a plain button: a table makes hundreds of them, while it scrolls, and
 * a `Menu` costs more than the rest of the row.
 */
export function RowMenu({ label, children }: { label: string; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const openByArrow = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    // Or the table would move the focus to the next row.
    event.stopPropagation();
    setOpen(true);
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className={buttonStyles.button}
        data-variant="quiet"
        data-size="s"
        data-icon-only
        data-plain
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => {
          // Safari does not focus a button that is clicked, and the focus comes back to it when the menu closes.
          button.current?.focus();
          setOpen(!isOpen);
        }}
        onKeyDown={openByArrow}
      >
        <DotsHorizontalIcon />
      </button>
      {isOpen ? (
        <Popover
          className={styles.popover}
          triggerRef={button}
          placement="bottom end"
          offset={6}
          isOpen
          onOpenChange={setOpen}
        >
          <AriaMenu
            className={styles.menu}
            aria-label={label}
            autoFocus="first"
            onClose={() => setOpen(false)}
          >
            {children}
          </AriaMenu>
        </Popover>
      ) : undefined}
    </>
  );
}
