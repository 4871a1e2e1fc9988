import { eq } from 'drizzle-orm'
import type { Actor } from '../../../src/core/actor.ts'
import { AppError } from '../../../src/core/errors.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { isForeignKey, numbersRecords } from '../../../src/core/fields/traits.ts'
import type { Field } from '../../../src/core/model.ts'
import { logRecords } from '../../../src/db/change-log.ts'
import {
  type ColumnValue,
  columnNameOf,
  duplicatesStatement,
  pagesOf,
} from '../../../src/db/column-values.ts'
import { currentWork } from '../../../src/works.ts'
import {
  asItIs,
  type CellsWrite,
  type ChangeContext,
  type ChangeOptions,
  openField,
  refuseForeignPatch,
  type SchemaContext,
} from '../change/index.ts'
import { refuseUnknownFunction } from '../computed/index.ts'
import { refuseKeyRules, requireViewOf } from '../links/index.ts'
import {
  areLinks,
  choiceRewriter,
  definitionOf,
  duplicateField,
  type FieldDefinition,
  type FieldPatch,
  getField,
  isTitleTaken,
  patchDefinition,
  refuseSystemField,
  renamedChoices,
  type TableModel,
  withKeptIds,
} from '../model/index.ts'
import { fillNumbers } from './auto-numbers.ts'
import { refuseConversion } from './conversion.ts'
import { convertColumn } from './convert-column.ts'
import { becomesLink, convertToLink, type FieldAtItsTurn, type FieldDecision } from './convert-to-link.ts'
import { storableFormula } from './formula-input.ts'
import { readableValues } from './frozen-values.ts'
import { membersOf } from './members.ts'

/**
 * Changes a field: only what the patch names. A renamed option renames its values, a removed one
 * empties its cells. Another type converts the values into a column of their own; the old one stays
 * for undo. A field may become required while records are empty in it: the rule is for what is
 * written from then on.
 *
 * @throws FIELD_NOT_FOUND; DUPLICATE_ALIAS; BAD_REQUEST for what does not fit; CONFLICT naming the
 *   values that stand twice where the field is to be unique
 */
export async function updateField(
  context: SchemaContext,
  actor: Actor,
  fieldId: string,
  { wireMeta, ...given }: FieldPatch,
): Promise<Field> {
  const { field, model } = await openField(context, actor, 'field.update', fieldId)
  const { type = field.type } = given
  const options = await storableFormula(context, model, { type, options: given.options, field })
  const patch = { ...given, ...(options && { options }) }
  await refuseForeignPatch(context, field, patch)
  if (becomesLink(field, patch.type)) return convertToLink(context, actor, field, { ...patch, wireMeta })
  refuseKeyRules(model, field, patch)
  await checkPatch(context, field, patch)
  return writeField(
    context,
    actor,
    field,
    (current) => {
      const definition = withKeptIds(current, patchDefinition(current, patch))
      return field.databaseType === null ? definition : asItIs(definition)
    },
    { checked: true, ...(wireMeta !== undefined && { wireMeta }) },
  )
}

/** @throws BAD_REQUEST for what of a computed field's options can be told before its turn */
async function checkPatch(
  context: SchemaContext,
  field: Field,
  { type = field.type, options }: Omit<FieldPatch, 'wireMeta'>,
): Promise<void> {
  await refuseUnknownFunction(context.store, { type, options: { ...field.options, ...options } })
  const link = linkOf(field)
  if (link) await requireViewOf(context, link.relatedTableId, options?.viewId as string | null | undefined)
}

/** How a field is written. */
interface FieldWriteOptions extends ChangeOptions {
  wireMeta?: FieldPatch['wireMeta']
  /** True for a person's own definition: what does not fit in a computed field is refused. */
  checked?: boolean
}

/**
 * Writes what `decide` makes of the field's definition at its turn. A definition that brings its own
 * `columnName` or cells (an undo) is taken as it is; otherwise values follow the change.
 */
