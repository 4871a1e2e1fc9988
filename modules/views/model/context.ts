import type { Actor } from '../../../src/core/actor.ts'
import { AppError, notFound } from '../../../src/core/errors.ts'
import type { Field, View } from '../../../src/core/model.ts'
import type { BaseRight } from '../../../src/core/roles.ts'
import type { Meta } from '../../../src/db/meta.ts'
import type { AuthService } from '../../auth/index.ts'
import type { SchemaService, TableModel } from '../../schema/index.ts'
import type { ViewRow, ViewState } from './model.ts'
import type { ViewsStore } from './store.ts'

/** What the operations of this module share. */
export interface ViewsContext {
  db: Meta['db']
  access: AuthService['access']
  schema: SchemaService
  store: ViewsStore
}

/**
 * A view and its table, for someone who holds the rights in its base.
 *
 * @throws VIEW_NOT_FOUND before any refusal of access
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

/** @throws FIELD_NOT_FOUND */
export function requireField(model: TableModel, fieldId: string): Field {
  const field = model.field(fieldId)
  if (!field) throw notFound('Field', fieldId.slice(0, 64))
  return field
}

/** Where a view stands in the list is no part of how it is set up. */
const OUTSIDE: ReadonlySet<string> = new Set<keyof ViewState>(['order'])

type Held = Pick<ViewRow, 'id' | 'title' | 'lock' | 'ownedBy' | 'createdBy'>

/** True where the lock of a view lets the actor change it: one that nobody in particular made is in nobody's way. */
export function isOpenTo(actor: Actor, { lock, ownedBy, createdBy }: Held): boolean {
  if (lock !== 'personal') return lock === 'collaborative'
  const owner = ownedBy ?? createdBy
  return owner === null || (actor.kind === 'user' && actor.id === owner)
}

/**
 * Passes where the lock of a view lets the actor change it. Nobody changes a locked view, and nobody but its
 * owner a personal one. What the lock does not hold is the lock itself, nor whose a personal view is: who may
 * rename views can unlock them and take them over, and may then, in the same call, change the rest.
 *
 * @param changes what would change; absent: all of it, as its deletion does
 * @throws PERMISSION_DENIED naming the view
 */
export function refuseLocked(actor: Actor, view: Held, changes?: readonly (keyof ViewState)[]): void {
  if (isOpenTo(actor, view)) return
  const held = changes?.filter((key) => !OUTSIDE.has(key))
  if (held?.length === 0 || held?.includes('lock')) return
  if (view.lock === 'personal' && held?.includes('ownedBy')) return
  const reason =
    view.lock === 'locked'
      ? `View "${view.title}" is locked. Unlock it to make changes.`
      : `View "${view.title}" is personal. Only its owner can change it.`
  throw new AppError('PERMISSION_DENIED', reason, { viewId: view.id, lock: view.lock })
}
