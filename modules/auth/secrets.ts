/** SHA-256 in hex: how tokens are stored. They are random, so a plain hash cannot be searched back. */
export const sha256 = (text: string): string => new Bun.CryptoHasher('sha256').update(text).digest('hex')

/** 80 hex characters: a refresh token, or a version of someone's access tokens. */
export const randomHex80 = (): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(40))).toString('hex')

/** 40 characters of [A-Za-z0-9_-]: an API token. */
export const randomApiToken = (): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(30))).toString('base64url')

/** True for the shape of invite and reset tokens. Anything else is not worth asking the database. */
export const isUuid = (text: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text)
