import { z } from 'zod'
import { nowMs } from '../../src/clock.ts'
import { badRequest } from '../../src/core/errors.ts'
import { CUSTOM_ADDRESS, MIN_SHARE_PASSWORD, SHARE_KINDS, shareSettingsPatch } from '../../src/core/shares.ts'
import { plainText } from '../../src/input.ts'
import { m } from '../../src/messages.gen.ts'

const MAX_PASSWORD = 256

/** A link's password: one trimmed line, since it is sent in a header. */
export const password = plainText(MAX_PASSWORD)
  .min(MIN_SHARE_PASSWORD)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  .refine((text) => text === text.trim() && !/[\u0000-\u001f\u007f]/.test(text), {
    error: () => m.shares_error_password(),
  })

export const customAddress = z.string().regex(CUSTOM_ADDRESS, {
  error: () => m.shares_error_address(),
})

const id = z.string().min(1).max(64)
const kind = z.enum(SHARE_KINDS)

export const targetRef = z.strictObject({ kind, targetId: id })
export const openInput = z.strictObject({ kind, id: z.string().max(100) })
export const baseRef = z.strictObject({ baseId: id })

export const saveInput = z.strictObject({
  kind,
  targetId: id,
  patch: z.strictObject({
    role: z.enum(['viewer', 'editor']).optional(),
    password: password.nullable().optional(),
    expiresAt: z.iso.datetime({ offset: true }).nullable().optional(),
    settings: z.optional(shareSettingsPatch),
    id: customAddress.optional(),
  }),
})

/** Normalizes an expiry. @throws BAD_REQUEST for the past */
export function futureMoment(text: string): string {
  const moment = new Date(text)
  if (moment.getTime() <= nowMs()) throw badRequest(m.error_expiry_past())
  return moment.toISOString()
}
