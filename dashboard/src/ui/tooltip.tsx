import type { ReactElement, ReactNode } from 'react';
import { Tooltip as AriaTooltip, OverlayArrow, TooltipTrigger } from 'react-aria-components/Tooltip';
import * as styles from './tooltip.module.css';

/** A sentence on hover and focus of the one child, which must be a component of React Aria or a `Focusable`. */
export function Tooltip({
  text,
  children,
  delay = 400,
}: {
  text: ReactNode;
  children: ReactElement;
  delay?: number;
}) {
  return (
    <TooltipTrigger delay={delay} closeDelay={80}>
      {children}
      <AriaTooltip className={styles.tooltip} offset={7}>
        <OverlayArrow className={styles.arrow}>
          <svg width="10" height="5" viewBox="0 0 10 5" aria-hidden="true">
            <path d="M0 0 5 5 10 0" />
          </svg>
        </OverlayArrow>
        {text}
      </AriaTooltip>
    </TooltipTrigger>
  );
}
