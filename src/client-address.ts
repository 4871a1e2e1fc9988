import type { Config } from './config.ts'

/** What of Bun's server says where a request comes from. */
export interface AddressBook {
  requestIP(request: Request): { address: string } | null
}

/**
 * From where a request comes, for limits on attempts: the other end of its connection, or, where a reverse proxy
 * stands in front, what that proxy says. It adds the address that it sees at the end of `X-Forwarded-For`; what stands
 * before that, anyone may have written. Empty where nobody can say.
 */
export function clientAddress(
  { trustProxy }: Pick<Config, 'trustProxy'>,
  request: Request,
  server: AddressBook | null | undefined,
): string {
  const forwarded = trustProxy ? request.headers.get('x-forwarded-for')?.split(',').at(-1)?.trim() : undefined
  return forwarded || (server?.requestIP(request)?.address ?? '')
}
