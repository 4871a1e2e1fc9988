import { z } from 'zod'
import { BASE_ROLES } from '../../src/core/roles.ts'
import { plainObject, plainText } from '../../src/input.ts'

const MAX_META_LENGTH = 16_384

export const Title = plainText(255).trim().min(1)
export const Description = plainText(10_000)

/** Icon, colours and any other keys of clients. */
export const Meta = plainObject(MAX_META_LENGTH).pipe(
  z.looseObject({ iconColor: z.string().optional(), icon: z.string().optional() }),
)

export const BaseId = z.string().max(64)
export const BaseRef = z.object({ baseId: BaseId })

export const CreateInput = z.object({
  title: Title,
  description: Description.nullish(),
  meta: Meta.optional(),
})

export const UpdateInput = z.object({
  title: Title.optional(),
  description: Description.nullish(),
  meta: Meta.optional(),
})

/** Limit of addresses per invitation. */
export const MAX_INVITATIONS = 200

/** A role in a base, with the wire's `guest`. */
export const MemberRole = z
  .enum([...BASE_ROLES, 'guest'])
  .transform((role) => (role === 'guest' ? ('no-access' as const) : role))

export const InviteInput = BaseRef.extend({
  emails: z.array(z.string().max(1000)).min(1).max(MAX_INVITATIONS),
  role: z.enum(BASE_ROLES),
})
export const MemberRef = BaseRef.extend({ userId: z.string().max(64) })
export const MemberRoleInput = MemberRef.extend({ role: z.enum(BASE_ROLES) })
