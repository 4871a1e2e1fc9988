import type { View } from '../../../../src/core/model.ts'
import { m } from '../../../messages.gen.ts'
import { session } from '../../../session/index.ts'
import { cache } from '../../../trpc.ts'
import { keptBecause } from '../state/view-changes.ts'

/** Why the user cannot change a view in its current lock mode; null if they can. */
export function heldReason(view: View): string | null {
  const because = keptBecause(view, true, session.userId())
  if (because === null) return null
  return because === 'locked' ? m.views_unlock_the_view_first() : m.views_only_owner_do()
}

/** Describes the lock icon of a view; null if everyone may change it. */
export function modeMark(view: Pick<View, 'lock' | 'ownerId'>, baseId: string): string | null {
  if (view.lock === 'locked') return m.views_locked_changes_are_temporary()
  if (view.lock !== 'personal') return null
  const owner = cache.records.people.getData({ baseId })?.find(({ id }) => id === view.ownerId)
  return owner
    ? m.views_personal_view_of_name({ name: owner.displayName || owner.email })
    : m.views_someone_elses_personal_view()
}