export async function writeField(
  context: SchemaContext,
  actor: Actor,
  { id: fieldId, tableId, title }: Field,
  decide: (
    current: FieldDefinition,
    turn: FieldAtItsTurn,
  ) => FieldDefinition | FieldDecision | Promise<FieldDefinition | FieldDecision>,
  { wireMeta, checked = false, ...options }: FieldWriteOptions = {},
): Promise<Field> {
  const { store, apply, kernel, access } = context
  const { table } = await store.load(tableId)
  const written = await apply(
    actor,
    table.baseId,
    async (change) => {
      const model = await store.load(tableId)
      const field = getField(model, fieldId)
      const before = definitionOf(field)
      const turn: FieldAtItsTurn = {
        ...change,
        model,
        field,
        people: () => membersOf(access, table.baseId),
        values: (definition) => readableValues(context, model, change.engine.dialect, field, definition),
      }
      const decided = await decide(before, turn)
      const decision: FieldDecision = 'definition' in decided ? decided : { definition: decided }
      refuseChange(model, field, before, decision.definition)
      const { definition: after, cells } = await moveValues(turn, before, decision)
      if (numbersRecords(after) && after.columnName !== before.columnName)
        await change.tx.run(fillNumbers(change.engine.dialect, model, after))
      await keepUnique(change, model, before, after)
      const renamed = renamedChoices(before, after)
      const isSame = wireMeta === undefined && (cells?.count ?? 0) === 0 && Bun.deepEquals(before, after)
      const { fields } = store
      const { db } = kernel.meta
      const mirrors = before.required === after.required ? [] : mirrorsOf(model, field)
      // What has values of its own gives nothing beside them.
      const settled = fieldType(after.type).computed === undefined ? { result: null, error: null } : {}
      const isRead = !Bun.deepEquals([before.type, before.options], [after.type, after.options])
      return {
        statements: [
          db
            .update(fields)
            .set({ ...after, ...settled, ...(wireMeta !== undefined && { wireMeta }), updatedAt: change.now })
            .where(eq(fields.id, fieldId)),
          ...mirrors.map(({ id }) =>
            db.update(fields).set({ required: after.required }).where(eq(fields.id, id)),
          ),
          ...(renamed.size > 0 ? await context.views.forRenamedChoices(model, fieldId, renamed) : []),
          ...(decision.also?.statements ?? []),
        ],
        ...(isRead && {
          altered: {
            fields: [
              { ...field, ...after, ...settled, deletedAt: null },
              ...(decision.also?.parts.fields ?? []),
            ],
            tables: decision.also?.parts.tables ?? [],
            checked: checked ? [fieldId] : [],
          },
        }),
        entry: isSame ? null : { kind: 'field.update', tableId, detail: { fieldId, before, after } },
        ...(cells && { cells }),
        touchesRecords:
          after.columnName !== before.columnName ||
          (cells?.count ?? 0) > 0 ||
          (isRead && fieldType(after.type).computed !== undefined),
        tableIds: [...new Set([tableId, ...(decision.also?.tableIds ?? [])])],
        result: { ...field, ...after, ...settled },
      }
    },
    { ...options, work: { kind: 'convert', table, fieldTitle: title } },
  )
  return fieldType(written.type).computed ? ((await store.load(tableId)).field(fieldId) ?? written) : written
}

/** A link to a parent is required as its foreign key is (spec §5): the one follows the other. */
function mirrorsOf({ fields, field: find }: TableModel, field: Field): Field[] {
  if (isForeignKey(field)) {
    return fields.filter((other) => {
      const link = linkOf(other)
      return link?.holdsKey && link.keyFieldId === field.id
    })
  }
  const key = find(linkOf(field)?.keyFieldId ?? '')
  return key ? [key] : []
}

function refuseChange(
  model: TableModel,
  field: Field,
  before: FieldDefinition,
  after: FieldDefinition,
): void {
  const { table, fields } = model
  const others = fields.filter((other) => other.id !== field.id)
  if (after.title !== before.title && isTitleTaken(after.title, others)) {
    throw duplicateField(after.title, table.id, table.baseId)
  }
  // The title and the words about it are a person's to choose, even of the record id.
  if (field.isSystem) refuseSystemField(field, 'updated')
  if (field.isPrimaryKey && (after.type !== before.type || after.required || after.unique)) {
    refuseSystemField(field, 'updated')
  }
}

