import { sql } from 'drizzle-orm'
import { nowIso } from '../../../src/clock.ts'
import type { Actor } from '../../../src/core/actor.ts'
import { titlesIn } from '../../../src/core/fields/choice-titles.ts'
import type { Conversion } from '../../../src/core/fields/convert.ts'
import type { CellValue, FieldOptions } from '../../../src/core/fields/field-type.ts'
import { type FieldTypeName, fieldType } from '../../../src/core/fields/index.ts'
import { PASSWORD_MASK } from '../../../src/core/fields/password.ts'
import { hasMultipleChoices, isSecret } from '../../../src/core/fields/traits.ts'
import { randomText } from '../../../src/core/ids.ts'
import type { RecordId } from '../../../src/core/model.ts'
import { type ColumnValue, columnNameOf, PAGE, pagesOf } from '../../../src/db/column-values.ts'
import type { Statement } from '../../../src/dialects/dialect.ts'
import {
  expectRecords,
  type FrozenAt,
  openField,
  refuseForeignPatch,
  type SchemaContext,
} from '../change/index.ts'
import {
  choiceRewriter,
  columnOf,
  definitionOf,
  type FieldDefinition,
  patchDefinition,
  physicalName,
} from '../model/index.ts'
import {
  type ConversionPreview,
  createPreview,
  type FieldChangeContext,
  type FieldDecision,
  membersOf,
  prepareConversion,
  refuseConversion,
} from './conversion.ts'
import { becomesLink, previewLink } from './convert-to-link.ts'
import { canFreeze, readableValues } from './frozen-values.ts'

/**
 * Adds a column of the new type with the converted values. It becomes visible with the metadata; the old column stays
 * for undo.
 */
export async function convertColumn(
  { tx, engine, model, field, people, values }: FieldChangeContext,
  before: FieldDefinition,
  after: FieldDefinition,
): Promise<FieldDecision> {
  const { dialect } = engine
  const read = await values(before)
  await expectRecords(tx, dialect, model)
  // A random suffix, because the names of replaced columns are not in the metadata.
  const columnName = `${physicalName(after.title, new Set(), 'field').slice(0, 50)}_${randomText(6)}`
  const target = { ...after, columnName }
  for (const column of columnOf(target)) {
    for (const statement of dialect.addColumn(model.table.tableName, column)) await tx.run(statement)
  }
  const [table, to, key] = [model.table.tableName, columnName, columnNameOf(model.primaryKey)].map(
    dialect.quote,
  )
  const pages = () =>
    pagesOf(engine, model, field, (statement) => tx.all<ColumnValue>(statement), read.source)
  const conversion = await prepareConversion(read, target, pages, people)
  let count = 0
  for await (const page of pages()) {
    const written = page
      .map(({ id, value }) => [conversion.convert(value).value, id])
      .filter(([value]) => value !== null)
    const [value, id] = [dialect.placeholder(0), dialect.placeholder(1)]
    await tx.runMany(`update ${table} set ${to} = ${value} where ${key} = ${id}`, written)
    count += page.length
  }
  return { definition: { ...target, options: conversion.options }, cells: { count, write: async () => {} } }
}

/**
 * Counts the values that a change of type or options would keep and lose. Long columns are read in a worker.
 *
 * @param timeZone in which days and times are converted, and formulas computed; by default UTC
 * @throws FIELD_NOT_FOUND; BAD_REQUEST for invalid options; NOT_IMPLEMENTED for types without values
 */
export async function previewType(
  context: SchemaContext,
  actor: Actor,
  fieldId: string,
  type: FieldTypeName,
  options: FieldOptions | undefined,
  timeZone?: string,
): Promise<ConversionPreview> {
  const { model, field } = await openField(context, actor, 'field.update', fieldId)
  if (field.databaseType !== null) {
    await refuseForeignPatch(context, field, { type, ...(options && { options }) })
    // The column of a connected database is only shown differently.
    return createPreview().result()
  }
  if (becomesLink(field, type))
    return previewLink(context, field, { type, ...(options && { options }) }, timeZone)
  const before = definitionOf(field)
  const patch = { type, unique: false, required: false, ...(options && { options }) }
  const after = patchDefinition(before, patch)
  if (type !== before.type) refuseConversion(before, after)
  const engine = await context.kernel.sources.engine(model.table.baseId)
  const preview = createPreview()
  // Computed fields have no values to lose, except formulas that become stored fields.
  const isConverted = type !== before.type && canFreeze(before.type)
  if (fieldType(before.type).computed && !isConverted) return preview.result()
  const at = { now: nowIso(), timeZone }
  const read = await readableValues(context, model, engine.dialect, field, before, at)
  const readPage = (statement: Statement) => engine.all<ColumnValue>(statement, { scan: true })
  const pages = () => pagesOf(engine, model, field, readPage, read.source)
  const convertOne =
    type === before.type
      ? rewriting(before, after)
      : (await prepareConversion(read, after, pages, () => membersOf(context.access, model.table.baseId)))
          .convert
  for await (const page of pages()) {
    for (const { id, value } of page) {
      const { value: to, lost } = convertOne(value)
      preview.add({ recordId: id, from: isSecret(before) ? PASSWORD_MASK : value, to }, lost)
    }
  }
  return preview.result()
}

/**
 * True if the new column still holds the converted values of the old one, so neither has been edited since and switching
 * between them loses nothing.
 *
 * @param frozenAt when and in which zone they were converted
 */
export async function hasConvertedValues(
  { tx, engine, model, people, values: readValues }: FieldChangeContext,
  before: FieldDefinition,
  after: FieldDefinition,
  frozenAt?: FrozenAt,
): Promise<boolean> {
  const { dialect } = engine
  const noPages = async function* () {}
  const read = await readValues(before, frozenAt)
  const conversion = await prepareConversion(read, after, noPages, people)
  const values = read.source.column
  const other = sql.identifier(after.columnName)
  const table = sql.identifier(model.table.tableName)
  const key = sql.identifier(columnNameOf(model.primaryKey))
  const asStored = (value: unknown) => value as CellValue
  const decodeFrom = read.source.decode ?? asStored
  const decodeTo = dialect.decode(fieldType(after.type).storage) ?? asStored
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
      if (conversion.convert(decodeFrom(row.value)).value !== decodeTo(row.other)) return false
    }
    if (rows.length < PAGE) return true
    last = rows.at(-1)?.id ?? null
    await Bun.sleep(0)
  }
}

/** The effect of changed options of a select field on a value. */
function rewriting(before: FieldDefinition, after: FieldDefinition): (value: CellValue) => Conversion {
  const rewrite = choiceRewriter(before, after)
  return (value) => {
    const rewritten = rewrite ? rewrite(value) : value
    const isShorter = hasMultipleChoices(before) && countTitles(rewritten) < countTitles(value)
    return { value: rewritten, lost: (rewritten === null && value !== null) || isShorter }
  }
}

const countTitles = (value: CellValue): number => (value === null ? 0 : titlesIn(String(value)).length)
