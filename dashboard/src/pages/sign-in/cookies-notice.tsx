import { Notice } from '../../ui/notice.tsx';

/** Before a password is typed: why a sign-in cannot work, and what to change. */
export function CookiesNotice() {
  return (
    <Notice tone="warn">
      <strong>This browser blocks cookies for {location.host}.</strong> A session needs two of them. Allow
      cookies for this address in the settings of the browser, then reload this page.
    </Notice>
  );
}
