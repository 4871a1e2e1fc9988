import { z } from 'zod'

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
