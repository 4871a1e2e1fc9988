import { eq } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import { badRequest, notFound } from '../../src/core/errors.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { OWN_COLUMN } from '../../src/core/fields/result.ts'
import { createId } from '../../src/core/ids.ts'
import type { Field } from '../../src/core/model.ts'
import { type FieldPlace, openTable, type SchemaContext } from './context.ts'
import { columnOf, MAX_FIELDS, type NewField, withFreshName } from './create-table.ts'
import { checkFieldInput } from './definition.ts'
import type { TableModel } from './model.ts'
import { duplicateField, isTitleTaken, physicalName, uniqueTitle } from './names.ts'

/**
 * Adds a field. Records that are there stay empty in it, whatever its default: that is for new ones.
 * Without a title it is called after its type; it goes to the end of every view, or where `place` says.
 *
 * @throws TABLE_NOT_FOUND; DUPLICATE_ALIAS for a title in use; BAD_REQUEST for what does not fit
 */
export async function createField(
  context: SchemaContext,
  actor: Actor,
  tableId: string,
  input: NewField,
  place: FieldPlace = {},
): Promise<Field> {
  const { store, apply, kernel } = context
  const { table } = await openTable(context, actor, 'field.create', tableId)
  const definition = checkFieldInput(input)

  return withFreshName((suffix) =>
    apply(actor, table.baseId, async ({ tx, engine, now }) => {
      const model = await store.load(tableId)
      requireRoom(model)
      if (input.title !== undefined && isTitleTaken(definition.title, model.fields)) {
        throw duplicateField(definition.title, tableId, table.baseId)
      }
      const stored = await store.listFields(tableId)
      const taken = new Set(stored.map((field) => field.columnName.toLowerCase()))
      const hasColumn = fieldType(definition.type).systemColumn === undefined
      const field: Field = {
        ...{ id: createId('field'), tableId },
        ...definition,
        title: uniqueTitle(definition.title, model.fields),
        columnName: hasColumn
          ? physicalName((input.columnName || definition.title) + suffix, taken, 'field')
          : '',
        order: Math.max(0, ...stored.map((other) => other.order)) + 1,
        ...{ isDisplay: false, isPrimaryKey: false, isSystem: false },
        ...OWN_COLUMN,
      }
      const { dialect } = engine
      for (const statement of [
        ...columnOf(field).flatMap((column) => dialect.addColumn(table.tableName, column)),
        ...(field.unique ? dialect.createUniqueIndex(table.tableName, field.columnName) : []),
      ]) {
        await tx.run(statement)
      }
      return {
        statements: [
          kernel.meta.db.insert(store.fields).values({
            ...field,
            wireMeta: input.wireMeta ?? null,
            createdAt: now,
            updatedAt: now,
            deletedAt: null,
          }),
          ...((await context.views?.forNewField(model, field, place)) ?? []),
        ],
        entry: { kind: 'field.create', tableId, detail: { fieldId: field.id } },
        tableIds: [tableId],
        result: field,
      }
    }),
  )
}

/** @throws BAD_REQUEST where the table has as many fields as it may */
export function requireRoom(model: TableModel): void {
  const own = model.fields.filter((field) => !field.isSystem && !field.isPrimaryKey)
  if (own.length >= MAX_FIELDS) throw badRequest(`A table can have ${MAX_FIELDS} fields at most`)
}

/**
 * Makes another field the one that names the table's records.
 *
 * @throws FIELD_NOT_FOUND; BAD_REQUEST for a system field
 */
export async function setDisplayField(
  context: SchemaContext,
  actor: Actor,
  fieldId: string,
  options?: { silent?: boolean },
): Promise<void> {
  const { store, apply, kernel } = context
  const found = await store.findField(fieldId)
  if (!found || found.deletedAt !== null) throw notFound('Field', fieldId.slice(0, 64))
  const { table } = await openTable(context, actor, 'field.update', found.tableId)
  if (found.isSystem)
    throw badRequest(`Field "${found.title}" is kept by the product and cannot name records`)
  const { fields } = store
  await apply(
    actor,
    table.baseId,
    async ({ now }) => {
      const model = await store.load(table.id)
      if (!model.field(fieldId)) throw notFound('Field', fieldId.slice(0, 64))
      const { db } = kernel.meta
      const mark = (isDisplay: boolean) => ({ isDisplay, updatedAt: now })
      return {
        statements: [
          db.update(fields).set(mark(false)).where(eq(fields.tableId, table.id)),
          db.update(fields).set(mark(true)).where(eq(fields.id, fieldId)),
        ],
        entry: {
          kind: 'field.display',
          tableId: table.id,
          detail: { before: model.displayField.id, after: fieldId },
        },
        tableIds: [table.id],
        result: undefined,
      }
    },
    options,
  )
}
