import { type SQL, sql } from 'drizzle-orm'
import { badRequest } from '../../../src/core/errors.ts'
import { storageOf } from '../../../src/core/fields/field.ts'
import type { CellValue, FieldOptions } from '../../../src/core/fields/field-type.ts'
import { readFormulaLink } from '../../../src/core/fields/formula.ts'
import { type FieldTypeName, fieldType } from '../../../src/core/fields/index.ts'
import type { Field } from '../../../src/core/model.ts'
import { columnNameOf, type ValueSource } from '../../../src/db/column-values.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import { m } from '../../../src/messages.gen.ts'
import { type FrozenAt, foreignSourceOf, type SchemaContext } from '../change/index.ts'
import { createReachable, readGraph, resolveAll } from '../computed/index.ts'
import type { FieldDefinition, TableModel } from '../model/index.ts'

/** The source of a conversion: the type of the values and the expression that reads them. */
export interface ReadableValues {
  type: FieldTypeName
  options: FieldOptions
  /** The zone of instants whose field has none of its own. */
  timeZone: string
  source: ValueSource
}

/** True for a computed field whose current values can be stored in a column. */
export const canFreeze = (type: FieldTypeName): boolean => fieldType(type).computed === 'formula'

/**
 * Where to read a field's values under a current, former or new definition: its column, or the formula's results.
 *
 * @param at when a formula is computed, and the zone of the values
 * @throws BAD_REQUEST for a broken formula, or one in a connected database
 */
export async function readableValues(
  context: SchemaContext,
  model: TableModel,
  dialect: Engine['dialect'],
  field: Field,
  definition: FieldDefinition,
  at: FrozenAt,
): Promise<ReadableValues> {
  const { type, options } = definition
  const { timeZone = 'UTC' } = at
  if (!canFreeze(type)) {
    const column = sql`${sql.identifier(columnNameOf(definition))}`
    return { type, options, timeZone, source: { column, decode: dialect.decode(fieldType(type).storage) } }
  }
  if (await foreignSourceOf(context, model.table)) {
    throw badRequest(m.schema_error_freeze_connected({ field: field.title }))
  }
  const computed = { ...field, ...definition, ...(await resolve(context, model, field, definition)) }
  if (!computed.result)
    throw badRequest(m.schema_error_freeze_broken({ field: field.title, reason: String(computed.error) }))
  const decode = dialect.decode(storageOf(computed))
  return {
    type: computed.result.type,
    options: computed.result.options,
    timeZone,
    source: {
      column: await expressionOf(context, model, dialect, computed, at),
      decode: (value) => plainUrl(decode ? decode(value) : (value as CellValue)),
    },
  }
}

/** Reduces a formula's encoded link to its URL. */
const plainUrl = (value: CellValue): CellValue =>
  typeof value === 'string' ? (readFormulaLink(value) ?? value) : value

/** The formula's result type under that definition. */
async function resolve(
  { kernel, store }: SchemaContext,
  { table }: TableModel,
  field: Field,
  definition: FieldDefinition,
) {
  const altered = { ...field, ...definition, deletedAt: null }
  const graph = await readGraph(kernel, store, table.baseId, { fields: [altered] })
  return resolveAll(graph, new Set()).get(field.id) ?? { result: null, error: null }
}

async function expressionOf(
  { store, expressions }: SchemaContext,
  model: TableModel,
  dialect: Engine['dialect'],
  computed: Field,
  at: FrozenAt,
): Promise<SQL> {
  // The stored field may have another type by now, so the given definition replaces it.
  const fields = model.fields.map((field) => (field.id === computed.id ? computed : field))
  const drafted: TableModel = {
    ...model,
    fields,
    field: (id) => (id === computed.id ? computed : model.field(id)),
  }
  const models = new Map(await createReachable(store)(model.table.id)).set(model.table.id, drafted)
  return expressions.cell(computed, { model: drafted, models, dialect }, at)
}
