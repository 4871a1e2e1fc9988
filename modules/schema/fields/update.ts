import { eq } from 'drizzle-orm'
import type { Actor } from '../../../src/core/actor.ts'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import { valuesOfButton } from '../../../src/core/fields/button.ts'
import type { ChoiceTitles } from '../../../src/core/fields/choice-titles.ts'
import { withChoices } from '../../../src/core/fields/choices.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { hasChoices, isForeignKey, numbersRecords } from '../../../src/core/fields/traits.ts'
import type { Field } from '../../../src/core/model.ts'
import { renamedText } from '../../../src/core/views/index.ts'
import { logRecords } from '../../../src/db/change-log/append.ts'
import {
  type ColumnValue,
  columnNameOf,
  duplicatesStatement,
  pagesOf,
} from '../../../src/db/column-values.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import { m } from '../../../src/messages.gen.ts'
import { currentWork } from '../../../src/works.ts'
import {
  type CellsWrite,
  type ChangeContext,
  type ChangeOptions,
  type FrozenAt,
  HOOK_CHOICES,
  openField,
  refuseForeignPatch,
  type SchemaContext,
  withoutRewrite,
} from '../change/index.ts'
import { refuseUnknownFunction } from '../computed/index.ts'
import { refuseKeyRules, requireViewOf } from '../links/index.ts'
import {
  areLinks,
  choiceRewriter,
  choicesOf,
  choiceTitles,
  definitionOf,
  duplicateField,
  type FieldDefinition,
  type FieldPatch,
  getField,
  isTitleTaken,
  patchDefinition,
  refuseSystemField,
  type TableModel,
} from '../model/index.ts'
import { fillNumbers } from './auto-numbers.ts'
import {
  type FieldChangeContext,
  type FieldDecision,
  loggedMeta,
  membersOf,
  refuseConversion,
} from './conversion.ts'
import { convertColumn } from './convert-column.ts'
import { becomesLink, convertToLink } from './convert-to-link.ts'
import { storableFormula } from './formula-input.ts'
import { readableValues } from './frozen-values.ts'

/**
 * Updates a field. Renaming a select option renames its values, removing one empties its cells. A new type converts the
 * values into a new column; the old one stays for undo. `required` applies to later writes only, so existing records may
 * be empty.
 *
 * @throws FIELD_NOT_FOUND; DUPLICATE_ALIAS; BAD_REQUEST for an invalid definition; CONFLICT naming duplicate values of a
 *   field that should become unique
 */
export async function updateField(
  context: SchemaContext,
  actor: Actor,
  fieldId: string,
  { wireMeta, ...input }: FieldPatch,
  timeZone?: string,
): Promise<Field> {
  const { field, model } = await openField(context, actor, 'field.update', fieldId)
  const { type = field.type } = input
  const options = await storableFormula(context, model, { type, options: input.options, field })
  const patch = { ...input, ...(options && { options }) }
  await refuseForeignPatch(context, field, patch)
  if (becomesLink(field, patch.type))
    return convertToLink(context, actor, field, { ...patch, wireMeta }, { timeZone })
  refuseKeyRules(model, field, patch)
  await checkPatch(context, field, patch)
  return writeField(
    context,
    actor,
    field,
    (current) => {
      const definition = patchDefinition(current, patch)
      return field.databaseType === null ? definition : withoutRewrite(definition)
    },
    { checked: true, timeZone, ...(wireMeta !== undefined && { wireMeta }) },
  )
}

/**
 * Adds options to a select field; those that it has already are left out.
 *
 * @throws FIELD_NOT_FOUND; BAD_REQUEST for a field without options, or a title that its type does not allow
 */
export async function addChoices(
  context: SchemaContext,
  actor: Actor,
  fieldId: string,
  titles: readonly string[],
): Promise<Field> {
  const { field } = await openField(context, actor, 'field.update', fieldId)
  const patched = (current: Pick<Field, 'type' | 'options'>) => {
    if (!hasChoices(current))
      throw badRequest(m.schema_error_no_choices({ type: fieldType(current.type).label() }))
    return { options: { ...current.options, choices: withChoices(choicesOf(current), titles) } }
  }
  await refuseForeignPatch(context, field, patched(field))
  return writeField(context, actor, field, (current) => patchDefinition(current, patched(current)), {
    checked: true,
  })
}

