import { and, asc, eq, isNotNull } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import { badRequest, notFound } from '../../src/core/errors.ts'
import type { Field } from '../../src/core/model.ts'
import { openField, openTable, type SchemaContext } from './context.ts'
import { requireRoom } from './create-field.ts'
import { plainField, refuseSystemField, toField } from './model.ts'
import { uniqueTitle } from './names.ts'

/**
 * Moves a field to the trash. Its column stays, so that it comes back with its values; views keep
 * what they say of it and leave it out meanwhile.
 *
 * @throws FIELD_NOT_FOUND; BAD_REQUEST for the display field, the record id and system fields
 */
export async function deleteField(context: SchemaContext, actor: Actor, fieldId: string): Promise<void> {
  const { field } = await openField(context, actor, 'field.delete', fieldId)
  refuseSystemField(field, 'deleted')
  await trashField(context, actor, field)
}

/** Marks a field as deleted; the display field is refused, since every record needs a name. */
export async function trashField(
  { store, apply, kernel }: SchemaContext,
  actor: Actor,
  field: Field,
  options?: { silent?: boolean },
): Promise<void> {
  const { fields } = store
  const { table } = await store.load(field.tableId)
  await apply(
    actor,
    table.baseId,
    async ({ now }) => {
      const model = await store.load(table.id)
      if (model.displayField.id === field.id) {
        throw badRequest(
          `Field "${field.title}" names the records of ${table.title}: choose another display field before you delete it`,
        )
      }
      return {
        statements: [
          kernel.meta.db
            .update(fields)
            .set({ deletedAt: now, updatedAt: now })
            .where(eq(fields.id, field.id)),
        ],
        entry: { kind: 'field.delete', tableId: table.id, detail: { fieldId: field.id } },
        tableIds: [table.id],
        result: undefined,
      }
    },
    options,
  )
}

/**
 * Takes a field out of the trash with its values, under `Title_1` where its title is in use by now.
 *
 * @throws FIELD_NOT_FOUND where it is not in the trash of a live table
 */
export async function restoreField(context: SchemaContext, actor: Actor, fieldId: string): Promise<Field> {
  const found = await context.store.findField(fieldId)
  if (!found || found.deletedAt === null) throw notFound('Field', fieldId.slice(0, 64))
  await openTable(context, actor, 'field.create', found.tableId)
  return untrashField(context, actor, fieldId)
}

/** Takes the mark away again. */
export async function untrashField(
  { store, apply, kernel }: SchemaContext,
  actor: Actor,
  fieldId: string,
  options?: { silent?: boolean },
): Promise<Field> {
  const { fields } = store
  const found = await store.findField(fieldId)
  if (!found) throw notFound('Field', fieldId.slice(0, 64))
  const { table } = await store.load(found.tableId)
  if (found.deletedAt === null) return plainField(found)
  return apply(
    actor,
    table.baseId,
    async ({ now }) => {
      const model = await store.load(table.id)
      requireRoom(model)
      const field = plainField(found)
      const title = uniqueTitle(
        field.title,
        model.fields.filter((other) => other.id !== fieldId),
      )
      return {
        statements: [
          // Another field names the records by now.
          kernel.meta.db
            .update(fields)
            .set({ deletedAt: null, isDisplay: false, title, updatedAt: now })
            .where(eq(fields.id, fieldId)),
        ],
        entry: { kind: 'field.restore', tableId: table.id, detail: { fieldId } },
        tableIds: [table.id],
        result: { ...field, title, isDisplay: false },
      }
    },
    options,
  )
}

/** Fields of a table that are in the trash, the latest first. */
export async function trashedFields(context: SchemaContext, actor: Actor, tableId: string): Promise<Field[]> {
  await openTable(context, actor, 'field.create', tableId)
  const { fields } = context.store
  const rows = await context.kernel.meta.db
    .select()
    .from(fields)
    .where(and(eq(fields.tableId, tableId), isNotNull(fields.deletedAt)))
    .orderBy(asc(fields.deletedAt))
  return rows.toReversed().map(toField)
}
