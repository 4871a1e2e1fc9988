import { eq } from 'drizzle-orm'
import type { Actor } from '../../../src/core/actor.ts'
import { badRequest, notFound } from '../../../src/core/errors.ts'
import { OWN_COLUMN } from '../../../src/core/fields/field.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { numbersRecords } from '../../../src/core/fields/traits.ts'
import { createId } from '../../../src/core/ids.ts'
import type { Field } from '../../../src/core/model.ts'
import { m } from '../../../src/messages.gen.ts'
import {
  type ChangeOptions,
  createForeignField,
  expectRecords,
  type FieldPosition,
  foreignSourceOf,
  openTable,
  type SchemaContext,
  withFreshName,
} from '../change/index.ts'
import { refuseUnknownFunction } from '../computed/index.ts'
import { createLink, linkFieldsOf } from '../links/index.ts'
import {
  checkFieldInput,
  columnOf,
  duplicateField,
  getField,
  isTitleTaken,
  type NewField,
  physicalName,
  requireRoom,
  type TableModel,
  uniqueTitle,
} from '../model/index.ts'
import { canNumber, numberRecords } from './auto-numbers.ts'
import { storableFormula } from './formula-input.ts'

/**
 * Creates a field. Existing records stay empty: the default value applies to new ones. The default title is the name of
 * the type; the field goes to the end of every view, except for the position given in `position`.
 *
 * @throws TABLE_NOT_FOUND; DUPLICATE_ALIAS for a title in use; BAD_REQUEST for an invalid definition
 */
export async function createField(
  context: SchemaContext,
  actor: Actor,
  tableId: string,
  input: NewField,
  position: FieldPosition = {},
): Promise<Field> {
  const { store, apply, kernel } = context
  const computed = fieldType(input.type).computed
  if (computed === 'link') return createLink(context, actor, tableId, input, position)
  const opened = await openTable(context, actor, 'field.create', tableId)
  const { table } = opened
  await refuseUnknownFunction(store, input)
  const given = { type: input.type, options: input.options, field: null }
  const definition = checkFieldInput({ ...input, options: await storableFormula(context, opened, given) })
  const source = computed ? null : await foreignSourceOf(context, table)
  if (source) {
    const model = await store.load(tableId)
    return createForeignField(context, actor, { model, source }, { input, definition, position })
  }

  const created = await withFreshName((suffix) =>
    apply(
      actor,
      table.baseId,
      async ({ tx, engine, now }) => {
        const model = await store.load(tableId)
        requireRoom(model)
        if (input.title !== undefined && isTitleTaken(definition.title, model.fields)) {
          throw duplicateField(definition.title, tableId, table.baseId)
        }
        const stored = await store.listFields(tableId)
        const taken = new Set(stored.map((field) => field.columnName.toLowerCase()))
        const hasColumn = fieldType(definition.type).systemColumn === undefined && computed === undefined
        const field: Field = {
          id: createId('field'),
          tableId,
          ...definition,
          title: uniqueTitle(definition.title, model.fields),
          columnName: hasColumn
            ? physicalName((input.columnName || definition.title) + suffix, taken, 'field')
            : '',
          order: Math.max(0, ...stored.map((other) => other.order)) + 1,
          isDisplay: false,
          isPrimaryKey: false,
          isSystem: false,
          ...OWN_COLUMN,
        }
        const { dialect } = engine
        for (const statement of [
          ...columnOf(field).flatMap((column) => dialect.addColumn(table.tableName, column)),
          ...(field.unique ? dialect.createUniqueIndex(table.tableName, [field.columnName]) : []),
        ]) {
          await tx.run(statement)
        }
        if (numbersRecords(field)) {
          if (!canNumber(model)) throw badRequest(m.schema_error_auto_numbers())
          await expectRecords(tx, dialect, model)
          field.options = await numberRecords(tx, dialect, model, field.columnName)
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
            ...(await context.views.forNewField(model, field, position, actor)),
          ],
          entry: { kind: 'field.create', tableId, detail: { fieldId: field.id } },
          ...(computed && { altered: { fields: [{ ...field, deletedAt: null }], checked: [field.id] } }),
          tableIds: [tableId],
          result: field,
        }
      },
      { work: { kind: 'fill', table, fieldTitle: definition.title } },
    ),
  )
  return computed ? ((await store.load(tableId)).field(created.id) ?? created) : created
}

/**
 * Sets the display field of a table.
 *
 * @throws FIELD_NOT_FOUND; BAD_REQUEST for a system field, a link, a button, a code, or a field with several values
 */
export async function setDisplayField(
  context: SchemaContext,
  actor: Actor,
  fieldId: string,
  options?: ChangeOptions,
): Promise<void> {
  const { store, apply, kernel } = context
  const found = await store.findField(fieldId)
  if (!found || found.deletedAt !== null) throw notFound('Field', fieldId.slice(0, 64))
  const { table } = await openTable(context, actor, 'field.update', found.tableId)
  if (found.isSystem) throw badRequest(m.schema_error_system_display_field({ field: found.title }))
  const { fields } = store
  await apply(
    actor,
    table.baseId,
    async ({ now }) => {
      const model = await store.load(table.id)
      if (!model.field(fieldId)) throw notFound('Field', fieldId.slice(0, 64))
      refuseAsDisplay(model, fieldId)
      const { db } = kernel.meta
      // Links to this table show its records by the display field.
      const linked = (await linkFieldsOf(kernel, store, table.baseId))
        .filter((field) => linkOf(field)?.relatedTableId === table.id)
        .map((field) => field.tableId)
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
        altered: {
          fields: model.fields
            .filter((field) => field.isDisplay || field.id === fieldId)
            .map((field) => ({ ...field, isDisplay: field.id === fieldId, deletedAt: null })),
          checked: [fieldId],
        },
        touchesRecords: linked.length > 0,
        tableIds: [...new Set([table.id, ...linked])],
        result: undefined,
      }
    },
    options,
  )
}

/** @throws BAD_REQUEST for a field that cannot name records */
function refuseAsDisplay(model: TableModel, fieldId: string): void {
  const field = getField(model, fieldId)
  const { computed, internal, label } = fieldType(field.type)
  if (computed === 'link' || computed === 'button' || computed === 'code' || internal)
    throw badRequest(m.schema_error_display_type({ type: label() }))
  if (field.result?.isList) {
    throw badRequest(m.schema_error_display_values({ field: field.title }))
  }
}
