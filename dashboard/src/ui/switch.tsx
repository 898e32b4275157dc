import type { ReactNode } from 'react';
import { Switch as AriaSwitch } from 'react-aria-components/Switch';
import * as styles from './switch.module.css';

export interface SwitchProps {
  readonly children: ReactNode;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
  readonly isDisabled?: boolean;
}

/** Something that is on or off at once. */
export function Switch({ children, isOn, onChange, isDisabled = false }: SwitchProps) {
  return (
    <AriaSwitch className={styles.switch} isSelected={isOn} onChange={onChange} isDisabled={isDisabled}>
      <span className={styles.track}>
        <span className={styles.thumb} />
      </span>
      {children}
    </AriaSwitch>
  );
}
