import type { Actor } from '../../src/core/actor.ts'
import { notFound } from '../../src/core/errors.ts'
import type { Field, View } from '../../src/core/model.ts'
import type { BaseRight } from '../../src/core/roles.ts'
import type { Meta } from '../../src/db/meta.ts'
import type { AuthService } from '../auth/index.ts'
import type { SchemaService, TableModel } from '../schema/index.ts'
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
