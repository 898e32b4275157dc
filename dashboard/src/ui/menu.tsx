import type { ReactElement, ReactNode } from 'react';
import {
  Menu as AriaMenu,
  MenuItem as AriaMenuItem,
  type MenuItemProps as AriaMenuItemProps,
  type MenuProps as AriaMenuProps,
  MenuSection as AriaMenuSection,
  Header,
  MenuTrigger,
  Separator,
} from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import * as styles from './menu.module.css';

export interface MenuProps extends Omit<AriaMenuProps<object>, 'className' | 'style'> {
  /** The button that opens it. */
  readonly trigger: ReactElement;
  readonly children: ReactNode;
  readonly placement?: 'bottom start' | 'bottom end' | 'top start' | 'right top';
}

export function Menu({ trigger, placement = 'bottom end', children, ...props }: MenuProps) {
  return (
    <MenuTrigger>
      {trigger}
      <Popover className={styles.popover} placement={placement} offset={6}>
        <AriaMenu {...props} className={styles.menu}>
          {children}
        </AriaMenu>
      </Popover>
    </MenuTrigger>
  );
}

export interface MenuItemProps
  extends Omit<AriaMenuItemProps, 'className' | 'style' | 'children' | 'textValue'> {
  readonly icon?: ReactNode;
  readonly children: string;
  readonly detail?: ReactNode;
  readonly isDangerous?: boolean;
}

export function MenuItem({ icon, children, detail, isDangerous = false, ...props }: MenuItemProps) {
  return (
    <AriaMenuItem
      {...props}
      textValue={children}
      className={styles.item}
      data-dangerous={isDangerous || undefined}
    >
      <span className={styles.icon}>{icon}</span>
      <span className={styles.text}>
        <bdi>{children}</bdi>
      </span>
      {detail === undefined ? undefined : <span className={styles.detail}>{detail}</span>}
    </AriaMenuItem>
  );
}

export function MenuSection({ title, children }: { title: string; children: ReactNode }) {
  return (
    <AriaMenuSection className={styles.section}>
      <Header className={styles.header}>{title}</Header>
      {children}
    </AriaMenuSection>
  );
}

export function MenuSeparator() {
  return <Separator className={styles.separator} />;
}
