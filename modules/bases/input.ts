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

/** Roles that can be given in a base; a guest is someone without access. */
export const MemberRole = z
  .enum([...BASE_ROLES, 'guest'])
  .transform((role) => (role === 'guest' ? ('no-access' as const) : role))
