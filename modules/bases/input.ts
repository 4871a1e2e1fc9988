import { z } from 'zod'
import { BASE_ROLES } from '../../src/core/roles.ts'
import { plainObject, plainText } from '../../src/input.ts'

const MAX_META_LENGTH = 16_384

/** The name of a base, without the blanks around it. */
export const Title = plainText(255).trim().min(1)
export const Description = plainText(10_000)

/** Icon and colours, and whatever else a client keeps with its base. */
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

// Metadata booleans are numbers on some servers that clients know (wire §1.4).
const Flag = z.union([z.boolean(), z.literal(0), z.literal(1)]).transform(Boolean)

/** What REST clients send of their own list: flags and a place, each of which may be null. */
export const PreferenceBody = z.object({
  starred: Flag.nullish(),
  hidden: Flag.nullish(),
  order: z.number().nullish(),
})

/** Most addresses that one call may invite. */
export const MAX_INVITATIONS = 200

/** Roles that can be given in a base; a guest is someone without access. */
export const MemberRole = z
  .enum([...BASE_ROLES, 'guest'])
  .transform((role) => (role === 'guest' ? ('no-access' as const) : role))

/** People who are to become members, each by an address. */
export const InviteInput = BaseRef.extend({
  emails: z.array(z.string().max(1000)).min(1).max(MAX_INVITATIONS),
  role: z.enum(BASE_ROLES),
})
/** One member of a base. */
export const MemberRef = BaseRef.extend({ userId: z.string().max(64) })
export const MemberRoleInput = MemberRef.extend({ role: z.enum(BASE_ROLES) })
