import { MIN_SHARE_PASSWORD } from '../../../src/core/shares.ts'

export type PasswordStrength = 'short' | 'weak' | 'fair' | 'strong'

/**
 * How well a password withstands being tried, roughly: by its length, and by how many kinds of characters one
 * would have to try. A hint while typing, no rule.
 */
export function passwordStrength(password: string): PasswordStrength {
  const characters = [...password]
  if (characters.length < MIN_SHARE_PASSWORD) return 'short'
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^a-zA-Z\d]/].filter((kind) => kind.test(password)).length
  // "aaaaaaaaaaaa" is long and is no better than "aa".
  const bits = Math.min(characters.length, 2 * new Set(characters).size) * (2 + kinds)
  if (bits < 32) return 'weak'
  return bits < 52 ? 'fair' : 'strong'
}