/** Checks the options of a computed field that do not depend on its current definition. @throws BAD_REQUEST */
async function checkPatch(
  context: SchemaContext,
  field: Field,
  { type = field.type, options }: Omit<FieldPatch, 'wireMeta'>,
): Promise<void> {
  await refuseUnknownFunction(context.store, { type, options: { ...field.options, ...options } })
  const link = linkOf(field)
  if (link) await requireViewOf(context, link.relatedTableId, options?.viewId as string | null | undefined)
}

interface FieldWriteOptions extends ChangeOptions {
  wireMeta?: FieldPatch['wireMeta']
  /** True for a user's own definition: problems in a computed field are refused. */
  checked?: boolean
  /** The zone in which days and times are converted, and formulas computed; by default UTC. */
  timeZone?: string | undefined
}

/**
 * Writes the definition that `decide` returns for the current one. Cell values are converted, unless the decision has
 * its own `columnName` or cells (undo).
 */
export async function writeField(
  context: SchemaContext,
  actor: Actor,
  { id: fieldId, tableId, title }: Field,
  decide: (
    current: FieldDefinition,
    change: FieldChangeContext,
  ) => FieldDefinition | FieldDecision | Promise<FieldDefinition | FieldDecision>,
  { wireMeta, checked = false, timeZone, ...options }: FieldWriteOptions = {},
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
      const now: FrozenAt = { now: change.now, timeZone }
      const fieldChange: FieldChangeContext = {
        ...change,
        model,
        field,
        people: () => membersOf(access, table.baseId),
        values: (definition, at = now) =>
          readableValues(context, model, change.engine.dialect, field, definition, at),
      }
      const decided = await decide(before, fieldChange)
      const decision: FieldDecision = 'definition' in decided ? decided : { definition: decided }
      refuseChange(model, field, before, decision.definition)
      const { definition: after, cells } = await convertValues(fieldChange, before, decision)
      if (numbersRecords(after) && after.columnName !== before.columnName)
        await change.tx.run(fillNumbers(change.engine.dialect, model, after))
      await updateUniqueIndex(change, model, before, after)
      const titles = choiceTitles(before, after)
      const isSame = wireMeta === undefined && (cells?.count ?? 0) === 0 && Bun.deepEquals(before, after)
      const { fields } = store
      const { db } = kernel.meta
      const counterparts = before.required === after.required ? [] : counterpartsOf(model, field)
      // A stored field has neither a result nor an error.
      const cleared = fieldType(after.type).computed === undefined ? { result: null, error: null } : {}
      const affectsOthers = !Bun.deepEquals([before.type, before.options], [after.type, after.options])
      return {
        statements: [
          db
            .update(fields)
            .set({ ...after, ...cleared, ...(wireMeta !== undefined && { wireMeta }), updatedAt: change.now })
            .where(eq(fields.id, fieldId)),
          ...counterparts.map(({ id }) =>
            db.update(fields).set({ required: after.required }).where(eq(fields.id, id)),
          ),
          ...(titles ? await forRenamedChoices(context, model, fieldId, titles) : []),
          ...(decision.also?.statements ?? []),
        ],
        ...(titles && { late: () => kernel.registry.get(HOOK_CHOICES)(tableId, fieldId, titles) }),
        ...(affectsOthers && {
          altered: {
            fields: [
              { ...field, ...after, ...cleared, deletedAt: null },
              ...(decision.also?.parts.fields ?? []),
            ],
            tables: decision.also?.parts.tables ?? [],
            checked: checked ? [fieldId] : [],
          },
        }),
        entry: isSame
          ? null
          : {
              kind: 'field.update',
              tableId,
              detail: {
                fieldId,
                before,
                after,
                ...(after.type !== before.type && { frozenAt: now }),
                ...loggedMeta(model, fieldId, wireMeta),
              },
            },
        ...(cells && { cells }),
        touchesRecords:
          after.columnName !== before.columnName ||
          (cells?.count ?? 0) > 0 ||
          (affectsOthers && fieldType(after.type).computed !== undefined),
        tableIds: [...new Set([tableId, ...(decision.also?.tableIds ?? [])])],
        result: { ...field, ...after, ...cleared },
      }
    },
    { ...options, work: { kind: 'convert', table, fieldTitle: title } },
  )
  return fieldType(written.type).computed ? ((await store.load(tableId)).field(fieldId) ?? written) : written
}

