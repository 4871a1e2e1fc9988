import type { Actor } from '../../../src/core/actor.ts'
import { AppError } from '../../../src/core/errors.ts'
import type { View } from '../../../src/core/model.ts'
import type { BaseRight } from '../../../src/core/roles.ts'
import type { Meta } from '../../../src/db/meta.ts'
import { m } from '../../../src/messages.gen.ts'
import type { AuthService } from '../../auth/index.ts'
import type { SchemaService, TableModel } from '../../schema/index.ts'
import type { ViewRow, ViewState } from './model.ts'
import type { ViewsStore } from './store.ts'

/** Dependencies of the operations of this module. */
export interface ViewsContext {
  db: Meta['db']
  access: AuthService['access']
  schema: SchemaService
  store: ViewsStore
}

/**
 * Loads a view and its table, and checks that the actor holds the rights in its base.
 *
 * @throws VIEW_NOT_FOUND before access is checked
 */
export async function openView(
  { store, access }: Pick<ViewsContext, 'store' | 'access'>,
  actor: Actor,
  rights: BaseRight | BaseRight[],
  viewId: string,
): Promise<{ view: View; model: TableModel }> {
  const found = await store.load(viewId)
  for (const right of [rights].flat()) await access.authorize(actor, right, found.model.table.baseId)
  return found
}

type LockedView = Pick<ViewRow, 'id' | 'title' | 'lock' | 'ownedBy' | 'createdBy'>

/** True if the lock of a view allows the actor to change it. A personal view without an owner is open to all. */
export function isOpenTo(actor: Actor, { lock, ownedBy, createdBy }: LockedView): boolean {
  if (lock !== 'personal') return lock === 'collaborative'
  const owner = ownedBy ?? createdBy
  return owner === null || (actor.kind === 'user' && actor.id === owner)
}

/**
 * Refuses a change that the lock of the view forbids: any change of a locked view, and a change of a personal view by
 * anyone but its owner. A locked view can still be moved in the list. A change of the lock itself, or of a personal
 * view's owner, passes with everything else in the same call: the right `view.update` guards these.
 *
 * @param changes the settings that would change; absent for a deletion
 * @throws PERMISSION_DENIED naming the view
 */
export function refuseLocked(actor: Actor, view: LockedView, changes?: readonly (keyof ViewState)[]): void {
  if (isOpenTo(actor, view)) return
  const locked = changes?.filter((key) => key !== 'order')
  if (locked?.length === 0 || locked?.includes('lock')) return
  if (view.lock === 'personal' && locked?.includes('ownedBy')) return
  const reason =
    view.lock === 'locked'
      ? m.views_error_locked({ view: view.title })
      : m.views_error_personal({ view: view.title })
  throw new AppError('PERMISSION_DENIED', reason, { viewId: view.id, lock: view.lock })
}
