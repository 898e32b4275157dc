import { Card } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import * as styles from './members-page.module.css';

/** How a colleague becomes a member, and what a role may do. */
export function HowToJoin({ organization }: { organization: string }) {
  const page = `${location.origin}/register`;
  return (
    <Card title="Add a colleague">
      <ol className={styles.steps}>
        <li>
          Send them the page to register:
          <span className={styles.copy}>
            <code>{page}</code>
            <CopyButton text={page} label="Copy the address" />
          </span>
        </li>
        <li>
          They enter this organisation’s name, exactly:
          <span className={styles.copy}>
            <bdi>{organization}</bdi>
            <CopyButton text={organization} label="Copy the name" />
          </span>
        </li>
        <li>They join as a member. Your operator decides which e-mail domains may join.</li>
      </ol>
      <p className={styles.roles}>
        Everyone sees the requests, spend, keys, vault and activity of the organisation. Members may mint and
        revoke keys; owners and admins may also rename the organisation. Your operator changes roles and
        deactivates accounts.
      </p>
    </Card>
  );
}
