import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { apiCall, queryOf, sendCall } from '../../api/call.ts';
import { useGatewayUrl } from '../../api/gateway-url.ts';
import { readAgain } from '../../api/query-client.ts';
import { randomText } from '../../api/random-text.ts';
import { projectsCall, routesCall } from '../../app/filter-options.ts';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { firstCurl, firstModel } from './first-curl.ts';
import * as styles from './first-request.module.css';

/** The page of a new organisation: three steps to its first request, which then appears by itself. */
export function FirstRequest() {
  const [name, setName] = useState('My first key');
  const projects = useQuery(queryOf(projectsCall));
  const routes = useQuery(queryOf(routesCall));
  const gateway = useGatewayUrl();
  const project = projects.data?.projects[0];
  // Two presses before the button is drawn as pressed mint one key.
  const [idempotencyKey, setIdempotencyKey] = useState(randomText);
  const create = useMutation({
    mutationFn: () =>
      sendCall(
        apiCall('createKey', { idempotency_key: idempotencyKey, project_id: project?.id ?? '', name }),
      ),
    onError: () => setIdempotencyKey(randomText()),
    onSuccess: () => readAgain('listKeys'),
  });
  const secret = create.data?.api_key;
  return (
    <>
      <PageHeader title="Your first request" lead="Three steps, and this page shows what the gateway sees." />
      <ol className={styles.steps}>
        <li className={styles.step} data-done={secret !== undefined || undefined}>
          <h2 className={styles.title}>Create a key</h2>
          <p className={styles.text}>
            A key identifies a program to the gateway. Limits of rate, credit, time and models can be set for
            each key.
          </p>
          {secret === undefined ? (
            <form
              className={styles.form}
              onSubmit={(event) => {
                event.preventDefault();
                create.mutate();
              }}
            >
              <TextField label="Name of the key" value={name} onChange={setName} maxLength={255} isRequired />
              <Button
                type="submit"
                variant="primary"
                isPending={create.isPending}
                isDisabled={project === undefined}
              >
                Create the key
              </Button>
            </form>
          ) : (
            <>
              <CodeBlock text={secret} label="the key" />
              <Notice tone="warn">
                This is the only time that the key is shown. Copy it to a safe place.
              </Notice>
            </>
          )}
          {create.error ? <ErrorNotice error={create.error} /> : undefined}
        </li>
        <li className={styles.step}>
          <h2 className={styles.title}>Send a request</h2>
          <p className={styles.text}>
            {secret === undefined
              ? 'In a terminal. The key is filled in once you have created one.'
              : 'Run this in a terminal. Any client of OpenAI’s API works in the same way: give it this address and the key.'}
          </p>
          {gateway === undefined || routes.isPending ? (
            <div aria-busy="true">
              <Skeleton height={120} />
            </div>
          ) : (
            <CodeBlock
              text={firstCurl(gateway, secret, firstModel(routes.data?.routes ?? []))}
              label="the request"
            />
          )}
        </li>
        <li className={styles.step}>
          <h2 className={styles.title}>See it here</h2>
          <p className={styles.waiting} role="status">
            <span className={styles.pulse} aria-hidden="true" />
            Waiting for the first request. It appears by itself, about a second after it ends.
          </p>
        </li>
      </ol>
    </>
  );
}
