import { and, asc, desc, eq, isNotNull, isNull } from 'drizzle-orm'
import { type Actor, actorIdOf } from '../../../src/core/actor.ts'
import { badRequest, notFound } from '../../../src/core/errors.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { isForeignKey, numbersRecords } from '../../../src/core/fields/traits.ts'
import type { Field } from '../../../src/core/model.ts'
import { m } from '../../../src/messages.gen.ts'
import {
  type ChangeOptions,
  openField,
  openTable,
  refuseSchemaReadonly,
  type SchemaContext,
} from '../change/index.ts'
import { fillNumbers } from '../fields/index.ts'
import {
  markParts,
  partsOfLink,
  partsWhere,
  refuseLinkPart,
  requireRelatedTable,
  requireReverseLink,
} from '../links/index.ts'
import { plainField, refuseSystemField, requireRoom, toField } from '../model/index.ts'

/**
 * Moves a field to the trash. Its column and its settings in views stay for a restore.
 *
 * @throws FIELD_NOT_FOUND; BAD_REQUEST for the display field, the record id and system fields
 */
export async function deleteField(context: SchemaContext, actor: Actor, fieldId: string): Promise<void> {
  const { field } = await openField(context, actor, 'field.delete', fieldId)
  refuseSystemField(field, 'deleted')
  if (field.databaseType !== null)
    await refuseSchemaReadonly(context, (await context.store.load(field.tableId)).table)
  if (isForeignKey(field)) await refuseLinkPart(context, { key: field })
  await trashField(context, actor, field)
}

/** Marks a field, and the parts of a link, as deleted. Fields computed from it stay, with an error. */
export async function trashField(
  context: SchemaContext,
  actor: Actor,
  field: Field,
  options?: ChangeOptions,
): Promise<void> {
  const { store, apply } = context
  const { table } = await store.load(field.tableId)
  await apply(
    actor,
    table.baseId,
    async ({ now }) => {
      const model = await store.load(table.id)
      if (model.displayField.id === field.id) {
        throw badRequest(m.schema_error_delete_display_field({ field: field.title, table: table.title }))
      }
      const own = await store.findField(field.id)
      if (!own || own.deletedAt !== null) {
        return { statements: [], entry: null, tableIds: [], result: undefined }
      }
      const also = partsWhere(await partsOfLink(context, field), ({ deletedAt }) => deletedAt === null)
      const all = { ...also, fields: [own, ...also.fields] }
      const { statements, parts, tableIds } = await markParts(
        context,
        all,
        { at: now, by: actorIdOf(actor) },
        now,
      )
      return {
        statements,
        entry: { kind: 'field.delete', tableId: table.id, detail: { fieldId: field.id, title: own.title } },
        altered: parts,
        tableIds: [...new Set([table.id, ...tableIds])],
        result: undefined,
      }
    },
    options,
  )
}

/**
 * Restores a field with its values; its title gets a suffix (`Title_1`) if it is in use by now.
 *
 * @throws FIELD_NOT_FOUND unless it is in the trash of a live table
 */
export async function restoreField(context: SchemaContext, actor: Actor, fieldId: string): Promise<Field> {
  const found = await context.store.findField(fieldId)
  if (!found || found.deletedAt === null) throw notFound('Field', fieldId.slice(0, 64))
  await openTable(context, actor, 'field.create', found.tableId)
  return untrashField(context, actor, fieldId)
}

/** Restores a field, and the parts of a link. */
export async function untrashField(
  context: SchemaContext,
  actor: Actor,
  fieldId: string,
  options?: ChangeOptions,
): Promise<Field> {
  const { store, apply, kernel } = context
  const find = async () => {
    const field = await store.findField(fieldId)
    if (!field) throw notFound('Field', fieldId.slice(0, 64))
    return field
  }
  const { tableId, title } = await find()
  const { table } = await store.load(tableId)
  const restored = await apply(
    actor,
    table.baseId,
    async ({ tx, engine, now }) => {
      const model = await store.load(table.id)
      const found = await find()
      if (found.deletedAt === null) {
        return { statements: [], entry: null, tableIds: [], result: plainField(found) }
      }
      await requireRelatedTable(context, found)
      await requireReverseLink(context, found)
      requireRoom(model)
      if (numbersRecords(found)) await tx.run(fillNumbers(engine.dialect, model, found))
      const also = partsWhere(await partsOfLink(context, found), ({ deletedAt }) => deletedAt !== null)
      // The table has another display field by now.
      const own = { ...found, isDisplay: false }
      const all = { ...also, fields: [own, ...also.fields] }
      const { statements, parts, tableIds } = await markParts(context, all, null, now)
      const { fields } = store
      return {
        statements: [
          ...statements,
          kernel.meta.db.update(fields).set({ isDisplay: false }).where(eq(fields.id, fieldId)),
        ],
        entry: { kind: 'field.restore', tableId: table.id, detail: { fieldId, title: own.title } },
        altered: parts,
        tableIds: [...new Set([table.id, ...tableIds])],
        result: plainField(parts.fields[0] ?? found),
      }
    },
    { ...options, work: { kind: 'restore', table, fieldTitle: title } },
  )
  return (await store.load(table.id)).field(fieldId) ?? restored
}

/** A field in the trash. */
export type TrashedField = Field & { deletedAt: string; deletedBy: string | null }

/**
 * The fields in the trash of all live tables of a base, latest first. Leaves out those that are restored with another
 * item: foreign keys, hidden reverse fields, and links that were deleted with the table they lead to. Of a link between
 * two tables, both sides are listed, and each takes the other along.
 */
export async function trashedFieldsOfBase(
  context: SchemaContext,
  actor: Actor,
  baseId: string,
): Promise<TrashedField[]> {
  await context.bases.require(baseId)
  await context.access.authorize(actor, 'field.create', baseId)
  const { fields, tables } = context.store
  const rows = await context.kernel.meta.db
    .select({ field: fields })
    .from(fields)
    .innerJoin(tables, eq(tables.id, fields.tableId))
    .where(
      and(
        eq(tables.baseId, baseId),
        eq(tables.isJunction, false),
        isNull(tables.deletedAt),
        isNotNull(fields.deletedAt),
      ),
    )
    .orderBy(desc(fields.deletedAt), asc(fields.id))
  const trashed = await context.store.tablesOf(baseId, { trash: true })
  const tableDeletedAt = new Map(trashed.map(({ id, deletedAt }) => [id, deletedAt]))
  return rows.flatMap(({ field: row }) => {
    const { deletedAt, deletedBy } = row
    const field = toField(row)
    if (deletedAt === null || !isRestorable(field)) return []
    const isWithTable = tableDeletedAt.get(linkOf(field)?.relatedTableId ?? '') === deletedAt
    return isWithTable ? [] : [{ ...field, deletedAt, deletedBy }]
  })
}

// Foreign keys and hidden reverse fields are restored with their link.
export const isRestorable = (field: Field): boolean => !isForeignKey(field) && !field.isSystem

/** The fields of a table in the trash, latest first. */
export async function trashedFields(context: SchemaContext, actor: Actor, tableId: string): Promise<Field[]> {
  await openTable(context, actor, 'field.create', tableId)
  const { fields } = context.store
  const rows = await context.kernel.meta.db
    .select()
    .from(fields)
    .where(and(eq(fields.tableId, tableId), isNotNull(fields.deletedAt)))
    .orderBy(asc(fields.deletedAt))
  return rows.toReversed().map(toField).filter(isRestorable)
}
