export const SHARE_KINDS = ['view', 'base', 'erd'] as const
export type ShareKind = (typeof SHARE_KINDS)[number]

/** Request headers that name the link by which a visitor came, and its password. */
export const SHARE_HEADERS = {
  view: 'xc-shared-view-id',
  base: 'xc-shared-base-id',
  erd: 'xc-shared-erd-id',
} as const satisfies Record<ShareKind, string>
export const SHARE_PASSWORD_HEADER = 'xc-password'

/**
 * A password as `SHARE_PASSWORD_HEADER` carries it. A header holds bytes and no letters: those of UTF-8, one
 * character for each, which is also what other programs send.
 */
export const passwordHeader = (password: string): string =>
  Array.from(new TextEncoder().encode(password), (byte) => String.fromCharCode(byte)).join('')

/** The password that such a header carries; one that is no UTF-8 is taken letter by letter. */
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
