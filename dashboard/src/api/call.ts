import { type CallName, type Inputs, type Replies, requestFor, toCurl } from '@gatehouse/sdk';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { client } from './client.ts';

/** A call of the API with its input: what a figure is loaded by, and what its curl command shows. */
export interface ApiCall<Name extends CallName = CallName> {
  readonly name: Name;
  readonly input: Inputs[Name];
}

export function apiCall<Name extends CallName>(name: Name, input: Inputs[Name]): ApiCall<Name> {
  return { name, input };
}

type Method = (input: object, options: { signal?: AbortSignal | undefined }) => Promise<unknown>;

const methods = new Map(
  Object.values(client).flatMap((section) =>
    typeof section === 'object' ? Object.entries(section as Record<string, Method>) : [],
  ),
);

/** Sends it. */
export async function sendCall<Name extends CallName>(
  { name, input }: ApiCall<Name>,
  signal?: AbortSignal,
): Promise<Replies[Name]> {
  const method = methods.get(name);
  if (!method) throw new TypeError(`There is no call ${name}.`);
  return (await method(input, { signal })) as Replies[Name];
}

/** The query of a call that reads. Its key begins with the name of the call: `['listKeys', {}]`. */
export function queryOf<Name extends CallName>(call: ApiCall<Name>) {
  return queryOptions({
    queryKey: [call.name, call.input] as const,
    queryFn: ({ signal }) => sendCall(call, signal),
    placeholderData: keepPreviousData,
  });
}

/** The call as a command that anyone with a session in cookies.txt can run. */
export function curlOf({ name, input }: ApiCall, origin: string): string {
  return toCurl(requestFor(name, input), { baseUrl: `${origin}/api` });
}
