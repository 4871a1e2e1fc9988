import { eq } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import { AppError } from '../../src/core/errors.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import type { Field } from '../../src/core/model.ts'
import type { CellsWrite, ChangeContext, ChangeOptions } from './change.ts'
import { choiceRewriter, withKeptIds } from './choices.ts'
import { duplicatesStatement } from './column-values.ts'
import { openField, type SchemaContext } from './context.ts'
import { convertColumn } from './convert-column.ts'
import { definitionOf, type FieldDefinition, type FieldPatch, patchDefinition } from './definition.ts'
import { getField, refuseSystemField, type TableModel } from './model.ts'
import { duplicateField, isTitleTaken } from './names.ts'
import { rewriteCells } from './rewrite-cells.ts'

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
  { wireMeta, ...patch }: FieldPatch,
): Promise<Field> {
  const { field } = await openField(context, actor, 'field.update', fieldId)
  return writeField(
    context,
    actor,
    field,
    (current) => withKeptIds(current, patchDefinition(current, patch)),
    wireMeta === undefined ? {} : { wireMeta },
  )
}

/** How a field is written. */
interface FieldWriteOptions extends ChangeOptions {
  wireMeta?: FieldPatch['wireMeta']
}

/** What `decide` of `writeField` is given beside the definition. */
export interface FieldAtItsTurn extends ChangeContext {
  model: TableModel
  field: Field
}

/** How an undo writes: the new definition, and the cells that come back with it. */
export interface FieldDecision {
  definition: FieldDefinition
  cells?: CellsWrite
}

/**
 * Writes what `decide` makes of the field's definition at its turn. A definition that brings its own
 * `columnName` or cells (an undo) is taken as it is; otherwise values follow the change.
 */
export async function writeField(
  { store, apply, kernel }: SchemaContext,
  actor: Actor,
  { id: fieldId, tableId }: Field,
  decide: (
    current: FieldDefinition,
    turn: FieldAtItsTurn,
  ) => FieldDefinition | FieldDecision | Promise<FieldDefinition | FieldDecision>,
  { wireMeta, ...options }: FieldWriteOptions = {},
): Promise<Field> {
  const { table } = await store.load(tableId)
  return apply(
    actor,
    table.baseId,
    async (change) => {
      const model = await store.load(tableId)
      const field = getField(model, fieldId)
      const before = definitionOf(field)
      const decided = await decide(before, { ...change, model, field })
      const decision: FieldDecision = 'definition' in decided ? decided : { definition: decided }
      refuseChange(model, field, before, decision.definition)
      const { definition: after, cells } = await moveValues({ ...change, model, field }, before, decision)
      await keepUnique(change, model, before, after)
      const isSame = wireMeta === undefined && (cells?.count ?? 0) === 0 && Bun.deepEquals(before, after)
      const { fields } = store
      return {
        statements: [
          kernel.meta.db
            .update(fields)
            .set({ ...after, ...(wireMeta !== undefined && { wireMeta }), updatedAt: change.now })
            .where(eq(fields.id, fieldId)),
        ],
        entry: isSame ? null : { kind: 'field.update', tableId, detail: { fieldId, before, after } },
        ...(cells && { cells }),
        touchesRecords: after.columnName !== before.columnName || (cells?.count ?? 0) > 0,
        tableIds: [tableId],
        result: { ...field, ...after },
      }
    },
    options,
  )
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
    return convertColumn(turn, before, after)
  }
  const rewrite = choiceRewriter(before, after)
  if (!rewrite) return decision
  return { definition: after, cells: await rewriteCells(turn, rewrite) }
}

/** @throws NOT_IMPLEMENTED where one of the types has no values of its own to convert */
export function refuseConversion(
  before: Pick<FieldDefinition, 'type'>,
  after: Pick<FieldDefinition, 'type'>,
): void {
  for (const name of [before.type, after.type]) {
    const type = fieldType(name)
    if (!type.readOnly && !type.systemColumn && !type.internal) continue
    throw new AppError('NOT_IMPLEMENTED', `Updating ${before.type} => ${after.type} is not implemented`)
  }
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
    `Field "${title}" cannot be unique: it holds ${named.join(', ')}. Change these records first`,
    { duplicates },
  )
}
