import type { ProviderFlags } from '@gatehouse/contract';
import { ClientTlsError, type ClientTlsFiles, readClientTls } from '@gatehouse/http/outgoing';
import type { z } from 'zod';
import type { PROVIDER_FLAG_MEMBERS } from './provider-flags-file.ts';

type Flags = Partial<z.output<z.ZodObject<typeof PROVIDER_FLAG_MEMBERS>>>;

const FILE_MEMBERS = ['ca_file', 'client_cert_file', 'client_key_file'] as const;

const MEMBER_OF_FILE: Readonly<Record<keyof ClientTlsFiles, string>> = {
  caFile: 'ca_file',
  certFile: 'client_cert_file',
  keyFile: 'client_key_file',
};

/** Reads the files of a provider's connections, and says which of them cannot be used. */
export function connectionIssues(
  flags: Flags,
  baseUrl: unknown,
): readonly { readonly path: readonly PropertyKey[]; readonly message: string }[] {
  const stated = FILE_MEMBERS.filter((member) => flags[member] !== undefined);
  if (typeof baseUrl === 'string' && /^http:/i.test(baseUrl))
    return stated.map((member) => ({ path: [member], message: 'is only for a base_url with https://' }));
  const { ca_file: caFile, client_cert_file: certFile, client_key_file: keyFile } = flags;
  if ((certFile === undefined) !== (keyFile === undefined)) {
    const [has, needs] = certFile === undefined ? FILE_MEMBERS.slice(1).reverse() : FILE_MEMBERS.slice(1);
    return [{ path: [has ?? ''], message: `needs ${needs} beside it` }];
  }
  const issue = fileIssue({ caFile, certFile, keyFile });
  return issue === undefined ? [] : [{ path: [issue.member], message: `is ${issue.message}` }];
}

/** Why the files of a stored provider cannot be used: `ca_file is "/etc/ca.pem", which …`. Undefined where they can. */
export function providerFileIssue(
  flags: Partial<Pick<ProviderFlags, 'caFile' | 'clientCertFile' | 'clientKeyFile'>>,
): string | undefined {
  const issue = fileIssue({
    caFile: flags.caFile ?? undefined,
    certFile: flags.clientCertFile ?? undefined,
    keyFile: flags.clientKeyFile ?? undefined,
  });
  return issue && `${issue.member} is ${issue.message}`;
}

function fileIssue(files: ClientTlsFiles): { readonly member: string; readonly message: string } | undefined {
  try {
    readClientTls(files);
    return undefined;
  } catch (error) {
    if (!(error instanceof ClientTlsError)) throw error;
    return { member: MEMBER_OF_FILE[error.file], message: error.message };
  }
}
