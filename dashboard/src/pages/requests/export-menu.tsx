import type { ListRequestsInput } from '@gatehouse/sdk';
import { DownloadIcon } from '@radix-ui/react-icons';
import { useMutation } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { readableError } from '../../api/errors.ts';
import { bytes } from '../../format/number.ts';
import { Button } from '../../ui/button.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { toast } from '../../ui/toast.tsx';

const TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;

/** Saves every request that passes the filters, not only the page, as a file. */
export function ExportMenu({ query }: { query: ListRequestsInput }) {
  const download = useMutation({
    mutationFn: async (kind: keyof typeof TYPES) => {
      const { fileName, body } = await client.downloadRequests(query, { type: TYPES[kind] });
      return { fileName, blob: await new Response(body).blob() };
    },
    onSuccess: ({ fileName, blob }) => {
      save(fileName, blob);
      toast(`Saved ${fileName} (${bytes(blob.size)})`);
    },
    onError: (error) => toast(readableError(error).sentence, 'bad'),
  });
  return (
    <Menu
      aria-label="Export the requests"
      trigger={
        <Button size="s" icon={<DownloadIcon />} isPending={download.isPending}>
          Export
        </Button>
      }
    >
      <MenuItem onAction={() => download.mutate('csv')}>CSV, for a spreadsheet</MenuItem>
      <MenuItem onAction={() => download.mutate('ndjson')}>NDJSON, for a program</MenuItem>
    </Menu>
  );
}

function save(fileName: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
