import { sql } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import { titlesIn } from '../../src/core/fields/choices.ts'
import { type Conversion, convert } from '../../src/core/fields/convert.ts'
import type { CellValue, FieldOptions } from '../../src/core/fields/field-type.ts'
import { type FieldTypeName, fieldType } from '../../src/core/fields/index.ts'
import { randomText } from '../../src/core/ids.ts'
import type { RecordId } from '../../src/core/model.ts'
import { choiceRewriter, withKeptIds } from './choices.ts'
import { type ColumnValue, columnNameOf, PAGE, pagesOf } from './column-values.ts'
import { openField, type SchemaContext } from './context.ts'
import { prepareConversion } from './conversion.ts'
import { columnOf } from './create-table.ts'
import { definitionOf, type FieldDefinition, patchDefinition } from './definition.ts'
import { physicalName } from './names.ts'
import { type FieldAtItsTurn, type FieldDecision, refuseConversion } from './update-field.ts'

const MAX_SAMPLES = 20

/** What a change of type would do to a field's values. */
export interface ConversionPreview {
  /** Records that are not empty in the field. */
  total: number
  /** Those that keep a value. */
  converted: number
  /** Those that would become empty. */
  lost: number
  /** Some of them, those that would be lost first. */
  samples: { recordId: RecordId; from: CellValue; to: CellValue }[]
}

/**
 * A column of the new type beside the old one, with the values converted, in the transaction of the
 * change. Nobody sees it until the metadata names it; the old column keeps its values for undo.
 */
export async function convertColumn(
  { tx, engine, model, field }: FieldAtItsTurn,
  before: FieldDefinition,
  after: FieldDefinition,
): Promise<FieldDecision> {
  const { dialect } = engine
  // A fresh name each time: names of columns that were left behind are known to nobody.
  const columnName = `${physicalName(after.title, new Set(), 'field').slice(0, 50)}_${randomText(6)}`
  const target = { ...after, columnName }
  for (const column of columnOf(target)) {
    for (const statement of dialect.addColumn(model.table.tableName, column)) await tx.run(statement)
  }
  const [table, to, key] = [model.table.tableName, columnName, columnNameOf(model.primaryKey)].map(
    dialect.quote,
  )
  const conversion = await prepareConversion(before, target, () =>
    pagesOf(engine, model, field, (statement) => tx.all<ColumnValue>(statement)),
  )
  let count = 0
  for await (const page of pagesOf(engine, model, field, (statement) => tx.all<ColumnValue>(statement))) {
    const written = page
      .map(({ id, value }) => [conversion.convert(value).value, id])
      .filter(([value]) => value !== null)
    await tx.runMany(`update ${table} set ${to} = ? where ${key} = ?`, written)
    count += page.length
  }
  return { definition: { ...target, options: conversion.options }, cells: { count, write: async () => {} } }
}

/**
 * Counts what a change of type or options would keep and lose, without writing anything. A long
 * column is read off the main thread.
 *
 * @throws FIELD_NOT_FOUND; BAD_REQUEST for options that do not fit; NOT_IMPLEMENTED for types without values
 */
export async function previewType(
  context: SchemaContext,
  actor: Actor,
  fieldId: string,
  type: FieldTypeName,
  options: FieldOptions | undefined,
): Promise<ConversionPreview> {
  const { model, field } = await openField(context, actor, 'field.update', fieldId)
  const before = definitionOf(field)
  const patch = { type, unique: false, required: false, ...(options && { options }) }
  const after = withKeptIds(before, patchDefinition(before, patch))
  if (type !== before.type) refuseConversion(before, after)
  const engine = context.kernel.sources.engine(model.table.baseId)
  const pages = () =>
    pagesOf(engine, model, field, (statement) => engine.all<ColumnValue>(statement, { scan: true }))
  const convertOne =
    type === before.type ? rewriting(before, after) : (await prepareConversion(before, after, pages)).convert
  const preview: ConversionPreview = { total: 0, converted: 0, lost: 0, samples: [] }
  const kept: ConversionPreview['samples'] = []
  for await (const page of pages()) {
    for (const { id, value } of page) {
      const { value: to, lost } = convertOne(value)
      const sample = { recordId: id, from: value, to }
      preview.total++
      if (lost) preview.lost++
      else preview.converted++
      const list = lost ? preview.samples : kept
      if (list.length < MAX_SAMPLES) list.push(sample)
    }
  }
  preview.samples.push(...kept.slice(0, MAX_SAMPLES - preview.samples.length))
  return preview
}

/**
 * True where the column of the new type still holds what the old one converts to: then nobody has
 * written either since, and switching between the two loses nothing.
 */
export async function isAsConverted(
  { tx, engine, model }: FieldAtItsTurn,
  before: FieldDefinition,
  after: FieldDefinition,
): Promise<boolean> {
  const { dialect } = engine
  const values = sql.identifier(before.columnName)
  const other = sql.identifier(after.columnName)
  const table = sql.identifier(model.table.tableName)
  const key = sql.identifier(columnNameOf(model.primaryKey))
  const decoders = [before, after].map(({ type }) => dialect.decode(fieldType(type).storage) ?? same)
  let last: RecordId | null = null
  for (;;) {
    const rows: { id: RecordId; value: CellValue; other: CellValue }[] = await tx.all(
      dialect.render(
        sql`select ${key} as ${sql.identifier('id')}, ${values} as ${sql.identifier('value')},
            ${other} as ${sql.identifier('other')} from ${table}
          where (${values} is not null or ${other} is not null)${last === null ? sql`` : sql` and ${key} > ${last}`}
          order by ${key} limit ${PAGE}`,
      ),
    )
    for (const row of rows) {
      const [from, to] = [decoders[0]!(row.value), decoders[1]!(row.other)]
      if (convert(from, before.type, before.options, after.type, after.options).value !== to) return false
    }
    if (rows.length < PAGE) return true
    last = rows.at(-1)?.id ?? null
    await Bun.sleep(0)
  }
}

const same = (value: unknown): CellValue => value as CellValue

/** What new options of the same select field do to its values. */
function rewriting(before: FieldDefinition, after: FieldDefinition): (value: CellValue) => Conversion {
  const rewrite = choiceRewriter(before, after)
  return (value) => {
    const rewritten = rewrite ? rewrite(value) : value
    const isShorter = before.type === 'MultiSelect' && countTitles(rewritten) < countTitles(value)
    return { value: rewritten, lost: (rewritten === null && value !== null) || isShorter }
  }
}

const countTitles = (value: CellValue): number => (value === null ? 0 : titlesIn(String(value)).length)
