import { CodeIcon } from '@radix-ui/react-icons';
import { type ApiCall, curlOf } from '../api/call.ts';
import { CopyButton } from './copy-button.tsx';

/** Copies the exact API request behind a figure, chart or table. Whatever the page shows can be scripted. */
export function CopyCurl({ call, of }: { call: ApiCall; of?: string }) {
  return (
    <CopyButton
      icon={<CodeIcon />}
      label={of === undefined ? 'Copy the API request' : `Copy the API request of ${of}`}
      text={() => curlOf(call, location.origin)}
      done="Copied as curl. It needs a session in cookies.txt."
    />
  );
}
