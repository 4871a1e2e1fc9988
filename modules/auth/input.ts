import { z } from 'zod'
import { plainObject, plainText } from '../../src/input.ts'
import { EmailAddress, NewPassword } from './credentials.ts'

/** Longer than any right answer, so that what is wrong in shape only is answered as wrong. */
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
  /** Whether the API tokens end with the sessions. */
  revokesTokens: z.boolean().optional(),
})

export const DisplayName = plainText(255)
export const ProfileMeta = plainObject(16_384)

/** The settings of the server. The known ones take a hundred characters. */
/** What a super admin sets for the server: only what it knows, so that a typing error is not taken for a setting. */
export const AppSettings = z.strictObject({ invite_only_signup: z.boolean().optional() })
