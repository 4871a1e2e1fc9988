import { z } from 'zod'
import { plainObject, plainText } from '../../src/input.ts'
import { EmailAddress, NewPassword } from './credentials.ts'

/**
 * A credential to compare. Longer than any valid one, so that a malformed credential is answered as a wrong
 * one.
 */
const Given = z.string().max(4096)

export const SignUpInput = z.object({
  email: EmailAddress,
  password: NewPassword,
  inviteToken: Given.optional(),
})

export const InvitationInput = z.object({ token: Given })

export const SignInInput = z.object({ email: Given, password: Given })

export const ChangePasswordInput = z.object({
  currentPassword: Given,
  newPassword: NewPassword,
  /** Deletes the API tokens along with the sessions. */
  revokesTokens: z.boolean().optional(),
})

/** A name without blanks around it; null for blanks only, which lists would show as an empty name. */
export const DisplayName = plainText(255).transform((name) => name.trim() || null)
export const ProfileMeta = plainObject(16_384)

/** Server settings of the super admin. Unknown keys are refused, so that a typing error is noticed. */
export const AppSettings = z.strictObject({ invite_only_signup: z.boolean().optional() })
