export const SHARE_KINDS = ['view', 'base', 'erd'] as const
export type ShareKind = (typeof SHARE_KINDS)[number]

/** Request headers with the id of a visitor's public link. */
export const SHARE_HEADERS = {
  view: 'xc-shared-view-id',
  base: 'xc-shared-base-id',
  erd: 'xc-shared-erd-id',
} as const satisfies Record<ShareKind, string>
export const SHARE_PASSWORD_HEADER = 'xc-password'

/** Header with a submission's id, the same for each retry, so that retries create only one record. */
export const SUBMISSION_HEADER = 'x-submission-id'

/** Header with the respondent's time zone, for default values such as today. */
export const TIME_ZONE_HEADER = 'x-time-zone'

/**
 * Encodes a password for `SHARE_PASSWORD_HEADER`: headers carry bytes, so each UTF-8 byte becomes one
 * character. Other clients send the same.
 */
export const passwordHeader = (password: string): string =>
  Array.from(new TextEncoder().encode(password), (byte) => String.fromCharCode(byte)).join('')

/** Decodes a password header; invalid UTF-8 is returned unchanged. */
export function readPasswordHeader(header: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(
      Uint8Array.from(header, (character) => character.charCodeAt(0)),
    )
  } catch (error) {
    if (error instanceof TypeError) return header
    throw error
  }
}
