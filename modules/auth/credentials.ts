import { z } from 'zod'

/** RFC 5321 §4.5.3.1.3 allows a path of 256 with its angle brackets. */
const MAX_EMAIL_LENGTH = 254

/** What browsers accept in `<input type=email>` (WHATWG), with a dot in the domain besides. */
const SHAPE =
  /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/i

/** An address of the usual shape (spec §5), without the blanks around it. */
export const EmailAddress = z
  .string()
  .trim()
  .max(MAX_EMAIL_LENGTH)
  .pipe(z.email({ pattern: SHAPE }))

/** What addresses are compared by: two that differ in case only are one. */
export const emailKey = (email: string): string => email.trim().toLowerCase()

/** The address as typed but for the blanks around it, or null where it is none. */
export function parseEmail(text: string): string | null {
  const parsed = EmailAddress.safeParse(text)
  return parsed.success ? parsed.data : null
}

// OWASP's Password Storage Cheat Sheet for argon2id: 19 MiB and two passes.
const COST = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const

/** Keeps one request from hashing megabytes. */
export const MAX_PASSWORD_LENGTH = 256

/** A new password. */
export const NewPassword = z.string().min(8).max(MAX_PASSWORD_LENGTH)

export const hashPassword = (password: string): Promise<string> => Bun.password.hash(password, COST)

/** Stands in for the hash of those who do not exist, so that asking about them takes as long. */
const nobody = hashPassword(crypto.randomUUID())

/** True where `password` made the hash. A null hash is never matched, in the same time. */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  const matches = await Bun.password.verify(password, hash ?? (await nobody))
  return matches && hash !== null
}

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