/** The statements that carry renamed options into views and the values that buttons write. */
async function forRenamedChoices(
  { kernel, store, views }: SchemaContext,
  model: TableModel,
  fieldId: string,
  titles: ChoiceTitles,
): Promise<MetaStatement[]> {
  // Buttons in the trash come back with the values that they have here.
  const buttons = (await store.listFields(model.table.id)).flatMap((button) => {
    const values = valuesOfButton(button)
    const before = values[fieldId] ?? null
    const after = renamedText(before, titles)
    if (after === before) return []
    const options = { ...button.options, values: { ...values, [fieldId]: after } }
    return [kernel.meta.db.update(store.fields).set({ options }).where(eq(store.fields.id, button.id))]
  })
  return [...(await views.forRenamedChoices(model, fieldId, titles)), ...buttons]
}

/** The link of a foreign key, or the foreign key of a link: both always have the same `required` (spec §5). */
function counterpartsOf({ fields, field: find }: TableModel, field: Field): Field[] {
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
  // Title and description can be changed even for the record id.
  if (field.isSystem) refuseSystemField(field, 'updated')
  if (field.isPrimaryKey && (after.type !== before.type || after.required || after.unique)) {
    refuseSystemField(field, 'updated')
  }
}

/** Converts the values to a new type, or renames them with their options. */
async function convertValues(
  change: FieldChangeContext,
  before: FieldDefinition,
  decision: FieldDecision,
): Promise<FieldDecision> {
  const { definition: after } = decision
  if (decision.cells || after.columnName !== before.columnName) return decision
  if (after.type !== before.type) {
    refuseConversion(before, after)
    return areLinks(after.type) ? decision : convertColumn(change, before, after)
  }
  const rewrite = choiceRewriter(before, after)
  if (!rewrite) return decision
  return { definition: after, cells: await rewriteCells(change, rewrite) }
}

/** Creates or drops the unique index of a field. */
async function updateUniqueIndex(
  { tx, engine }: ChangeContext,
  { table }: TableModel,
  before: FieldDefinition,
  after: FieldDefinition,
): Promise<void> {
  if (after.columnName === before.columnName && before.unique === after.unique) return
  const { dialect } = engine
  for (const statement of dialect.dropUniqueIndex(table.tableName, after.columnName)) await tx.run(statement)
  if (!after.unique) return
  const duplicates = await tx.all<{ value: CellValue; times: number }>(
    duplicatesStatement(engine, table.tableName, after.columnName),
  )
  if (duplicates.length > 0) throw hasDuplicates(after.title, duplicates)
  for (const statement of dialect.createUniqueIndex(table.tableName, [after.columnName]))
    await tx.run(statement)
}

function hasDuplicates(title: string, duplicates: { value: CellValue; times: number }[]): AppError {
  const named = duplicates.map(({ value, times }) => `"${String(value).slice(0, 60)}" (${times} times)`)
  return new AppError('CONFLICT', m.schema_error_duplicates({ field: title, values: named.join(', ') }), {
    duplicates,
  })
}

/** Applies `rewrite` to the values of a field. Each changed record is logged with its value before and after. */
export async function rewriteCells(
  change: FieldChangeContext,
  rewrite: (value: CellValue) => CellValue,
): Promise<CellsWrite> {
  let count = 0
  for await (const page of changedPages(change, rewrite)) count += page.length
  return {
    count,
    async write(changeId) {
      // Each value is written, and logged unless the change has no log entry.
      currentWork()?.expect(changeId === null ? count : 2 * count, count)
      for await (const page of changedPages(change, rewrite)) await writePage(change, page, changeId)
    },
  }
}

interface ChangedValue extends ColumnValue {
  after: CellValue
}

async function* changedPages(
  { tx, engine, model, field }: FieldChangeContext,
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
  { tx, engine: { dialect }, model, field }: FieldChangeContext,
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
