import { z } from 'zod'
import { badRequest } from '../../../src/core/errors.ts'
import { HIDEABLE_ROLES } from '../../../src/core/roles.ts'
import { readBody } from '../../../src/wire/rest-base.ts'
import type { ViewRow } from '../model.ts'
import type { VisibilityRule } from '../visibility.ts'
import { wireFlag } from './kinds/wire-kind.ts'

/** Roles that programs name here and that no view is hidden from. */
const SEE_ALL = ['owner', 'creator', 'guest'] as const
const MAX_RULES = 10_000

const flags = z.object(
  Object.fromEntries([...SEE_ALL, ...HIDEABLE_ROLES].map((role) => [role, wireFlag.nullish()])),
)
const Rules = z.array(z.object({ id: z.string().max(64), disabled: flags })).max(MAX_RULES)

/** From whom a view is hidden, as programs know it (wire reference §5.3): the `disabled` of a view. */
export const presentVisibility = ({ hiddenFrom }: Pick<ViewRow, 'hiddenFrom'>): Record<string, boolean> =>
  Object.fromEntries(
    ['owner', 'creator', 'viewer', 'editor', 'commenter', 'guest'].map((role) => [
      role,
      hiddenFrom?.some((hidden) => hidden === role) ?? false,
    ]),
  )

/**
 * Reads a list of views, each with its `disabled`: what that does not name stays.
 *
 * @throws INVALID_REQUEST_BODY for anything but a list; BAD_REQUEST where a view is to be hidden from who sees all
 */
export function readVisibility(body: unknown): VisibilityRule[] {
  return readBody(Rules, body).map(({ id, disabled }) => {
    const immune = SEE_ALL.find((role) => disabled[role])
    if (immune !== undefined) throw badRequest(`A view can’t be hidden from the role ${immune}`)
    const hidden = HIDEABLE_ROLES.flatMap((role) => (disabled[role] == null ? [] : [[role, disabled[role]]]))
    return { viewId: id, hidden: Object.fromEntries(hidden) }
  })
}
