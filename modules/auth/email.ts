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
