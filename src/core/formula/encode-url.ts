/** Characters that `encodeURIComponent` leaves as they are. */
export const PLAIN_IN_URLS: readonly string[] = [
  ..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()",
]

/** The UTF-8 bytes of a text in percent-encoding, as `encodeURIComponent` writes them. */
export const encodeUrl = (text: string): string => encodeURIComponent(text.toWellFormed())
