import type { ReactNode } from 'react';
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components/Button';
import * as styles from './button.module.css';
import { Tooltip } from './tooltip.tsx';

export interface ButtonProps
  extends Omit<AriaButtonProps, 'className' | 'style' | 'children' | 'isDisabled' | 'isPending'> {
  readonly variant?: 'primary' | 'secondary' | 'quiet' | 'danger' | undefined;
  readonly size?: 'm' | 's' | undefined;
  readonly icon?: ReactNode;
  readonly children?: ReactNode;
  /** Why it cannot be pressed. It stays in the tab order, so that the reason can be read. */
  readonly disabledReason?: string | undefined;
  readonly isDisabled?: boolean | undefined;
  /** While what it began is under way: it keeps the focus, and cannot be pressed again. */
  readonly isPending?: boolean | undefined;
}

export function Button({
  variant = 'secondary',
  size = 'm',
  icon,
  children,
  disabledReason,
  isDisabled,
  isPending = false,
  onPress,
  ...props
}: ButtonProps) {
  const isRefused = disabledReason !== undefined || isPending;
  const button = (
    <AriaButton
      {...props}
      {...(isRefused ? { 'aria-disabled': true, type: 'button' as const } : onPress ? { onPress } : {})}
      isDisabled={isDisabled ?? false}
      className={styles.button}
      data-variant={variant}
      data-size={size}
      data-icon-only={children === undefined || undefined}
      data-refused={disabledReason === undefined ? undefined : true}
      data-pending={isPending || undefined}
    >
      {icon}
      {children === undefined ? undefined : <span className={styles.label}>{children}</span>}
    </AriaButton>
  );
  return disabledReason === undefined ? button : <Tooltip text={disabledReason}>{button}</Tooltip>;
}

export interface IconButtonProps extends Omit<ButtonProps, 'children' | 'icon'> {
  readonly icon: ReactNode;
  /** The action: the tooltip and the name for screen readers. */
  readonly label: string;
}

export function IconButton({ label, variant = 'quiet', ...props }: IconButtonProps) {
  return (
    <Tooltip text={props.disabledReason ?? label}>
      <Button
        {...props}
        disabledReason={undefined}
        isDisabled={props.isDisabled}
        variant={variant}
        aria-label={label}
      />
    </Tooltip>
  );
}
