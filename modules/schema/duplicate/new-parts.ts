import { badRequest } from '../../../src/core/errors.ts'
import { createId, type IdKind } from '../../../src/core/ids.ts'
import type { SchemaContext } from '../change/index.ts'
import { type FieldSlots, hasRoom, MAX_FIELDS, openSlots, type TableModel } from '../model/index.ts'

/** New ids for what is copied, by the former ones. */
export function freshIds(
  kinds: Partial<Record<Extract<IdKind, 'table' | 'field' | 'view'>, readonly string[]>>,
): Map<string, string> {
  const ids = new Map<string, string>()
  for (const kind of ['table', 'field', 'view'] as const) {
    for (const id of kinds[kind] ?? []) ids.set(id, createId(kind))
  }
  return ids
}

/** Slots of several tables, each opened once. */
export type SlotsOf = (tableId: string) => Promise<FieldSlots>

/** @throws BAD_REQUEST, at each call, naming a table that has no room for another field */
export function createSlots({ store }: SchemaContext): SlotsOf {
  const opened = new Map<string, { model: TableModel; slots: FieldSlots }>()
  const open = async (tableId: string) => {
    const model = await store.load(tableId)
    const made = { model, slots: openSlots(model, await store.listFields(tableId)) }
    opened.set(tableId, made)
    return made
  }
  return async (tableId) => {
    const { model, slots } = opened.get(tableId) ?? (await open(tableId))
    if (!hasRoom({ fields: [...model.fields, ...slots.added] }))
      throw badRequest(`${model.table.title} has reached the limit of ${MAX_FIELDS} fields`)
    return slots
  }
}

/** `Price copy`, cut so that there is room for the words around it. */
export const copyTitle = (title: string): string => `${[...title].slice(0, 220).join('')} copy`

/** The times of something that is made now. */
export const timesAt = (now: string) => ({ createdAt: now, updatedAt: now, deletedAt: null })
