import type { Actor } from '../../../src/core/actor.ts'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import { OWN_COLUMN } from '../../../src/core/fields/field.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { createId } from '../../../src/core/ids.ts'
import type { Field, Table } from '../../../src/core/model.ts'
import { m } from '../../../src/messages.gen.ts'
import type { SourceRow } from '../../bases/index.ts'
import {
  columnOf,
  duplicateField,
  type FieldDefinition,
  type FieldPatch,
  isTitleTaken,
  type NewField,
  physicalName,
  type TableModel,
  uniqueTitle,
} from '../model/index.ts'
import type { FieldPosition, SchemaContext } from './context.ts'

/** True if a column can be shown as either type without converting its values. */
export function areAlike(one: string, other: string): boolean {
  const { family } = fieldType(one)
  return one === other || (family !== undefined && family === fieldType(other).family)
}

/** The source of a table in a connected database; null for a table in the base's own database. */
export async function foreignSourceOf(
  { bases }: Pick<SchemaContext, 'bases'>,
  table: Pick<Table, 'sourceId'>,
): Promise<SourceRow | null> {
  const source = await bases.sources.find(table.sourceId)
  return source === null || source.isOwn ? null : source
}

/**
 * Why the records of a table are read-only, as a message; null if they are not.
 */
export function writeRefusal(
  { table, keyFields }: Pick<TableModel, 'table' | 'keyFields'>,
  source: SourceRow | null,
): string | null {
  if (source?.isDataReadonly) return 'This data source doesn’t allow editing records'
  if (table.kind === 'view') return 'This is a database view and is read-only'
  if (keyFields.length === 0) return 'This table has no primary key and is read-only'
  if (keyFields.some(({ databaseType }) => BYTES.test(databaseType ?? '')))
    return 'This table has a binary primary key and is read-only'
  const [key] = keyFields
  if (keyFields.length === 1 && INEXACT[source?.client ?? '']?.test(key?.databaseType ?? ''))
    return `This table’s primary key has type ${key?.databaseType}, which can’t be matched exactly, so the table is read-only`
  return null
}

/** Key types that do not compare exactly with the text of a record's id. */
const INEXACT: Record<string, RegExp> = {
  mysql2: /^(float|double|datetime|timestamp|tinyint\(1\))/i,
  pg: /^(boolean|real|double precision)/i,
}

/** Binary types. */
const BYTES = /^((var)?binary|(tiny|medium|long)?blob|bytea|bit)\b/i

/** @throws BAD_REQUEST if the table's source does not allow schema changes */
export async function refuseSchemaReadonly(
  context: Pick<SchemaContext, 'bases'>,
  table: Table,
): Promise<void> {
  const source = await foreignSourceOf(context, table)
  if (source?.isSchemaReadonly) throw badRequest(m.schema_error_source_read_only({ source: nameOf(source) }))
}

const nameOf = ({ alias, client }: SourceRow): string => alias ?? client

/**
 * Refuses an update that would alter the column of a connected database: its type, constraints or values. Its title and
 * presentation can change.
 *
 * @throws BAD_REQUEST naming the setting that cannot change
 */
export async function refuseForeignPatch(
  context: Pick<SchemaContext, 'bases' | 'store'>,
  field: Field,
  patch: FieldPatch,
): Promise<void> {
  if (field.databaseType === null) return
  const { title, databaseType } = field
  const { type = field.type, required, unique, defaultValue, options } = patch
  if (type !== field.type) {
    const { table } = await context.store.load(field.tableId)
    await refuseSchemaReadonly(context, table)
  }
  if (!areAlike(field.type, type))
    throw badRequest(
      m.schema_error_column_type({ field: title, databaseType, type: fieldType(type).label() }),
    )
  const alters =
    (required !== undefined && required !== field.required) ||
    (unique !== undefined && unique !== field.unique) ||
    (defaultValue !== undefined && defaultValue !== field.defaultValue)
  if (alters) throw badRequest(m.schema_error_connected_constraints({ field: title }))
  if (options && titlesOf(options) !== null && titlesOf(options) !== titlesOf(field.options))
    throw badRequest(m.schema_error_connected_options({ field: title }))
}

const titlesOf = ({ choices }: Field['options']): string | null =>
  Array.isArray(choices) ? JSON.stringify(choices.map(({ title }) => title).sort()) : null

/** The definition with unchanged cells. */
export const withoutRewrite = (definition: FieldDefinition) => ({
  definition,
  cells: { count: 0, write: async () => {} },
})

/**
 * Adds a column to a table of a connected database, and its field.
 *
 * @throws BAD_REQUEST if the source or the type does not allow it; DUPLICATE_ALIAS for a title in use
 */
export async function createForeignField(
  context: SchemaContext,
  actor: Actor,
  { model, source }: { model: TableModel; source: SourceRow },
  { input, definition, position }: { input: NewField; definition: FieldDefinition; position: FieldPosition },
): Promise<Field> {
  const { store, apply, kernel } = context
  const { table } = model
  await refuseSchemaReadonly(context, table)
  const type = fieldType(definition.type)
  if (table.kind === 'view') throw badRequest(m.schema_error_database_view_columns())
  if (type.systemColumn || type.numbersRecords)
    throw badRequest(m.schema_error_own_tables_only({ type: type.label() }))
  if (definition.required || definition.unique) throw badRequest(m.schema_error_connected_column())
  if (input.title !== undefined && isTitleTaken(definition.title, model.fields))
    throw duplicateField(definition.title, table.id, table.baseId)

  const engine = await kernel.sources.of(source)
  const { dialect } = engine
  const present = await engine.all<{ name: string }>(dialect.listColumns(table.tableName))
  const taken = new Set(present.map(({ name }) => name.toLowerCase()))
  const columnName = physicalName(input.columnName || definition.title, taken, 'field')
  const columns = columnOf({ columnName, type: definition.type })
  await engine.write(async (tx) => {
    for (const column of columns) {
      for (const statement of dialect.addColumn(table.tableName, column)) await tx.run(statement)
    }
  })
  const column = (
    await engine.all<{ name: string; type: string }>(dialect.listColumns(table.tableName))
  ).find(({ name }) => name === columnName)
  if (!column) throw new AppError('DATABASE_ERROR', m.schema_error_column_not_created({ column: columnName }))
  return apply(actor, table.baseId, async ({ now }) => {
    const current = await store.load(table.id)
    const stored = await store.listFields(table.id)
    const field: Field = {
      id: createId('field'),
      tableId: table.id,
      ...definition,
      title: uniqueTitle(definition.title, current.fields),
      columnName,
      order: Math.max(0, ...stored.map((other) => other.order)) + 1,
      isDisplay: false,
      isPrimaryKey: false,
      isSystem: false,
      ...OWN_COLUMN,
      databaseType: column.type,
    }
    const times = { createdAt: now, updatedAt: now, deletedAt: null }
    return {
      statements: [
        kernel.meta.db.insert(store.fields).values({ ...field, ...times, wireMeta: input.wireMeta ?? null }),
        ...(await context.views.forNewField(current, field, position, actor)),
      ],
      entry: { kind: 'field.create', tableId: table.id, detail: { fieldId: field.id } },
      tableIds: [table.id],
      result: field,
    }
  })
}

/** The error for a new table in a connected database. */
export const foreignTable = (): AppError => badRequest(m.schema_error_connected_table())
