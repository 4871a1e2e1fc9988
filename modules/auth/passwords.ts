import { z } from 'zod'

// OWASP's Password Storage Cheat Sheet for argon2id: 19 MiB and two passes.
const COST = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const

/** A new password. The upper bound keeps one request from hashing megabytes. */
export const NewPassword = z.string().min(8).max(256)

export const hashPassword = (password: string): Promise<string> => Bun.password.hash(password, COST)

/** Stands in for the hash of those who do not exist, so that asking about them takes as long. */
const nobody = hashPassword(crypto.randomUUID())

/** True where `password` made the hash. A null hash is never matched, in the same time. */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  const matches = await Bun.password.verify(password, hash ?? (await nobody))
  return matches && hash !== null
}
