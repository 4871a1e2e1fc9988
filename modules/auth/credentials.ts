import { z } from 'zod'

/** RFC 5321 §4.5.3.1.3: a path has 256 characters, including its angle brackets. */
const MAX_EMAIL_LENGTH = 254

/** The pattern of `<input type=email>` (WHATWG), plus a required dot in the domain. */
const EMAIL_PATTERN =
  /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/i

/** A trimmed email address (spec §5). */
export const EmailAddress = z
  .string()
  .trim()
  .max(MAX_EMAIL_LENGTH)
  .pipe(z.email({ pattern: EMAIL_PATTERN }))

/** Key for comparing addresses: they ignore case. */
export const emailKey = (email: string): string => email.trim().toLowerCase()

/** The trimmed address, or null if it is invalid. */
export function parseEmail(text: string): string | null {
  const parsed = EmailAddress.safeParse(text)
  return parsed.success ? parsed.data : null
}

// OWASP Password Storage Cheat Sheet for argon2id: 19 MiB, two passes.
const COST = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const

/** Limits the work of hashing one password. */
export const MAX_PASSWORD_LENGTH = 256

export const NewPassword = z.string().min(8).max(MAX_PASSWORD_LENGTH)

export const hashPassword = (password: string): Promise<string> => Bun.password.hash(password, COST)

/** Hash to verify against for unknown accounts, so that they take as long as known ones. */
const dummyHash = hashPassword(crypto.randomUUID())

/** Compares a password with its hash. A null hash never matches, but takes as long. */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  const matches = await Bun.password.verify(password, hash ?? (await dummyHash))
  return matches && hash !== null
}

/** SHA-256 in hex, for storing tokens: they are random, so they need neither salt nor a slow hash. */
export const sha256 = (text: string): string => new Bun.CryptoHasher('sha256').update(text).digest('hex')

/** 80 random hex characters: a refresh token or a token version. */
export const randomHex80 = (): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(40))).toString('hex')

/** An API token: 40 characters of [A-Za-z0-9_-]. */
export const randomApiToken = (): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(30))).toString('base64url')

/** True for a UUID, the form of invite and reset tokens. */
export const isUuid = (text: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text)