/** Values follow the definition: converted to another type, or renamed with their options. */
async function moveValues(
  turn: FieldAtItsTurn,
  before: FieldDefinition,
  decision: FieldDecision,
): Promise<FieldDecision> {
  const { definition: after } = decision
  if (decision.cells || after.columnName !== before.columnName) return decision
  if (after.type !== before.type) {
    refuseConversion(before, after)
    return areLinks(after.type) ? decision : convertColumn(turn, before, after)
  }
  const rewrite = choiceRewriter(before, after)
  if (!rewrite) return decision
  return { definition: after, cells: await rewriteCells(turn, rewrite) }
}

/** Makes or drops the index that keeps a field's values apart. */
async function keepUnique(
  { tx, engine }: ChangeContext,
  { table }: TableModel,
  before: FieldDefinition,
  after: FieldDefinition,
): Promise<void> {
  const hasMoved = after.columnName !== before.columnName
  if (!hasMoved && before.unique === after.unique) return
  const { dialect } = engine
  for (const statement of dialect.dropUniqueIndex(table.tableName, after.columnName)) await tx.run(statement)
  if (!after.unique) return
  const duplicates = await tx.all<{ value: CellValue; times: number }>(
    duplicatesStatement(engine, table.tableName, after.columnName),
  )
  if (duplicates.length > 0) throw hasDuplicates(after.title, duplicates)
  for (const statement of dialect.createUniqueIndex(table.tableName, after.columnName))
    await tx.run(statement)
}

function hasDuplicates(title: string, duplicates: { value: CellValue; times: number }[]): AppError {
  const named = duplicates.map(({ value, times }) => `"${String(value).slice(0, 60)}" (${times} times)`)
  return new AppError(
    'CONFLICT',
    `Field "${title}" can’t be unique because it contains ${named.join(', ')}. Change these records first.`,
    { duplicates },
  )
}

/**
 * Values of a field as `rewrite` makes them anew. Each record that changes is listed in the log with
 * its value before and after, so that undo and the record's history know it.
 */
async function rewriteCells(
  turn: FieldAtItsTurn,
  rewrite: (value: CellValue) => CellValue,
): Promise<CellsWrite> {
  let count = 0
  for await (const page of changedPages(turn, rewrite)) count += page.length
  return {
    count,
    async write(changeId) {
      // Each value, and its line in the log.
      currentWork()?.expect(changeId === null ? count : 2 * count, count)
      for await (const page of changedPages(turn, rewrite)) await writePage(turn, page, changeId)
    },
  }
}

interface ChangedValue extends ColumnValue {
  after: CellValue
}

async function* changedPages(
  { tx, engine, model, field }: FieldAtItsTurn,
  rewrite: (value: CellValue) => CellValue,
): AsyncGenerator<ChangedValue[]> {
  for await (const page of pagesOf(engine, model, field, (statement) => tx.all<ColumnValue>(statement))) {
    const changed = page
      .map(({ id, value }) => ({ id, value, after: rewrite(value) }))
      .filter(({ value, after }) => value !== after)
    if (changed.length > 0) yield changed
  }
}

async function writePage(
  { tx, engine: { dialect }, model, field }: FieldAtItsTurn,
  page: ChangedValue[],
  changeId: number | null,
): Promise<void> {
  const [table, column, key] = [
    model.table.tableName,
    columnNameOf(field),
    columnNameOf(model.primaryKey),
  ].map(dialect.quote)
  await tx.runMany(
    `update ${table} set ${column} = ${dialect.placeholder(0)} where ${key} = ${dialect.placeholder(1)}`,
    page.map(({ id, after }) => [after, id]),
  )
  if (changeId === null) return
  await logRecords(
    tx,
    dialect,
    changeId,
    page.map(({ id, value, after }) => ({
      tableId: model.table.id,
      recordId: id,
      before: { [field.id]: value },
      after: { [field.id]: after },
    })),
  )
}
