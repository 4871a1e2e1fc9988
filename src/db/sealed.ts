import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** First byte of what is sealed: a later way to seal will have another. */
const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * A text that only the holder of the key can read or change (AES-256-GCM): version, nonce, tag and cipher text,
 * in base64url.
 *
 * @param key 32 bytes: `secrets.connections`
 */
export function seal(key: Uint8Array, text: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), sealed]).toString('base64url')
}

/** What `seal` was given; null where it was sealed with another key, or altered since. */
export function unseal(key: Uint8Array, sealed: string): string | null {
  const bytes = Buffer.from(sealed, 'base64url')
  const nonce = bytes.subarray(1, 1 + NONCE_BYTES)
  const tag = bytes.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES)
  if (bytes[0] !== VERSION || tag.length !== TAG_BYTES) return null
  const decipher = createDecipheriv('aes-256-gcm', key, nonce)
  decipher.setAuthTag(tag)
  const text = decipher.update(bytes.subarray(1 + NONCE_BYTES + TAG_BYTES))
  try {
    return Buffer.concat([text, decipher.final()]).toString('utf8')
  } catch {
    // Whatever the cipher says of it: with this key there is nothing to read.
    return null
  }
}
